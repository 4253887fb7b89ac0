"""Forgetting: what holds a turn, a conversation or a memory outside the store, and the order in which it all goes."""
