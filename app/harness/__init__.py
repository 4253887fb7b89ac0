"""The harness configuration on this machine: files read, folders trusted, programs copied. Understands no format."""
