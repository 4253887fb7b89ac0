"""Web search through an address of the user's own, and fetching of pages, which is off unless it is enabled."""
