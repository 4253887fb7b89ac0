"""The interview of the first day: in a host, without one, over HTTP, and as `macaron memory interview`."""
