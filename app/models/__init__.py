"""Bases on this machine and from the hub: what fits, what is here already, and how one becomes a profile."""
