"""Jobs: what is to happen at which times, and what did happen. Decides and keeps; runs nothing itself."""
