"""How good adapters are, on this machine: suites are run, the gate is asked, and what it said is kept.

Runs an engine of its own and never opens the store for longer than a call, so that it works beside a host.
"""
