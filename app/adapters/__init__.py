"""The adapters of a home: brought in, listed, compared, put in use, taken back, handed out, removed."""
