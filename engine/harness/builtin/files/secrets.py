"""Which names are not for a model to read or write, however the folder around them was granted.

Pure. A safety net below the grant: it catches keys and credentials by the names they usually have.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_FOLDERS: Final = frozenset(
    (
        *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".gcloud", ".oci"),
        *(".mozilla", ".thunderbird", "google-chrome", "chromium", "bravesoftware", "microsoft-edge", "keyrings"),
        *(".pki", ".terraform.d", ".vault-token", ".bitcoin", ".electrum", ".ethereum", ".1password"),
    )
)
_NAMES: Final = frozenset(
    (
        *(".netrc", "_netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".htpasswd", ".my.cnf", ".s3cfg"),
        *(".boto", ".envrc", "wallet.dat", "credentials", "credentials.json", "client_secret.json"),
        *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".sqlite_history"),
        *("secrets.toml", "secrets.json", "secrets.yaml", "secrets.yml", "service_account.json"),
    )
)
_PATTERNS: Final = (
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.ppk", "*.gpg"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".env", ".env.*", "*.env", "*.ovpn", "*.mobileconfig"),
)
_EXAMPLES: Final = (".example", ".sample", ".template")
_HISTORIES: Final = frozenset((".git", ".hg", ".svn", ".jj"))
_PRIVATE_KEY: Final = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
"""How every private key begins that is written as text."""
_LOOKED_AT_BYTES: Final = 4096


def is_secret(parts: Sequence[str]) -> bool:
    """Whether a path, given as its names from the top, leads to what is kept from models."""
    return any(_is_secret_name(_folded(part)) for part in parts)


def is_history(parts: Sequence[str]) -> bool:
    """Whether a path leads into the store of a version control, whose files run code or rewrite the past."""
    return any(_folded(part) in _HISTORIES for part in parts)


def holds_private_key(data: bytes) -> bool:
    return _PRIVATE_KEY.search(data[:_LOOKED_AT_BYTES]) is not None


def _is_secret_name(name: str) -> bool:
    if name in _FOLDERS or name in _NAMES:
        return True
    if name.endswith(_EXAMPLES):
        return False
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _PATTERNS)


def _folded(name: str) -> str:
    """As file systems that ignore case, or drop dots and spaces at the end, would find it."""
    return unicodedata.normalize("NFKC", name).casefold().rstrip(". ")
