"""`macaron doctor`: is everything there, where is it computed and why, how fast; and what to do where not."""

from app.doctor.check import Check
from app.doctor.run import run_doctor

__all__ = ["Check", "run_doctor"]
