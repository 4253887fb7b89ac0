"""How good an adapter is: suites of items as files, and what an adapter scores on them.

What follows from the scores is decided in `engine.adapters.gate`. This package imports nothing of ours but the engine.
"""
