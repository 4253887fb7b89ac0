"""Profiles, the choice of an expert, and each expert's own view of a conversation. Pure where it decides."""
