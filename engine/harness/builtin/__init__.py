"""Tools that come with the program: files in granted folders, dates and reminders, notes, web search and web fetch.

Each toolbox is built from values and stores, reads no settings, and decides nothing about permission.
"""
