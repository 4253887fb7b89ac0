"""The chat in a terminal, on Textual."""
