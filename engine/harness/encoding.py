"""Parts of a prompt to token ids, so that only our own templates can produce control tokens.

Knows the vocabulary's markup and an encoder for ordinary text, nothing else. Pure but for the encoder it is given.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from engine.harness.formats import Part, Trusted
from engine.runtime.protocol import Encoder, Tokens


def encode_parts(parts: Sequence[Part], encoder: Encoder, markup: Mapping[str, int]) -> Tokens:
    """Token ids of `parts`, as the standard tokenisation of their text, except that markup counts only where trusted.

    `markup` maps the texts of control and markup tokens to their ids; only those that look like markup are used.
    """
    known = {text: token for text, token in markup.items() if _looks_like_markup(text)}
    lengths = _lengths_by_start(known)
    tokens: list[int] = []
    for piece in _pieces(parts, known, lengths):
        tokens.extend((piece,) if isinstance(piece, int) else _encode_run(piece, encoder, known, lengths))
    return tuple(tokens)


def _looks_like_markup(text: str) -> bool:
    # Some vocabularies also list runs of spaces or line breaks; those are ordinary text, for us as for the tokenizer.
    return len(text) > 1 and text[0] in "<["


def _lengths_by_start(known: Mapping[str, int]) -> dict[str, list[int]]:
    """Lengths of the markup that shares its first two characters, longest first. Vocabularies hold thousands."""
    lengths: dict[str, set[int]] = {}
    for text in known:
        lengths.setdefault(text[:2], set()).add(len(text))
    return {start: sorted(found, reverse=True) for start, found in lengths.items()}


def _markup_at(text: str, start: int, known: Mapping[str, int], lengths: Mapping[str, list[int]]) -> str | None:
    """The longest markup that begins at `start`."""
    candidates = (text[start : start + length] for length in lengths.get(text[start : start + 2], ()))
    return next((candidate for candidate in candidates if candidate in known), None)


def _pieces(parts: Sequence[Part], known: Mapping[str, int], lengths: Mapping[str, list[int]]) -> Iterator[int | str]:
    """Ids of trusted markup, and between them runs of text: trusted and untrusted joined, as a tokenizer sees them."""
    run: list[str] = []
    for text, is_trusted in _joined(parts):
        position = 0
        while is_trusted and position < len(text):
            found = _markup_at(text, position, known, lengths)
            if found is None:
                run.append(text[position])
                position += 1
                continue
            if run:
                yield "".join(run)
                run.clear()
            yield known[found]
            position += len(found)
        if not is_trusted:
            run.append(text)
    if run:
        yield "".join(run)


def _joined(parts: Sequence[Part]) -> Iterator[tuple[str, bool]]:
    """(text, is it trusted), neighbours of equal trust as one."""
    for is_trusted, group in groupby(parts, key=lambda part: isinstance(part, Trusted)):
        yield "".join(part.text for part in group), is_trusted


def _encode_run(run: str, encoder: Encoder, known: Mapping[str, int], lengths: Mapping[str, list[int]]) -> Tokens:
    tokens = encoder.encode(run)
    if set(known.values()).isdisjoint(tokens):
        return tokens
    # llama.cpp turns user-defined tokens, such as Qwen's <tool_call>, into their ids wherever they are read. Every
    # place where one begins is cut after its first character; then no piece holds a whole one, however they overlap.
    cuts = [start + 1 for start in range(len(run)) if _markup_at(run, start, known, lengths)]
    edges = [0, *cuts, len(run)]
    return tuple(token for start, end in pairwise(edges) for token in encoder.encode(run[start:end]))
