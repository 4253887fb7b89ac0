"""Specifications of the four packages, in folders that mirror them; `support/` holds what they share."""
