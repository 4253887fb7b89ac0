"""What the agent may suggest by itself, seldom and with its reason: a job, a reminder, a memory to confirm, a break."""
