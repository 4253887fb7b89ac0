"""The memories of a home: with and without a host, for people and for scripts."""
