"""The host: one agent, one engine and one database behind HTTP on loopback, for all faces and for other programs."""
