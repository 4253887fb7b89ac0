"""Write the JSON Schemas of the configuration anew: `python -m tests.engine.harness.config.write_schemas`."""

from pathlib import Path

from engine.harness.config.schema import schema_files

FOLDER = Path(__file__).parents[4] / "assets" / "harness"

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
