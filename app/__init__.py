"""The program: joins engine, faces and training, and meets the computer."""

__version__ = "0.1.0"
