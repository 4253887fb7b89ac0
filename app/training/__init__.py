"""Runs as the program sees them: started as a process of their own, watched, asked to wait or end, listed, reported.

Knows the light half of `local_training` only: torch lives in the trainer's process.
"""
