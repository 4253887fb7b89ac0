"""Tools as the harness sees them: what they are, what they reach, and how they are run. Holds no tool itself."""
