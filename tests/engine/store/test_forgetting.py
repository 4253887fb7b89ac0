"""What is forgotten is in no table, no index, no page of the file and no token ids; the rest is as it was."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import engine.store.forgetting as forgetting
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import Source
from engine.errors import BadText, ConversationBusy, UnknownName, UsageProblem
from engine.forgetting import MARK, Wanted
from engine.memory.keeping import KeptMemories, Spoken
from engine.memory.turning import TurnMemory
from engine.memory.values import Draft
from engine.signals.keeping import KeptSignals
from engine.store import Store
from engine.store.forgetting import Done, ForgettingStore, Step
from engine.store.notes import NoteStore
from engine.store.suggestions import SuggestionStore
from engine.suggestions.values import About, Candidate
from engine.values import Answer, Attachment, CallRecord, Route
from tests.engine.adapters.catalogued import named
from tests.support.remnants import columns_with_tokens, files_with, files_with_tokens, tables
from tests.support.talking import Talk, open_talk

SPAN = "Rosenweg 7"
SAID = f"I live at {SPAN}, third floor."
REPEATED = f"Third floor of {SPAN}: noted."
NOW = datetime(2126, 11, 30, 12, tzinfo=UTC)
"""Later than any turn here, so that a memory read then may have been read into each of them."""
GOES_ON = " And this goes on for a while."


def forgetter(store: Store) -> ForgettingStore:
    return ForgettingStore(store.database, store.mender)


def forget(store: Store, wanted: Wanted) -> Done:
    """All of it, the pages included."""
    one = forgetter(store)
    done = one.forget(wanted, [])
    assert one.scrub()
    return done


def counts(done: Done) -> dict[str, int]:
    return {place.kind: place.count for place in done.places}


def left(folder: Path, *words: str) -> list[str]:
    """Where words, or the token ids of the scripted runtime for them, are still found. The store must be closed."""
    tokens = [tuple(100 + ord(sign) for sign in word) for word in words]
    return [
        *files_with(folder, *words),
        *(name for one in tokens for name in files_with_tokens(folder, one)),
        *(name for one in tokens for name in columns_with_tokens(folder / "macaron.db", one)),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def talked(talk: Talk) -> list[str]:
    """A conversation in which one turn says the span, seen by two experts, summed up, corrected and gone on from."""
    first = talk.say("Good morning.", "L0", answer="Good morning to you.")
    second = talk.say(SAID, "L1", answer=REPEATED + GOES_ON)
    talk.runtime.will_say(f"They live at {SPAN}.")
    third = talk.say("Thanks.", "L2", answer="You are welcome.")
    fourth = talk.say("Where do I live?", "L1", answer="At rosenweg  7.")
    KeptSignals(talk.store.database).correct(second.turn_id, f"{SPAN}, third floor.")
    talk.store.rate(second.turn_id, 1)
    return [turn.turn_id for turn in (first, second, third, fourth)]


# The map


def placed() -> set[tuple[str, str]]:
    """(table, column) of all that the module says of the schema; `*` stands for all columns."""
    found = set()
    for line in (forgetting.__doc__ or "").splitlines():
        if not line.startswith("    ") or line.startswith("     "):
            continue
        for table, listed in re.findall(r"(\w+)\.((?:\*|\w+)(?:, (?!\w+\.)(?:\*|\w+))*)", line):
            found |= {(table, name) for name in listed.split(", ")}
    return found


def test_every_column_of_the_schema_has_its_place_or_is_known_to_say_nothing(store: Store):
    known = placed()
    with store.database.reading() as connection:
        shadows = re.compile(r"(messages|memories)_fts_\w+")
        schema = {
            (table, row[1])
            for table in tables(connection)
            if not shadows.fullmatch(table)
            for row in connection.execute(f'PRAGMA table_info("{table}")')
        }
    missing = {(table, name) for table, name in schema if not {(table, name), (table, "*")} & known}
    assert missing == set()
    names = {table for table, _ in schema}
    assert {table for table, _ in known} - names == set(), "what is said of tables that are no more"
    assert {(table, name) for table, name in known if name != "*"} - schema == set()


# Words of a turn


def test_G5_words_of_a_turn_are_in_no_table_no_index_no_page_and_no_token_ids(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
    assert left(folder, SPAN), "otherwise nothing would be shown"
    with open_talk(folder) as talk:
        done = forget(talk.store, Wanted(turn_ids[1], SPAN))
        assert [talk.store.turn(turn_id).user_text for turn_id in turn_ids] == [
            "Good morning.",
            f"I live at {MARK}, third floor.",
            "Thanks.",
            "Where do I live?",
        ]
        assert talk.store.turn(turn_ids[1]).answer_text == f"Third floor of {MARK}: noted.{GOES_ON}"
        assert talk.store.turn(turn_ids[3]).answer_text == f"At {MARK}."
        assert talk.store.search("Rosenweg") == ()
        assert {hit.turn_id for hit in talk.store.search("third floor")} == {turn_ids[1]}
        assert talk.store.integrity() == "ok"
    assert left(folder, SPAN, "rosenweg  7", "rosenweg") == []
    assert counts(done) | {"segments": 0, "traces": 0, "views": 0} == {
        "messages": 3,
        "summaries": 1,
        "signals": 1,
        "segments": 0,
        "traces": 0,
        "views": 0,
    }
    assert done.touched == {turn_ids[1], turn_ids[3]}


def test_thumbs_stay_where_only_words_go(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        forget(talk.store, Wanted(turn_ids[1], SPAN))
        assert talk.store.turn(turn_ids[1]).rating == 1
        assert KeptSignals(talk.store.database).corrections() == ()


def test_views_begin_a_new_epoch_because_of_it_and_read_the_mark(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        before = talk.store.latest_epoch(talk.conversation_id or "", "L1", turn_ids)
        forget(talk.store, Wanted(turn_ids[1], SPAN))
        after = talk.say("And now?", "L1")
        epoch = talk.store.latest_epoch(talk.conversation_id or "", "L1", [*turn_ids, after.turn_id])
        assert before is not None and epoch is not None
        assert (epoch.reason, epoch.number) == ("forgotten", before.number + 1)
        read = talk.read(after)
        assert f"I live at {MARK}, third floor." in read and "osenweg" not in read
        again = talk.say("Go on.", "L1")
        assert talk.trace(again).prompt[: len(talk.left(after))] == talk.left(after), "and go on as before"


def test_what_was_read_before_the_words_were_said_stays(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        forget(talk.store, Wanted(turn_ids[1], SPAN))
        assert talk.store.traces(turn_ids[0]) != ()
        assert [talk.store.traces(turn_id) for turn_id in turn_ids[1:]] == [(), (), ()]


def test_another_branch_is_read_anew_but_keeps_its_records(folder: Path):
    with open_talk(folder) as talk:
        first = talk.say("Good morning.", "L0")
        side = talk.say("Tell me a joke.", "L0", parent=first.turn_id, answer="A horse walks into a bar.")
        said = talk.say(SAID, "L0", parent=first.turn_id, answer=REPEATED)
        forget(talk.store, Wanted(said.turn_id, SPAN))
        assert talk.store.traces(side.turn_id) != ()
        assert talk.turn(side).answer_text == "A horse walks into a bar."


def test_words_that_nobody_said_there_are_refused(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        with pytest.raises(UsageProblem, match="Nothing there says that"):
            forgetter(talk.store).forget(Wanted(turn_ids[1], "Lilienweg 9"), [])
        assert talk.store.turn(turn_ids[1]).user_text == SAID
        assert forgetter(talk.store).steps() == ()


# Whole turns


def test_G5_a_turn_goes_as_a_whole_and_keeps_its_place(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
    with open_talk(folder) as talk:
        forget(talk.store, Wanted(turn_ids[1]))
        gone = talk.store.turn(turn_ids[1])
        assert (gone.user_text, gone.answer_text, gone.rating, gone.state) == (MARK, MARK, 0, "answered")
        assert [turn.turn_id for turn in talk.store.path(turn_ids[3])] == turn_ids
        assert talk.store.search("third") == ()
        after = talk.say("Go on.", "L1")
        assert MARK not in talk.read(after), "an expert does not read what is not there"
        assert talk.store.integrity() == "ok"
    assert left(folder, SAID, REPEATED, "hird floor") == []


def test_a_message_that_was_answered_once_more_goes_with_it(folder: Path):
    with open_talk(folder) as talk:
        said = talk.say(SAID, "L0", answer=REPEATED)
        other = talk.regenerate(said.turn_id)
        edited = talk.edit(said.turn_id, "I live somewhere.")
        forget(talk.store, Wanted(said.turn_id))
        assert [talk.turn(one).user_text for one in (said, other, edited)] == [MARK, MARK, "I live somewhere."]
        assert talk.store.conversation(said.conversation_id).title == MARK
    assert left(folder, SAID, SPAN) == []


def test_files_go_with_the_turn_also_from_the_message_that_took_its_place(folder: Path):
    secret = "The password of the safe is Quastenflosser."
    with open_talk(folder) as talk:
        said = talk.say("Read this.", "L0", attachments=[Attachment("safe.txt", secret)])
        edited = talk.edit(said.turn_id, "Read it again.")
        assert talk.turn(edited).attachments != ()
        forget(talk.store, Wanted(said.turn_id))
        assert talk.turn(said).attachments == () == talk.turn(edited).attachments
        assert talk.turn(edited).user_text == "Read it again."
        assert talk.store.search("safe") == ()
    assert left(folder, secret, "quastenflosser") == []


def test_tool_calls_keep_their_names_and_nothing_else(store: Store, database_path: Path):
    turn = store.open_turn("Note it.", conversation_id=None, parent_turn_id=None, profile="starter")
    store.open_call(turn.turn_id, CallRecord(1, "add_note", "builtin", '{"text": "Rosenweg\\u0020\\u0037"}', "waiting"))
    store.run_call(turn.turn_id, 1)
    store.close_call(turn.turn_id, 1, "done", f"Noted: {SPAN}.")
    store.close_turn(Answer(turn.turn_id, "answered", "Done.", Route("L1", "best")))
    forget(store, Wanted(turn.turn_id, SPAN))
    (call,) = store.turn(turn.turn_id).calls
    assert (call.arguments, call.result) == (f'{{"text": "{MARK}"}}', f"Noted: {MARK}.")
    forget(store, Wanted(turn.turn_id))
    (call,) = store.turn(turn.turn_id).calls
    assert (call.tool, call.arguments, call.result, call.state) == ("add_note", "{}", MARK, "done")


def test_what_a_job_told_goes_with_the_turn_that_it_asked(store: Store, say, database_path: Path):
    asked, other = say("Every morning."), say("Every evening.")
    with store.database.transaction() as connection:
        connection.execute(
            "INSERT INTO jobs (request, title, kind, text, expert, schedule_kind, schedule, zone, begins_at, missed,"
            " missed_most, is_enabled, created_by, created_at, planned_from_at)"
            " VALUES ('r', 't', 'prompt', 'Ask.', '', 'cron', '', '', '', 'skip', 1, 1, 'typed', '', '')"
        )
        connection.executemany(
            "INSERT INTO job_runs (job_id, planned_at, outcome, text, conversation_id) VALUES (1, '', 'done', ?, ?)",
            [(f"At {SPAN}.", asked.conversation_id), ("Told.", other.conversation_id)],
        )
    done = forget(store, Wanted(asked.turn_id))
    with store.database.reading() as connection:
        told = [text for (text,) in connection.execute("SELECT text FROM job_runs ORDER BY run_id")]
    assert told == [MARK, "Told."] and counts(done)["job_runs"] == 1
    store.close()
    assert files_with(database_path.parent, SPAN) == []


def test_a_title_that_holds_a_part_of_the_words_is_made_anew(store: Store):
    words = "please remember that my very secret address is Rosenweg 7, third floor"
    turn = store.open_turn(f"Well, {words}.", conversation_id=None, parent_turn_id=None, profile="starter")
    store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None))
    assert "secret" in store.conversation(turn.conversation_id).title
    done = forget(store, Wanted(turn.turn_id, words))
    assert store.conversation(turn.conversation_id).title == f"Well, {MARK}."
    assert counts(done)["titles"] == 1


def test_a_title_of_the_users_own_stays_when_a_turn_goes(store: Store, say):
    turn = say(SAID)
    store.rename(turn.conversation_id, "Addresses")
    forget(store, Wanted(turn.turn_id))
    assert store.conversation(turn.conversation_id).title == "Addresses"


def test_G5_a_conversation_goes_as_a_whole(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        conversation_id = talk.conversation_id or ""
        talk.store.rename(conversation_id, SPAN)
        forget(talk.store, Wanted(conversation_id))
        assert [turn.user_text for turn in talk.store.tree(conversation_id)] == [MARK] * 4
        assert talk.store.conversation(conversation_id).title == MARK
        assert [talk.store.traces(turn_id) for turn_id in turn_ids] == [()] * 4
    assert left(folder, SPAN, "Good morning", "You are welcome") == []


def test_what_is_left_of_an_imported_conversation_keeps_the_next_import_from_bringing_it_back(store: Store, say):
    copy = store.copy_of(say(SAID).conversation_id)
    imported = store.merge_copy(copy)
    forget(store, Wanted(imported.conversation_id))
    again = store.merge_copy(copy)
    assert (again.conversation_id, again.added, again.differing) == (imported.conversation_id, 0, 1)
    (turn,) = store.tree(imported.conversation_id)
    assert turn.user_text == MARK


def test_what_was_forgotten_is_forgotten_again_without_a_change(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        forget(talk.store, Wanted(turn_ids[1]))
        before = talk.store.tree(talk.conversation_id or "")
        again = forget(talk.store, Wanted(turn_ids[1]))
        assert again.places == ()
        assert talk.store.tree(talk.conversation_id or "") == before


def test_a_short_message_is_not_looked_for_elsewhere(folder: Path):
    with open_talk(folder) as talk:
        one = talk.say("Hi.", "L0", answer="Hello.")
        two = talk.say("Hi.", "L0", answer="Hi.")
        forget(talk.store, Wanted(one.turn_id))
        assert (talk.turn(two).user_text, talk.turn(two).answer_text) == ("Hi.", "Hi.")


# What is looked at, and what is refused


def test_a_preview_says_what_would_go_and_changes_nothing(folder: Path):
    with open_talk(folder) as talk:
        turn_ids = talked(talk)
        before = talk.store.tree(talk.conversation_id or "")
        looked = forgetter(talk.store).preview(Wanted(turn_ids[1]))
        assert talk.store.tree(talk.conversation_id or "") == before
        assert talk.store.traces(turn_ids[1]) != () and forgetter(talk.store).steps() == ()
        assert forget(talk.store, Wanted(turn_ids[1])).places == looked.places


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        pytest.param(Wanted("t-none"), UnknownName, id="no such turn"),
        pytest.param(Wanted(memory_id=7), UnknownName, id="no such memory"),
        pytest.param(Wanted("t-none", "a"), BadText, id="one letter"),
        pytest.param(Wanted(), UsageProblem, id="nothing"),
        pytest.param(Wanted(span="words"), UsageProblem, id="words of nothing"),
        pytest.param(Wanted("t-none", is_everywhere=True), UsageProblem, id="everything everywhere"),
        pytest.param(Wanted("t-none", memory_id=1), UsageProblem, id="two things"),
    ],
)
def test_what_cannot_be_meant_is_refused(store: Store, wanted: Wanted, error: type[Exception]):
    with pytest.raises(error):
        forgetter(store).forget(wanted, [])


def test_a_turn_that_is_not_over_is_waited_for(store: Store, say):
    first = say(SAID)
    store.open_turn("Go on.", conversation_id=first.conversation_id, parent_turn_id=first.turn_id, profile="starter")
    with pytest.raises(ConversationBusy):
        forgetter(store).forget(Wanted(first.turn_id), [])


def test_steps_that_are_left_are_on_record_until_they_are_done(store: Store, say):
    one = forgetter(store)
    one.forget(Wanted(say(SAID).turn_id), [Step("adapter", "a" * 32), Step("run", "2026-11-30")])
    assert one.steps() == (Step("adapter", "a" * 32), Step("run", "2026-11-30"), Step("pages"))
    one.finish(Step("adapter", "a" * 32))
    assert one.steps() == (Step("run", "2026-11-30"), Step("pages"))


# Everywhere


def test_the_same_words_said_apart_from_it_are_counted_and_stay(store: Store, say):
    said, apart = say(SAID), say(f"My aunt lives at {SPAN}.")
    NoteStore(store.database).add("Aunt", f"{SPAN}!", "user")
    done = forget(store, Wanted(said.turn_id, SPAN))
    assert {place.kind: place.count for place in done.elsewhere} == {"messages": 1, "titles": 1, "notes": 1}
    assert store.turn(apart.turn_id).user_text == f"My aunt lives at {SPAN}."


def test_words_go_everywhere_where_that_is_wanted(store: Store, say, database_path: Path):
    said, apart = say(SAID), say(f"My aunt lives at {SPAN}.", answer="I see.")
    notes = NoteStore(store.database)
    note = notes.add("Aunt", f"{SPAN}!", "user")
    notes.edit(note.note_id, "Aunt", f"At {SPAN}, with a cat", "user")
    KeptSignals(store.database).correct(apart.turn_id, f"She lives at {SPAN}.")
    done = forget(store, Wanted(span=SPAN, is_everywhere=True))
    assert done.elsewhere == ()
    assert [store.turn(turn.turn_id).user_text for turn in (said, apart)] == [
        f"I live at {MARK}, third floor.",
        f"My aunt lives at {MARK}.",
    ]
    assert notes.get(note.note_id).text == f"At {MARK}, with a cat"
    assert notes.search("Rosenweg") == () and len(notes.search("cat")) == 1
    assert {"messages": 2, "notes": 1, "signals": 1}.items() <= counts(done).items()
    store.close()
    assert files_with(database_path.parent, SPAN, "rosenweg") == []


# Memories


def test_G5_a_memory_goes_with_the_words_it_was_written_from(folder: Path):
    with open_talk(folder) as talk:
        memories = KeptMemories(talk.store, None)
        said = talk.say("I live in Windhoek.", "L0", answer="So you live in Windhoek!")
        (memory,) = memories.learn(Spoken(said.turn_id, "I live in Windhoek."), NOW, NOW.date()).written
        done = forget(talk.store, Wanted(memory_id=memory.memory_id))
        memories.are_gone(done.scope.memories)
        assert memories.store.get(memory.memory_id).state == "forgotten"
        assert memories.recall("Where do I live?", NOW) == ()
        assert (talk.turn(said).user_text, talk.turn(said).answer_text) == (MARK, f"So you {MARK}!")
    assert left(folder, "Windhoek") == []


def test_a_memory_is_forgotten_with_the_turn_it_came_from_and_with_what_it_superseded(store: Store, say):
    memories = KeptMemories(store, None)
    for text in ("I live in Windhoek.", "I moved to Oslo."):
        turn = say(text)
        kept = memories.learn(Spoken(turn.turn_id, text), NOW, NOW.date())
    assert kept.superseded
    done = forget(store, Wanted(turn.turn_id))
    assert counts(done)["memories"] == 2
    assert {memories.store.get(number).state for number in (kept.written[0].memory_id, *kept.superseded)} == {
        "forgotten"
    }


def test_a_message_goes_too_whose_words_are_escaped_in_the_evidence(store: Store, say):
    memories = KeptMemories(store, None)
    turn = say("My <b>cat</b> is called Mitzi. What is the time?", answer="It is noon.")
    draft = Draft("Has a cat that is called Mitzi", "fact", "My <b>cat</b> is called Mitzi.", turn.turn_id)
    memory = memories.write(draft, NOW)
    assert memory.evidence != draft.evidence
    forget(store, Wanted(memory_id=memory.memory_id))
    gone = store.turn(turn.turn_id)
    assert (gone.user_text, gone.answer_text) == (f"{MARK}. What is the time?", "It is noon.")


def test_views_into_which_a_memory_was_recalled_begin_anew(folder: Path):
    with open_talk(folder) as talk:
        memory = TurnMemory(KeptMemories(talk.store, None))
        talk.restart(memory=memory)
        said = talk.say("I live in Windhoek.", "L0")
        (known,) = memory.kept.store.page()
        talk.conversation_id = None
        other = talk.say("Where do I live?", "L0", answer="In Windhoek, of course.")
        assert "Windhoek" in talk.read(other) and talk.turn(other).recalled
        talk.conversation_id = None
        third = talk.say("What is a horse?", "L0")
        done = forget(talk.store, Wanted(memory_id=known.memory_id))
        assert talk.store.traces(other.turn_id) == () and talk.turn(other).recalled == ()
        assert talk.turn(other).answer_text == f"In {MARK}, of course."
        epoch = talk.store.latest_epoch(other.conversation_id, "L0", [other.turn_id])
        assert epoch is not None and epoch.head == ()
        assert set(done.scope.recalled) == {other.conversation_id}
        assert talk.store.traces(said.turn_id) == () and talk.store.traces(third.turn_id) != ()
    assert left(folder, "Windhoek") == []


def test_a_memory_that_was_never_read_touches_no_other_conversation(folder: Path):
    with open_talk(folder) as talk:
        memories = KeptMemories(talk.store, None)
        said = talk.say("I live in Windhoek.", "L0")
        (memory,) = memories.learn(Spoken(said.turn_id, "I live in Windhoek."), NOW, NOW.date()).written
        talk.conversation_id = None
        other = talk.say("What is a horse?", "L0")
        forget(talk.store, Wanted(memory_id=memory.memory_id))
        assert talk.store.traces(other.turn_id) != ()


def test_the_turn_of_a_memory_that_holds_words_need_not_say_them_in_the_same_way(store: Store, say):
    memories = KeptMemories(store, None)
    turn = say("My cat is called Mitzi.")
    (memory,) = memories.learn(Spoken(turn.turn_id, "My cat is called Mitzi."), NOW, NOW.date()).written
    done = forget(store, Wanted(turn.turn_id, "mitzi"))
    assert counts(done)["memories"] == 1
    assert memories.store.get(memory.memory_id).text == ""


# What was learned


def test_the_hash_of_what_an_adapter_read_goes_with_the_turn(store: Store, say):
    turn = say(SAID)
    catalogue = Catalogue(store.database)
    record = catalogue.add(named("one"), [Source(turn.turn_id, "f" * 64), Source("t-other", "e" * 64)])
    forget(store, Wanted(turn.turn_id))
    assert set(catalogue.details(record.content_hash).sources) == {Source(turn.turn_id), Source("t-other", "e" * 64)}


def test_what_was_suggested_because_of_it_goes_too(store: Store, say):
    turn, other = say(SAID), say("What is a horse?")
    suggestions = SuggestionStore(store.database)
    for said in (turn, other):
        one = suggestions.add(Candidate("habit", f"habit:{said.turn_id}", About(turn_id=said.turn_id), {}), NOW)
        suggestions.answer(one.suggestion_id, "dismissed", NOW)
    forget(store, Wanted(turn.turn_id, SPAN))
    assert [one.about.turn_id for one in suggestions.page()] == [other.turn_id]
