"""Skills: a short header, a text, and files beside it; one bad skill takes down no other."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.harness.config.complaints import Complaint
from engine.harness.config.harnessed import put_together
from engine.harness.config.skills import MOST_SKILL_CHARACTERS, MOST_SKILLS, read_skills
from tests.engine.harness.config.sources import folder, home, skill


def complaint_about(text: str | bytes) -> Complaint:
    skills, complaints = read_skills(home(**{"skills/it/SKILL.md": text}))
    assert skills == () and len(complaints) == 1, (skills, complaints)
    return complaints[0]


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("---\nname: pdf\ndescription: Reads PDFs\nwhen: a PDF comes\n---\n", id="yaml"),
        pytest.param(
            "---\r\nname: pdf\r\ndescription: >\r\n  Reads\r\n  PDFs\r\nwhen: 'a PDF comes'\r\n---\r\n", id="folded"
        ),
        pytest.param('+++\nname = "pdf"\ndescription = """Reads\nPDFs"""\nwhen = "a PDF comes"\n+++\n', id="toml"),
        pytest.param("\ufeff---\nname: pdf\ndescription: Reads PDFs\nwhen: a PDF comes\n---\n", id="byte_order_mark"),
        pytest.param(
            "---\nname: pdf\ndescription: Reads PDFs\nwhen: a PDF comes\nlicense: MIT\nallowed-tools: [python]\n"
            "metadata:\n  author: someone\n---\n",
            id="as_published",
        ),
    ],
)
def test_a_header_is_read_in_every_common_way_of_writing(header):
    ((found,), complaints) = read_skills(home(**{"skills/it/SKILL.md": f"{header}\nFirst look.\n\n---\nThen act.\n"}))
    assert complaints == ()
    assert (found.name, found.description, found.when) == ("pdf", "Reads PDFs", "a PDF comes")
    assert found.body == "First look.\n\n---\nThen act."


def test_words_of_yaml_stay_words():
    text = "---\nname: on\ndescription: 2026-11-30\nwhen: no\n---\nDo."
    ((found,), _) = read_skills(home(**{"skills/it/SKILL.md": text}))
    assert (found.name, found.description, found.when) == ("on", "2026-11-30", "no")


def test_a_chinese_skill_is_a_skill():
    ((found,), _) = read_skills(home(**skill("报销", "填写报销单", "先看发票。")))
    assert (found.name, found.body) == ("报销", "先看发票。")


def test_files_beside_a_skill_are_listed_with_their_hashes():
    files = {**skill("pdf"), "skills/pdf/scripts/read.py": "print(1)", "skills/other/note.txt": "x"}
    ((found,), complaints) = read_skills(home(**files))
    assert complaints == ()
    assert [(file.path, file.size_bytes, file.sha256) for file in found.files] == [
        ("scripts/read.py", 8, hashlib.sha256(b"print(1)").hexdigest())
    ]
    assert found.folder == "/home/me/macaron/skills/pdf"


@pytest.mark.parametrize(
    ("text", "line", "key", "said"),
    [
        pytest.param("Just text.", 1, "", "has no header", id="no_header"),
        pytest.param("---\nname: a\n", 1, "", "does not end", id="no_end"),
        pytest.param("---\nname: a\ndescription: b: c\n---\nx", 3, "", "not valid YAML", id="yaml"),
        pytest.param("+++\nname = a\n+++\nx", 2, "", "not valid TOML", id="toml"),
        pytest.param("---\n- name\n---\nx", 2, "", "no names with texts", id="list"),
        pytest.param("---\n---\nx", 2, "", "no names with texts", id="empty"),
        pytest.param("---\nname: a\nname: b\n---\nx", 3, "", "twice", id="twice"),
        pytest.param("---\nname: a\n---\nx", 1, "description", "missing", id="missing"),
        pytest.param("---\nname: a\ndescription: b\nwen: c\n---\nx", 4, "wen", "no such key", id="unknown"),
        pytest.param("---\nname: a/b\ndescription: b\n---\nx", 2, "name", "pattern", id="name"),
        pytest.param("---\ndescription: b\nname: [a]\n---\nx", 3, "name", "valid string", id="no_text"),
        pytest.param('---\nname: a\ndescription: "b\\u0007"\n---\nx', 3, "description", "control", id="control"),
        pytest.param('---\nname: a\ndescription: "b\\ud800"\n---\nx', None, "", "", id="half_a_character"),
        pytest.param("---\nname: !!python/object:os.system a\ndescription: b\n---\n", None, "", "", id="tag"),
        pytest.param("---\nname: a\ndescription: b\n---\n\n", None, "", "says nothing", id="no_body"),
        pytest.param("---\nname: a\ndescription: b\n---\n" + "x" * MOST_SKILL_CHARACTERS, None, "", "char", id="long"),
        pytest.param("---\n" + "a: b\n" * 1_000 + "---\nx", 1, "", "too long", id="long_header"),
        pytest.param("---\nname: " + "[" * 3_000 + "\n---\nx", 1, "", "too many lists", id="deep"),
        pytest.param("---\n" + "- " * 1_900 + "\n---\nx", 1, "", "too many lists", id="deep_list"),
        pytest.param("---\nname: a b\n" + "? " * 1_900 + "\n---\nx", 1, "", "too many lists", id="deep_key"),
        pytest.param("---\nname: a\ndescription: b\n" + "x: " * 1_300 + "\n---\nx", 4, "", "YAML", id="keys_in_a_line"),
        pytest.param(b"---\nname: a\n\xff\n---\nx", 3, "", "UTF-8", id="no_text_at_all"),
        pytest.param("---\nname: a\x00\n---\nx", 2, "", "control character U+0000", id="null"),
    ],
)
def test_a_bad_skill_is_told_with_file_line_and_key(text, line, key, said):
    complaint = complaint_about(text)
    assert complaint.file == "skills/it/SKILL.md"
    assert said in complaint.problem
    assert complaint.hint
    if line is not None:
        assert (complaint.line, complaint.key) == (line, key)


def test_aliases_that_would_grow_without_end_do_not():
    laughs = "a: &a [x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24)
    )
    skills, complaints = read_skills(home(**{"skills/it/SKILL.md": f"---\nname: it\n{laughs}---\nx"}))
    assert skills == ()
    assert sum(len(complaint.text) for complaint in complaints) < 5_000


def test_one_bad_skill_leaves_the_others_in_use_and_is_reported():
    found = put_together(home(**skill("good"), **{"skills/bad/SKILL.md": "no header"}))
    assert [one.name for one in found.config.skills] == ["good"]
    assert [complaint.text for complaint in found.complaints] == ["skills/bad/SKILL.md, line 1: It has no header."]


def test_two_skills_of_one_name_are_one_and_a_complaint():
    files = {"skills/one/SKILL.md": skill("same")["skills/same/SKILL.md"], **skill("same", body="Second.")}
    ((found,), (complaint,)) = read_skills(home(**files))
    assert found.body == "How it is done."
    assert complaint.file == "skills/same/SKILL.md"


def test_a_skill_of_the_home_is_not_replaced_by_one_of_a_folder():
    found = put_together(home(**skill("mail", body="Mine.")), [folder(**skill("mail", body="Theirs."))])
    assert [one.body for one in found.config.skills] == ["Mine."]
    assert "mail" in found.complaints[0].text


def test_no_more_skills_than_can_be_used_are_read():
    files = {path: text for number in range(MOST_SKILLS + 3) for path, text in skill(f"s{number:04d}").items()}
    found, complaints = read_skills(home(**files))
    assert len(found) == MOST_SKILLS
    assert f"holds {MOST_SKILLS + 3} skills" in complaints[0].problem


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="-+:\n ab[]{}&*!'\"#|>%@`\t名", max_size=60))
def test_any_header_is_read_or_complained_of(text):
    for fence in ("---", "+++"):
        skills, complaints = read_skills(home(**{"skills/it/SKILL.md": f"{fence}\n{text}\n{fence}\nBody."}))
        assert len(skills) + len(complaints) >= 1
