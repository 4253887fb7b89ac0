"""Runs: a training recipe executed in a folder of its own, step by step, so that it can be killed and goes on.

`recipe`, `folder`, `metrics` and `events` are the light half, which programs that only start and watch runs may import;
everything else loads torch.
"""
