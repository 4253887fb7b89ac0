"""The user's calendar and reminders, kept on this machine."""
