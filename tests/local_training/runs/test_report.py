"""The report of a run: what it says first, what it leaves out, and that nothing in it acts."""

import re
import string
from dataclasses import replace
from html import unescape

import pytest

from engine.errors import StoreProblem, UsageProblem
from local_training.runs.evaluations import EvaluatedItem, evaluation_path, read_items, write_items
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import History
from local_training.runs.recipe import parse_recipe
from local_training.runs.report import recipe_text, report_html, visible, write_report
from local_training.runs.report_texts import TEXTS
from tests.local_training.runs.reporting import RECIPES, STEPS, answers, frozen, losses, state, step_of_rl, write_run
from tests.support.browser import new_context, open_browser

BEFORE, AFTER = "+" * 10 + "-" * 10, "+" * 9 + "-" + "+" * 8 + "--"
HOSTILE = (
    "</pre></style><script>document.title='taken'</script>"
    "<img src='http://127.0.0.1:9/a' onerror=\"document.title='x'\">"
    "<svg onload=\"document.title='y'\"><a href=\"javascript:document.title='z'\">"
    "<iframe src='http://127.0.0.1:9/'></iframe><style>body{background:url(http://127.0.0.1:9/c)}</style>"
    "{{ 7 * 7 }}\u202eevil\u2066\x1b]0;title\x07\x00\ufeff\U000e0041"
)


