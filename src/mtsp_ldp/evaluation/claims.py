"""The paper's claims, each a predicate on the results: holds, fails, mixed (and where), or not decided here.

No claim is worded so that it must hold, and none is judged by eye: a cell counts for or against a claim only
where the 95 % interval of the paired comparison excludes a tie.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from mtsp_ldp.evaluation.comparison import PLACE, paired, rivals
from mtsp_ldp.evaluation.measures import ERRORS
from mtsp_ldp.mechanisms.registry import baselines, published, readers

SKEWED = 0.3
"""Share of the users in the busiest tenth of the cells from which on a stream is skewed."""
LARGEST = 2.5
"""Largest epsilon of the paper's figures, and so of its claims."""


@dataclass(frozen=True)
class Evidence:
    """Results that claims are judged on.

    Attributes
    ----------
    scores
        Long scores of all repetitions.
    movement
        By stream: root mean square step of a frequency from one timestamp to the next, relative to the root
        mean square of the frequencies.
    concentration
        By stream: share of the users in the busiest tenth of the cells; 0 where there are fewer than ten.
    """

    scores: pl.DataFrame
    movement: Mapping[str, float]
    concentration: Mapping[str, float]

    def has(self, *mechanisms: str) -> bool:
        """Tell whether all of these mechanisms were run."""
        return set(mechanisms) <= set(self.scores["mechanism"].unique())


@dataclass(frozen=True)
class Verdict:
    """Verdict of the results on a claim.

    Attributes
    ----------
    id, says, source
        Key of the claim, its sentence, and where it comes from.
    verdict
        ``not decided`` if fewer than half of the cells are; else ``holds`` (none of them against it),
        ``fails`` (none for it), or ``mixed``.
    numbers
        Counts and sizes, in words.
    where
        Cells for and against, by stream.
    """

    id: str
    says: str
    source: str
    verdict: str
    numbers: str
    where: str


def judge(claims: list[dict[str, Any]], evidence: Evidence) -> list[Verdict]:
    """Judge all claims, in their order.

    Raises
    ------
    ValueError
        Naming a claim of unknown kind.
    """
    verdicts = []
    for claim in claims:
        if claim["kind"] not in KINDS:
            raise ValueError(
                f"claims.yaml: {claim['id']}: kind={claim['kind']!r}: must be one of {', '.join(KINDS)}"
            )
        known = pl.col("epsilon").is_null()  # of the floors
        within = pl.col("epsilon") >= claim["epsilon"] if "epsilon" in claim else pl.col("epsilon") <= LARGEST
        here = replace(evidence, scores=evidence.scores.filter(known | within))
        votes = KINDS[claim["kind"]](claim, here)
        verdicts.append(Verdict(claim["id"], claim["says"], claim["source"], *_summarize_votes(votes)))
    return verdicts


def _summarize_votes(votes: pl.DataFrame) -> tuple[str, str, str]:
    """Summarize votes ``dataset, better, value`` to a verdict, numbers and places."""
    if votes.is_empty():
        return "not decided", "the mechanisms, streams or budgets that it compares were not run here", ""
    count = Counter(votes["better"].to_list())
    yes, no = count[True], count[False]
    if 2 * (yes + no) < votes.height:
        verdict = "not decided"
    else:
        verdict = "holds" if not no else "fails" if not yes else "mixed"
    numbers = f"for {yes}, against {no}, open {count[None]} of {votes.height}; {_sizes(votes)}"
    places = [
        f"{name}: {part['better'].sum()} for, {(~part['better'].drop_nulls()).sum()} against of {part.height}"
        for (name,), part in votes.group_by("dataset", maintain_order=True)
    ]
    return verdict, numbers, "; ".join(places)


def _sizes(votes: pl.DataFrame) -> str:
    low, middle, high = (votes["value"].quantile(q, "nearest") for q in (0.0, 0.5, 1.0))
    return f"{votes['unit'][0]} {middle:.2g} in the median, {low:.2g} to {high:.2g}"


_OTHERS = {"baselines": baselines, "all": readers}
"""Mechanisms that a claim compares its own with: the published histograms, or all that read data."""
_VOTE = {"dataset": pl.String, "better": pl.Boolean, "value": pl.Float64, "unit": pl.String}
_EMPTY = pl.DataFrame(schema=_VOTE)


def _votes(table: pl.DataFrame, unit: str) -> pl.DataFrame:
    return table.select("dataset", "better", "value", unit=pl.lit(unit))


