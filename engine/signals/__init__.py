"""Evidence about how good an answer was, as the user gave it: what it is, how it is recognised, and what may teach."""
