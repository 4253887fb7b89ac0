"""Backups of a home: one archive with everything but models and secrets, made while work goes on and put back whole."""

from app.backup.making import run_backup
from app.backup.restoring import run_restore
from app.backup.verifying import run_verify

__all__ = ["run_backup", "run_restore", "run_verify"]
