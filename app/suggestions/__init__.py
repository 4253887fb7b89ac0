"""What the agent suggests by itself, as faces and scripts have it: in a host, without one, and over HTTP."""
