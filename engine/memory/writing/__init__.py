"""From what a user typed to memories: what they say for themselves, what of it is worth keeping, what is refused."""