def _better(claim: Mapping[str, Any], evidence: Evidence) -> pl.DataFrame:
    """Compare the first of each pair with the second."""
    query, measure = claim.get("query", "frequency"), claim.get("measure", "mse")
    unit = "ratio" if measure in ERRORS else "difference"
    tables = [
        _votes(paired(evidence.scores, first, second, query, measure), unit)
        for first, second in claim["pairs"]
        if evidence.has(first, second)
    ]
    votes = pl.concat([_EMPTY, *tables])
    if claim.get("streams") == "skewed":
        skewed = [name for name, share in evidence.concentration.items() if share >= SKEWED]
        votes = votes.filter(pl.col("dataset").is_in(skewed))
    return votes.sort("dataset", maintain_order=True)


def _best(claim: Mapping[str, Any], evidence: Evidence) -> pl.DataFrame:
    """Compare the best of these mechanisms with the best of the others, in each cell."""
    query, measure = claim.get("query", "frequency"), claim.get("measure", "mse")
    release = claim.get("release", "raw")
    ours = [name for name in claim["mechanisms"] if evidence.has(name)]
    others = [name for name in _OTHERS[claim.get("against", "baselines")]() if evidence.has(name)]
    others = [name for name in others if name not in ours]
    if not ours or not others:
        return _EMPTY
    means = (
        evidence.scores.filter(
            pl.col("query") == query, pl.col("measure") == measure, pl.col("release") == release
        )
        .filter(pl.col("value").is_finite())
        .group_by(*PLACE, "mechanism")
        .agg(pl.col("value").mean())
        .sort(*PLACE, "value", "mechanism", descending=[False] * 3 + [measure not in ERRORS, False])
    )
    best = [
        means.filter(pl.col("mechanism").is_in(side)).group_by(PLACE, maintain_order=True).first()
        for side in (ours, others)
    ]
    duels = best[0].join(best[1], on=PLACE, suffix="_other", maintain_order="left")
    unit = ("ratio" if measure in ERRORS else "difference") + " to the best other"
    rows = [_EMPTY]
    for (first, second), cells in duels.group_by("mechanism", "mechanism_other", maintain_order=True):
        compared = paired(evidence.scores, str(first), str(second), query, measure, release)
        rows.append(_votes(compared.join(cells, on=PLACE, how="semi"), unit))
    return pl.concat(rows).sort("dataset", maintain_order=True)


def _trend(claim: Mapping[str, Any], evidence: Evidence) -> pl.DataFrame:
    """Compare a mechanism's error at the largest value of an axis with its error at the smallest."""
    axis, name = claim["along"], claim["mechanism"]
    other = {"window": "epsilon", "epsilon": "window"}[axis]
    scores = evidence.scores.filter(pl.col("mechanism") == name)
    ends = scores.select(pl.col(axis).min().alias("low"), pl.col(axis).max().alias("high"))
    if scores.is_empty() or ends["low"][0] == ends["high"][0]:
        return _EMPTY
    sides = {"small": ends["low"][0], "large": ends["high"][0]}
    both = [
        scores.filter(pl.col(axis) == value).with_columns(
            pl.lit(side).alias("mechanism"), pl.lit(0, scores.schema[axis]).alias(axis)
        )
        for side, value in sides.items()
    ]
    compared = paired(pl.concat(both), "small", "large").with_columns(value=1 / pl.col("value"))
    return _votes(compared.sort("dataset", other), f"error at the largest {axis} / at the smallest")


def _sampling(claim: Mapping[str, Any], evidence: Evidence) -> pl.DataFrame:
    """Compare LSP with the best other on the stablest stream, and with the worst where most moves."""
    known = rivals(evidence.scores).filter(pl.col("mechanism").is_in(published()))
    means = known.group_by(*PLACE, "mechanism").agg(pl.col("value").mean())
    names = sorted(set(means["dataset"]), key=lambda name: evidence.movement[name])
    if not evidence.has("lsp") or len(names) < 2:
        return _EMPTY
    others = means.filter(pl.col("mechanism") != "lsp").sort(*PLACE, "value", "mechanism")
    best = others.filter(pl.col("dataset") == names[0]).group_by(PLACE, maintain_order=True).first()
    worst = others.filter(pl.col("dataset") == names[-1]).group_by(PLACE, maintain_order=True).last()
    rows = [_EMPTY]
    for cells, sign in ((best, 1), (worst, -1)):
        for (rival,), here in cells.group_by("mechanism", maintain_order=True):
            duel = paired(evidence.scores, "lsp", str(rival)).join(here, on=PLACE, how="semi")
            claimed = duel if sign > 0 else duel.with_columns(better=~pl.col("better"))
            rows.append(_votes(claimed, "LSP's error / the best other's, or the worst other's,"))
    return pl.concat(rows)


KINDS: dict[str, Callable[[Mapping[str, Any], Evidence], pl.DataFrame]] = {
    "better": _better,
    "best": _best,
    "trend": _trend,
    "sampling": _sampling,
}


def as_rows(verdicts: list[Verdict]) -> pl.DataFrame:
    """Put verdicts into a table."""
    return pl.DataFrame([vars(verdict) for verdict in verdicts])
