"""A ChatGPT data export as conversations of ours: its files, its trees of messages, and the import of both.

The format is not documented by its maker and changes; it was read from exports and from what others found. What a
message lacks is done without, what is not known is left out and counted, and a conversation that makes no sense is
refused by itself. Everything comes in as `imported`: none of it was typed here.
"""