def words(page: str) -> str:
    """What a person reads of a page, on one line."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def read(folder: RunFolder, language: str = "en") -> str:
    return write_report(folder, language).read_text(encoding="utf-8")  # type: ignore[arg-type]


def test_the_report_says_first_whether_it_got_better_and_how_sure_that_is(tmp_path):
    said = words(read(write_run(tmp_path / "run", answers("+" * 10 + "-" * 10), answers("+" * 18 + "--"))))
    assert "It got better on held-out items." in said
    assert "Right answers 8 became right, 0 became wrong; p = 0.008 (McNemar's exact test, two-sided)" in said
    assert "50.0 % (10 of 20) 95 % interval 29.9 % to 70.1 %" in said
    assert "90.0 % (18 of 20) 95 % interval 69.9 % to 97.2 %" in said
    assert "Mean length of an answer 10.5 tokens 10.5 tokens" in said
    assert said.index("It got better") < said.index("How it ended") < said.index("Reward") < said.index("Recipe")


def test_the_report_says_it_in_chinese(tmp_path):
    page = read(write_run(tmp_path / "run", answers("+" * 10 + "-" * 10), answers("+" * 18 + "--")), "zh")
    assert '<html lang="zh-CN">' in page
    said = words(page)
    assert "它在留出的题目上变好了。" in said
    assert "8 个由错变对，0 个由对变错；p = 0.008" in said
    assert "共 20 步，已完成并保留 12 步。" in said
    assert "正确率" in said


def test_a_change_that_chance_explains_is_not_called_one(tmp_path):
    said = words(read(write_run(tmp_path / "run", answers("++--"), answers("+++-"))))
    assert "Held-out items show no change that chance would not explain." in said


def test_without_a_second_evaluation_nothing_is_claimed(tmp_path):
    said = words(read(write_run(tmp_path / "run", answers("+-"), [])))
    assert "Whether it got better is not known" in said
    assert "Right answers" not in said


def test_an_evaluation_after_the_last_kept_step_does_not_count(tmp_path):
    folder = write_run(tmp_path / "run", answers("++--"), answers("++++"))
    folder.write_state(state(step=STEPS - 1))
    assert "Whether it got better is not known" in words(read(folder))


def test_the_report_says_how_the_run_ended_and_what_it_took(tmp_path):
    folder = write_run(tmp_path / "run", answers("+-"), answers("+-"))
    said = words(read(folder))
    assert "It finished. The KL on general texts reached its limit. 12 of 20 steps are done and kept." in said
    assert "Time 20 min 34 s" in said
    assert "Of it sampling 6 min 24 s" in said
    assert "Tokens written 72,000" in said
    assert "Idle share of the steps 5.0 %" in said
    assert "step 4 Memory ran short; the graphs are half as large from here on." in said
    folder.write_state(state(state="failed", reason="", problem="The disk is full.", hint="Free some space."))
    assert "It failed, and can go on once the reason is gone. The disk is full. Free some space." in words(read(folder))


def test_the_idle_share_is_weighed_by_the_length_of_the_steps():
    steps = (replace(step_of_rl(1), seconds=90.0, idle_share=0.0), replace(step_of_rl(2), seconds=10.0, idle_share=0.5))
    recipe = parse_recipe(RECIPES["rl"].encode(), "recipe.toml")
    page = report_html(frozen(), recipe, state(), History(steps), None, "en")
    assert "Idle share of the steps 5.0 %" in words(page)


def charts_of(page: str) -> list[str]:
    return re.findall(r"<svg[^>]*><title>(.*?)</title>", page)


def test_a_run_that_samples_has_all_charts(tmp_path):
    assert charts_of(read(write_run(tmp_path / "run", answers("+-"), answers("++")))) == [
        "Reward",
        "Accuracy",
        "Length of answers",
        "Answers cut off",
        "KL from the start",
        "Entropy",
        "Mismatch of log-probabilities",
        "Importance weights",
        "Loss",
        "Norm of the gradient",
        "Learning rate",
        "Speed",
        "Memory of trainer and engine",
        "Groups of branches",
    ]


def test_a_run_on_given_answers_has_the_charts_and_figures_it_has_values_for(tmp_path):
    page = read(write_run(tmp_path / "run", losses([2.0] * 8), losses([1.0] * 8), "sft"))
    assert charts_of(page) == ["Loss", "Norm of the gradient", "Learning rate", "Speed"]
    said = words(page)
    assert "It got better on held-out items." in said
    assert "Mean loss it fell on 8 items and rose on 0; p = 0.008 (sign test, two-sided) 2 1" in said
    assert "learned to write given answers, 16 examples a step" in said
    assert "Tokens written" not in said


def test_preferences_are_told_by_the_side_they_are_on(tmp_path):
    before = [EvaluatedItem(f"pair-{place}", correct=place < 4, loss=0.7) for place in range(8)]
    after = [EvaluatedItem(f"pair-{place}", correct=True, loss=0.5) for place in range(8)]
    said = words(read(write_run(tmp_path / "run", before, after, "dpo")))
    assert "Examples on the right side 4 became right, 0 became wrong" in said
    assert "Mean loss it fell on 8 items" in said
    assert "(empty)" in said


def test_a_run_that_has_not_begun_has_a_report_too():
    recipe = parse_recipe(RECIPES["rl"].encode(), "recipe.toml")
    page = report_html(frozen(), recipe, state(state="new", step=0, reason=""), History(), None, "en")
    assert charts_of(page) == []
    assert "No step has been recorded." in words(page)


def test_items_that_became_wrong_are_shown_first_with_both_answers(tmp_path):
    folder = write_run(tmp_path / "run", answers(BEFORE, "twelve, I think"), answers(AFTER, '{"sum": 12}'))
    said = words(read(folder))
    lost = said.index("Right before, wrong after (1) sum-9 What is 5 + 7? Answer as JSON. before · 10 tokens twelve")
    gained = said.index("Wrong before, right after (8) sum-10")
    assert lost < said.index('{"sum": 12}') < gained


def test_many_and_long_answers_are_cut_and_the_rest_counted(tmp_path):
    folder = write_run(tmp_path / "run", answers("-" * 45, "x" * 3210), answers("+" * 45))
    page = read(folder)
    assert page.count('<article class="card change">') == 40
    said = words(page)
    assert "Wrong before, right after (45)" in said
    assert "5 more are in the run's folder `evaluations`." in said
    assert "x" * 3000 + " … and 210 more characters" in said


def test_the_recipe_is_shown_whole_and_can_be_used_again(tmp_path):
    for kind, content in RECIPES.items():
        recipe = parse_recipe(content.encode(), "recipe.toml")
        assert parse_recipe(recipe_text(recipe).encode(), f"{kind}.toml") == recipe
    page = read(write_run(tmp_path / "run", answers("+-"), answers("+-")))
    assert "kl_general_nats = 0.05" in page


def test_everything_frozen_is_named_with_its_hash_and_no_folder_of_the_machine(tmp_path):
    page = read(write_run(tmp_path / "run", answers("+-"), answers("+-")))
    said = words(page)
    assert f"Base starter-135m.gguf {'a1' * 32}" in said
    assert f"Recipe sums as JSON {'c3' * 32}" in said
    assert f"Data sums.jsonl {'b2' * 32}" in said
    assert "Versions macaron-tall 0.1.0, torch 2.9.0 " in said
    assert "/home/somebody" not in page


def test_a_control_says_that_it_is_one():
    recipe = parse_recipe(b'kind = "rl"\ndata = "a"\nsteps = 1\n[reward]\nshuffled = true\n', "recipe.toml")
    assert "this is a control" in words(report_html(frozen(), recipe, state(), History(), None, "en"))


def test_a_damaged_evaluation_is_no_reason_to_guess(tmp_path):
    folder = write_run(tmp_path / "run", answers("+-"), answers("+-"))
    evaluation_path(folder.evaluations, 0).write_text("{", encoding="utf-8")
    with pytest.raises(StoreProblem, match=r"Line 1 of 000000\.jsonl"):
        write_report(folder, "en")


def test_a_folder_that_is_no_run_has_no_report(tmp_path):
    with pytest.raises(UsageProblem):
        write_report(RunFolder(tmp_path), "en")
    assert list(tmp_path.iterdir()) == []


def test_data_that_cannot_be_read_costs_the_questions_only(tmp_path):
    folder = write_run(tmp_path / "run", answers(BEFORE), answers(AFTER))
    folder.data.write_bytes(
        b'\xff\n{"id": 3}\n[]\n{"id": "sum-9", "prompt": [{"role": "user", "content": "Add 5 and 7."}]}'
    )
    said = words(read(folder))
    assert "sum-9 Add 5 and 7. before" in said
    assert "sum-10 before" in said


def test_what_cannot_be_seen_stands_as_its_code_and_markup_as_text():
    assert visible("a\u202eb\x1b<b>\n\t家族\U0001f468\u200d\U0001f469") == (
        'a<span class="code">U+202E</span>b<span class="code">U+001B</span>&lt;b&gt;\n\t家族\U0001f468\u200d\U0001f469'
    )
    assert visible("\ud83d\U000e0041\u2028\u00ad") == "".join(
        f'<span class="code">U+{code}</span>' for code in ("D83D", "E0041", "2028", "00AD")
    )


def test_both_languages_have_the_same_placeholders():
    for key, both in TEXTS.items():
        english, chinese = ({name for _, name, _, _ in string.Formatter().parse(text) if name} for text in both)
        assert english == chinese, key


def hostile_run(folder) -> RunFolder:
    run = write_run(folder, answers(BEFORE, HOSTILE), answers(AFTER, HOSTILE), question=HOSTILE, note=HOSTILE)
    run.write_frozen(replace(frozen(title=HOSTILE), versions={HOSTILE: HOSTILE}, base=HOSTILE, expert=HOSTILE))
    run.write_state(state(reason=HOSTILE, problem=HOSTILE, hint=HOSTILE))
    for step in (0, STEPS):
        path = evaluation_path(run.evaluations, step)
        items = [replace(item, item_id=item.item_id + HOSTILE) for item in read_items(path)]
        write_items(path, items)
    return run


def test_no_character_of_a_hostile_run_is_left_unseen(tmp_path):
    page = read(hostile_run(tmp_path / "run"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]", page)
    assert not re.search(r"<(script|img|iframe|a|svg onload)\b", page)
    assert "U+E0041" in page


def test_nothing_of_a_hostile_run_acts_in_a_real_browser(tmp_path):
    address = write_report(hostile_run(tmp_path / "run"), "en").as_uri()
    with open_browser() as browser:
        page = new_context(browser).new_page()
        asked, dialogs, complaints = [], [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(address, wait_until="load")
        page.wait_for_timeout(200)
        assert asked == [address]
        assert dialogs == complaints == []
        assert page.title().startswith("Training report")
        assert page.locator("script, img, iframe, a, object, embed, form, link").count() == 0
        assert page.locator("style").count() == 1
        assert page.locator(".answer").first.inner_text().startswith("</pre></style><script>")
        assert "U+202E" in page.locator(".answer").first.inner_text()


def test_the_policy_of_the_page_would_stop_a_script_and_a_request_even_so(tmp_path):
    folder = write_run(tmp_path / "run", answers("+-"), answers("+-"))
    planted = "<script>document.title='taken'</script><img src='http://127.0.0.1:9/a'>"
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(read(folder).replace("</main>", f"{planted}</main>"), encoding="utf-8")
    with open_browser() as browser:
        page = new_context(browser).new_page()
        refused = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(spoiled.as_uri(), wait_until="load")
        assert page.title().startswith("Training report")
        assert len([one for one in refused if "Content Security Policy" in one]) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_fits_its_window(tmp_path, language, width):
    address = write_report(hostile_run(tmp_path / "run"), language).as_uri()
    with open_browser() as browser:
        page = new_context(browser, language, width).new_page()
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
