"""Runs: a training recipe executed in a folder of its own, step by step, so that it can be killed and goes on.

Modules that say `Light: no torch` may be imported by programs that only start and watch runs; the others load torch.
"""
