"""The token of the hub: kept in the keyring, never shown, and the environment helps where there is no keyring."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked, PasswordDeleteError

from app.credentials import (
    TOKEN_VARIABLE,
    NoKeyring,
    Token,
    hub_token,
    remove_hub_token,
    remove_server_secret,
    server_secret,
    set_hub_token,
)
from app.harness.server_commands import run_secret_remove, run_secret_set
from app.paths import Paths
from engine.errors import UsageProblem


class Chest(KeyringBackend):
    """A keyring in memory, which can be locked."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[(service, username)] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("not there")

    def _check(self) -> None:
        if self.is_locked:
            raise KeyringLocked("locked")


@pytest.fixture
def chest() -> Iterator[Chest]:
    before = keyring.get_keyring()
    chest = Chest()
    keyring.set_keyring(chest)
    yield chest
    keyring.set_keyring(before)


@pytest.fixture
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


def test_a_token_is_kept_found_and_removed(chest: Chest):
    assert hub_token({}) is None
    set_hub_token(" hf_secret\n")
    assert hub_token({}) == Token("hf_secret", "keyring")
    assert remove_hub_token()
    assert hub_token({}) is None and not remove_hub_token()


def test_the_environment_comes_first(chest: Chest):
    set_hub_token("hf_kept")
    assert hub_token({TOKEN_VARIABLE: "hf_now"}) == Token("hf_now", "environment")
    assert hub_token({TOKEN_VARIABLE: " "}) == Token("hf_kept", "keyring")


def test_without_a_keyring_the_variable_is_named_and_works(no_keyring: None):
    with pytest.raises(NoKeyring) as caught:
        set_hub_token("hf_secret")
    assert TOKEN_VARIABLE in caught.value.hint
    assert hub_token({}) is None
    assert hub_token({TOKEN_VARIABLE: "hf_now"}) == Token("hf_now", "environment")


def test_a_keyring_that_refuses_is_said_without_the_secret(chest: Chest):
    chest.is_locked = True
    with pytest.raises(NoKeyring) as caught:
        set_hub_token("hf_secret")
    assert "hf_secret" not in str(caught.value.args)
    with pytest.raises(NoKeyring):
        hub_token({})


@pytest.mark.parametrize("text", ["", "  ", "two words", "new\nline", "über", "x" * 600, "\x1b[31m"])
def test_what_can_be_no_token_is_refused_and_not_repeated(chest: Chest, text: str):
    with pytest.raises(UsageProblem) as caught:
        set_hub_token(text)
    assert not text.strip() or text.strip() not in f"{caught.value.problem} {caught.value.hint}"
    assert chest.kept == {}


def test_A7_a_token_does_not_show_itself():
    assert "hf_secret" not in repr(Token("hf_secret", "keyring"))


def test_secrets_of_servers_are_kept_apart_from_the_token_of_the_hub(
    chest: Chest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    paths, environment = Paths(tmp_path), {"LC_ALL": "C.UTF-8"}
    assert run_secret_set(paths, environment, "github/work", lambda _prompt: " two words \n") == 0
    assert server_secret("github/work") == "two words"
    assert hub_token({}) is None
    assert run_secret_remove(paths, environment, "github/work") == 0
    assert "two words" not in capsys.readouterr().out
    assert remove_server_secret("github/work") is False
    with pytest.raises(UsageProblem, match="holds no secret") as problem:
        server_secret("github/work")
    assert "macaron servers secret set github/work" in problem.value.hint


@pytest.mark.parametrize(
    ("name", "secret"), [("with space", "x"), ("", "x"), ("a}b", "x"), ("fine", ""), ("fine", "a\nb")]
)
def test_what_can_be_no_secret_is_not_kept(chest: Chest, tmp_path: Path, name: str, secret: str):
    with pytest.raises(UsageProblem):
        run_secret_set(Paths(tmp_path), {}, name, lambda _prompt: secret)
    assert chest.kept == {}


def test_without_a_keyring_servers_take_secrets_from_variables(no_keyring: None):
    with pytest.raises(NoKeyring) as problem:
        server_secret("github")
    assert "${env:NAME}" in problem.value.hint
