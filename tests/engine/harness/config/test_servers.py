"""MCP servers in the usual shape, with secrets by name only."""

import pytest

from engine.harness.config.checking import read_toml
from engine.harness.config.model import HomeTable
from engine.harness.config.secrets_named import SecretName, filled, looks_like_secret, secret_names
from engine.harness.config.servers import McpServer

GITHUB_LIKE = "ghp_" + "a1B2c3D4e5" * 4
RANDOM = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def server(text: str) -> McpServer:
    table = read_toml(f"[mcpServers.it]\n{text}\n", HomeTable, "harness.toml")
    assert isinstance(table, HomeTable), table
    return table.mcp_servers["it"]


def refusal(text: str) -> str:
    found = read_toml(f"[mcpServers.it]\n{text}\n", HomeTable, "harness.toml")
    assert isinstance(found, tuple), f"{text} was taken"
    return found[0].text


def test_a_program_and_an_address_are_taken_as_everyone_writes_them():
    program = server('command = "npx"\nargs = ["-y", "@scope/server", "/data"]\nenv = { TOKEN = "${keyring:it}" }')
    assert (program.command, program.args) == ("npx", ("-y", "@scope/server", "/data"))
    assert program.secrets == (SecretName("keyring", "it"),)
    address = server(
        'type = "http"\nurl = "https://example.org/mcp"\nheaders = { Authorization = "Bearer ${IT_TOKEN}" }'
    )
    assert address.secrets == (SecretName("env", "IT_TOKEN"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "needs either", id="neither"),
        pytest.param('command = "a"\nurl = "https://b"', "needs either", id="both"),
        pytest.param('command = "a"\nheaders = { B = "c" }', "takes `args` and `env`", id="headers_of_a_program"),
        pytest.param('url = "https://b"\nargs = ["c"]', "takes `headers`", id="arguments_of_an_address"),
        pytest.param('url = "file:///etc/passwd"', "must begin with https://", id="file"),
        pytest.param('url = "https://"', "must begin with https://", id="no_host"),
        pytest.param('url = "https://[::1"', "is no address", id="broken_address"),
        pytest.param('command = "a"\nenv = { "A=B" = "c" }', "The name is not possible", id="variable_name"),
        pytest.param('url = "https://b"\nheaders = { "A:B" = "c" }', "The name is not possible", id="header_name"),
        pytest.param('url = "https://b"\nheaders = { A = "b\\nC: d" }', "one line", id="header_of_two_lines"),
    ],
)
def test_what_is_no_server_is_refused(text, said):
    assert said in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'command = "a"\nenv = {{ ANYTHING = "{GITHUB_LIKE}" }}', id="known_opening"),
        pytest.param(f'command = "a"\nenv = {{ ANYTHING = "{RANDOM}" }}', id="random"),
        pytest.param('command = "a"\nenv = { API_KEY = "letmein" }', id="key_of_a_variable"),
        pytest.param('command = "a"\nenv = { apiKey = "letmein" }', id="key_in_camel_case"),
        pytest.param('url = "https://b"\nheaders = { Authorization = "Bearer letmein" }', id="header"),
        pytest.param('url = "https://b"\nheaders = { X-Api-Key = "let${A}mein" }', id="beside_a_name"),
        pytest.param('command = "a"\nargs = ["--token", "letmein"]', id="argument"),
        pytest.param('command = "a"\nargs = ["--api-key=letmein"]', id="argument_with_equals"),
        pytest.param('command = "a"\nargs = ["--token", "${keyring:it}"]', id="named_in_an_argument"),
        pytest.param(f'command = "a"\nargs = ["{GITHUB_LIKE}"]', id="bare_argument"),
        pytest.param('url = "https://me:letmein@b"', id="address"),
        pytest.param('url = "https://b?token=letmein"', id="query"),
        pytest.param(f'url = "https://b/{RANDOM}"', id="path_of_an_address"),
        pytest.param('url = "http://b.example"\nheaders = { A = "${keyring:it}" }', id="unencrypted"),
    ],
)
def test_a_secret_that_would_be_readable_is_refused(text):
    said = refusal(text)
    assert "secret" in said
    assert "letmein" not in said and GITHUB_LIKE not in said and RANDOM not in said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            'command = "a"\nenv = { MAX_TOKENS = "4000", TOKEN_FILE = "/run/it", KEY_PATH = "/x" }', id="places"
        ),
        pytest.param('command = "a"\nenv = { NO_COLOR = "", LOG = "info" }', id="empty"),
        pytest.param('command = "a"\nenv = { MODEL = "Qwen3.6-35B-A3B-Instruct-2509" }', id="model_name"),
        pytest.param('command = "uvx"\nargs = ["mcp-server-git==2026.1.14", "--repository", "~/code"]', id="version"),
        pytest.param('url = "http://127.0.0.1:3000"\nheaders = { A = "${keyring:it}" }', id="loopback"),
        pytest.param('url = "http://box.local:3000"', id="plain_without_secrets"),
        pytest.param('command = "a"\ndisabled = true', id="disabled"),
    ],
)
def test_what_is_no_secret_is_taken(text):
    assert isinstance(server(text), McpServer)


def test_names_are_found_and_filled_once():
    text = "Bearer ${keyring:a/b@c} ${env:D} ${D}"
    assert secret_names(text) == (SecretName("keyring", "a/b@c"), SecretName("env", "D"), SecretName("env", "D"))
    assert filled(text, lambda secret: f"<{secret.name}${{env:X}}>") == (
        "Bearer <a/b@c${env:X}> <D${env:X}> <D${env:X}>"
    )


@pytest.mark.parametrize("text", ["${", "${}", "${env:}", "${env:a-b}", "${other:a}", "${keyring:a b}", "x${keyring:a"])
def test_a_broken_name_is_refused(text):
    with pytest.raises(ValueError, match="`"):
        secret_names(text)
    assert "`" in refusal(f"command = \"a\"\nenv = {{ B = '{text}' }}")


def test_ordinary_words_do_not_look_like_secrets():
    assert not any(map(looks_like_secret, ("internationalization", "OpenStreetMapServerConfiguration2", "2026-11-30")))
