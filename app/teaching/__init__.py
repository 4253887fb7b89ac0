"""`macaron teach`: a lesson from corrections, learned and tested in minutes, in use only where the gate passes it.

A lesson is a folder. The process that works on it has its own engine and never opens the store for longer than a call.
"""
