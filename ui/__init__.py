"""Faces of the same events: they pull a turn's events, draw them, and hand back a stop. They hold no state of truth."""
