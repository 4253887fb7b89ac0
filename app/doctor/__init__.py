"""`macaron doctor`: is everything there, where is it computed and why, how fast; and what to do where not."""
