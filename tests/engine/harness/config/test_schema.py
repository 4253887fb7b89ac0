"""The exported JSON Schemas: current, valid, and what they describe is what is taken."""

import json
import tomllib

import pytest
from pydantic import ValidationError

from engine.assets import asset_path
from engine.harness.config.model import FolderTable, HomeTable
from engine.harness.config.schema import schema_files


@pytest.mark.parametrize("name", schema_files())
def test_the_committed_schema_is_that_of_the_code(name):
    committed = asset_path("harness", name).read_text(encoding="utf-8")
    assert committed == schema_files()[name], (
        "Write it anew with `python -m tests.engine.harness.config.write_schemas`."
    )


def test_no_other_file_lies_beside_the_schemas():
    assert {path.name for path in asset_path("harness").iterdir()} == set(schema_files())


@pytest.mark.parametrize("name", schema_files())
def test_every_table_of_a_schema_forbids_unknown_keys(name):
    schema = json.loads(schema_files()[name])
    tables = [schema, *schema["$defs"].values()]
    assert len(tables) > 3
    assert all(table.get("additionalProperties") is False for table in tables)


def test_keys_are_described():
    budgets = json.loads(schema_files()["home-harness-toml.schema.json"])["$defs"]["Budgets"]["properties"]
    assert budgets["result_tokens"]["description"] == "What of one tool's result the model reads."


def test_the_schema_has_the_usual_name_for_servers():
    for name in schema_files():
        assert "mcpServers" in json.loads(schema_files()[name])["properties"]


@pytest.mark.parametrize("model", [HomeTable, FolderTable])
def test_neither_table_takes_what_only_folders_of_files_hold(model):
    with pytest.raises(ValidationError, match="skills"):
        model.model_validate(tomllib.loads('[[skills]]\nname = "a"\n'))
