"""What stands for the turns of a long conversation that its views do not read any more: written, merged, verified."""
