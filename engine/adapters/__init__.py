"""LoRA adapters: read from PEFT, written for llama.cpp, imported, and catalogued. Knows no runtime."""
