"""What programs ask is off the record."""

import sqlite3

import numpy as np


def rows(paths):
    """Rows per table of the database, those of the schema's own version aside."""
    with sqlite3.connect(f"file:{paths.database}?mode=ro", uri=True) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}


def test_no_table_has_a_row_more_after_all_that_can_be_asked(api, client):
    before = rows(api.service.paths)
    question = [{"role": "user", "content": "Remember that my password is xyzzy."}]
    client.chat.completions.create(model="macaron", messages=question, max_tokens=8)
    for _ in client.chat.completions.create(model="macaron", messages=question, max_tokens=8, stream=True):
        pass
    answer = {"role": "assistant", "content": "I shall."}
    better = [*question, answer, {"role": "user", "content": "better: xyzzy, of course."}]
    client.chat.completions.create(model="macaron", messages=better, max_tokens=8)
    first = client.responses.create(model="macaron", input="My password is xyzzy.", max_output_tokens=8)
    client.responses.create(model="macaron", input="Go on.", previous_response_id=first.id, max_output_tokens=8)
    assert np.any(client.embeddings.create(model="macaron", input="xyzzy").data[0].embedding)
    assert rows(api.service.paths) == before
    assert before["turns"] == before["conversations"] == before["traces"] == before["signals"] == 0


def test_no_word_of_it_is_in_any_file_of_the_home(api, client):
    client.responses.create(model="macaron", input="The word is Xylophonquartett.", max_output_tokens=8)
    files = [path for path in api.service.paths.home.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"Xylophonquartett" not in path.read_bytes(), path
