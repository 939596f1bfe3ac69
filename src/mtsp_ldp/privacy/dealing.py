"""Users dealt at random into groups, one for each question: by their counts, exact in law."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.privacy.survey import Question


def deal(
    questions: Sequence[Question],
    counts: IntArray,
    absent: int,
    sizes: Sequence[int],
    people: np.random.Generator,
) -> list[IntArray]:
    """Deal users at random into groups of these sizes, one for each question.

    The finest question is dealt first. Where the next one's groups are runs of its groups, as the levels of a
    tree are, the users that are left need to be known by those runs only: a third of the draws, and the same
    law.

    Parameters
    ----------
    questions
        Partitions of the cells.
    counts
        Users per cell, ``(d,)``.
    absent
        How many others are dealt with them, who are in no cell.
    sizes
        Of each question's group; together all users.
    people
        Chance that deals them.

    Returns
    -------
    list of IntArray
        Users per group of each question, ``(g,)``: multivariate hypergeometric, so exact in law.
    """
    order = sorted(range(len(questions)), key=lambda place: -questions[place].groups)
    unions = [find_unions(questions[a], questions[b]) for a, b in pairwise(order)]
    levels = [starts for starts in unions if starts is not None]
    if len(levels) < len(unions):  # no levels of one tree: known by cells to the end
        every = Question(np.arange(counts.size))
        dealt = deal([every] * len(questions), counts, absent, sizes, people)
        return list(map(Question.count, questions, dealt))
    dealt = [counts] * len(questions)
    left = np.append(questions[order[0]].count(counts), absent)
    for place, starts in zip(order, levels, strict=False):
        part = people.multivariate_hypergeometric(left, sizes[place], method="marginals")
        dealt[place] = part[:-1]
        left = np.add.reduceat(left - part, starts)
    dealt[order[-1]] = left[:-1]
    return dealt


@lru_cache(maxsize=256)
def find_unions(fine: Question, coarse: Question) -> IntArray | None:
    """Find where each group of a coarse question starts among the groups of a fine one.

    Returns
    -------
    IntArray or None
        First fine group of each coarse one, and after them the number of fine groups, ``(g + 1,)``; None
        where the coarse groups are no runs of fine ones.
    """
    union = np.zeros(fine.groups, dtype=np.int64)
    union[fine.labels] = coarse.labels
    if (union[fine.labels] != coarse.labels).any() or (np.diff(union) < 0).any():
        return None
    return np.append(np.searchsorted(union, np.arange(coarse.groups)), fine.groups)
