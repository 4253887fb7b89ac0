"""Bytes of tokens to text that can be shown. Pure; knows no model."""

import codecs


class TextAssembler:
    """Turn token bytes into text as they come, whole characters only, and watch for stop texts.

    A stop text may arrive in pieces, so text that could be its beginning is held back until that is decided.
    """

    def __init__(self, stop: tuple[str, ...] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._held = ""
        self.stopped = False

    def add(self, data: bytes) -> str:
        """The text that is certain now. After a stop text `stopped` is True and nothing more comes."""
        self._held += self._decoder.decode(data)
        return self._release()

    def finish(self) -> str:
        """What was still held back, once nothing more will come."""
        if self.stopped:
            return ""
        self._held += self._decoder.decode(b"", final=True)
        text = self._release()
        if not self.stopped:
            text, self._held = text + self._held, ""
        return text

    def _release(self) -> str:
        found = [position for text in self._stop if (position := self._held.find(text)) >= 0]
        if found:
            self.stopped = True
            text, self._held = self._held[: min(found)], ""
            return text
        keep = max((_overlap(self._held, text) for text in self._stop), default=0)
        cut = len(self._held) - keep
        text, self._held = self._held[:cut], self._held[cut:]
        return text


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
