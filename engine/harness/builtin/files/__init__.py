"""Files in folders that the user has granted, and nothing outside them."""
