"""TF-IDF and logistic regression: what a router has to beat that reads no description and understands no sentence.

Characters in runs of one to four, so that Chinese needs no word list. Knows no expert; labels are any texts.
Axes in names: B texts, F features, L labels.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_LONGEST_RUN: Final = 4
_LEAST_TEXTS: Final = 5
"""Runs that fewer texts have are left out."""
_STEPS: Final = 300
_RATE: Final = 0.9
"""Below the inverse of the steepest curvature, which is 1 for rows of length 1 with a bias beside them."""


class TfIdf:
    """Rows of length 1: counts of runs, damped, weighted by how few of the texts it was made from have them."""

    def __init__(self, texts: Sequence[str]) -> None:
        owners = Counter(run for text in texts for run in set(runs(text)))
        kept = sorted(run for run, count in owners.items() if count >= _LEAST_TEXTS)
        self._places = {run: place for place, run in enumerate(kept)}
        counts_F = np.array([owners[run] for run in kept], dtype=np.float32)
        self._weights_F = np.log((1 + len(texts)) / (1 + counts_F)) + 1

    def rows(self, texts: Sequence[str]) -> Matrix:
        """(B, F); a text without any known run is a row of zeros."""
        rows_BF = np.zeros((len(texts), len(self._places)), dtype=np.float32)
        for row, text in enumerate(texts):
            for run, count in Counter(runs(text)).items():
                if (place := self._places.get(run)) is not None:
                    rows_BF[row, place] = (1 + np.log(count)) * self._weights_F[place]
        lengths_B = np.linalg.norm(rows_BF, axis=1, keepdims=True)
        return np.asarray(rows_BF / np.maximum(lengths_B, 1e-12), dtype=np.float32)


class TextClassifier:
    """Multinomial logistic regression over TF-IDF, with the usual penalty: half the squared weights beside the sum."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        self._features = TfIdf(texts)
        self._labels = sorted(set(labels))
        goals_BL = np.array([[label == known for known in self._labels] for label in labels], dtype=np.float32)
        self._weights_FL = fitted(self._features.rows(texts), goals_BL)

    def predict(self, texts: Sequence[str]) -> list[str]:
        best_B = (_with_bias(self._features.rows(texts)) @ self._weights_FL).argmax(axis=1)
        return [self._labels[best] for best in best_B]


def runs(text: str) -> list[str]:
    """All runs of characters, with the ends of the text as spaces and no regard to capitals."""
    line = f" {' '.join(text.casefold().split())} "
    return [line[at : at + size] for size in range(1, _LONGEST_RUN + 1) for at in range(len(line) - size + 1)]


def fitted(rows_BF: Matrix, goals_BL: Matrix) -> Matrix:
    """(F + 1, L), the last row the bias, by accelerated gradient descent (Nesterov 1983)."""
    rows_BF = _with_bias(rows_BF)
    weights_FL = ahead_FL = np.zeros((rows_BF.shape[1], goals_BL.shape[1]), dtype=np.float32)
    for step in range(_STEPS):
        next_FL = ahead_FL - _RATE * slope(rows_BF, goals_BL, ahead_FL)
        ahead_FL = next_FL + step / (step + 3) * (next_FL - weights_FL)
        weights_FL = next_FL
    return weights_FL


def slope(rows_BF: Matrix, goals_BL: Matrix, weights_FL: Matrix) -> Matrix:
    """Of the mean loss with its penalty, in the weights. `rows_BF` has the bias column."""
    logits_BL = rows_BF @ weights_FL
    chances_BL = np.exp(logits_BL - logits_BL.max(axis=1, keepdims=True))
    chances_BL /= chances_BL.sum(axis=1, keepdims=True)
    return np.asarray((rows_BF.T @ (chances_BL - goals_BL) + weights_FL) / len(rows_BF), dtype=np.float32)


def _with_bias(rows_BF: Matrix) -> Matrix:
    return np.concatenate([rows_BF, np.ones((len(rows_BF), 1), dtype=np.float32)], axis=1)
