"""Requests and the experts shown beside each other, made up from phrases, from which a router learns to read sections.

Builds no prompt of its own: what a line says is what `engine.router_model` reads while serving. Light: no torch.
"""
