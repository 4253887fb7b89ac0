"""Whatever runs the model. The only importer of llama_cpp."""
