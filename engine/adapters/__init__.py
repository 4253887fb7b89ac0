"""LoRA adapters as files: read from PEFT, written for llama.cpp, read back, imported. Numpy only; loads nothing."""
