"""What is remembered of the user across conversations: written from what they typed, verified, ranked and recalled."""
