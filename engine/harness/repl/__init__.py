"""Python that a model runs: a lasting namespace in the sandbox, tools as functions in it, functions kept as tools."""
