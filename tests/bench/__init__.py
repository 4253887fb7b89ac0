"""Benchmarks: measured claims, run by hand as `python -m tests.bench.NAME [--json] [--quick] [--seed N]`.

Not collected by pytest. All of them report through `tests.bench.report`.
"""
