"""Scores of a release: every measure against the truth of its stream."""

from collections.abc import Iterator, Mapping

import numpy as np

from mtsp_ldp.evaluation.measures import (
    change_coverage,
    coverage,
    detection,
    errors,
    event_runs,
    follows,
    ratio,
    roc,
)
from mtsp_ldp.evaluation.targets import EventQuery, RangeTarget
from mtsp_ldp.evaluation.workload import RANGES_PER_CLASS, Workload
from mtsp_ldp.releases.events import flags
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.windows import Estimate, PeriodQuery

Score = tuple[str, str, float]
Answers = Mapping[PeriodQuery, Estimate]
"""Answers of a release to all questions of a workload."""


def score(release: Release, workload: Workload) -> list[Score]:
    """Compute all measures of a release against the right answers.

    Parameters
    ----------
    release
        Release of the stream that the workload is of.
    workload
        Queries of that stream and their right answers; one serves all releases of it.

    Returns
    -------
    list
        Triples (query, measure, value), always in the same order.
    """
    answers = dict(zip(workload.questions, release.answer(workload.questions), strict=True))
    return [
        *_counting(answers, workload),
        *_ranges(answers, release, workload),
        *(found for watch in workload.watches for found in _events(answers, watch)),
        *_known(answers, workload),
    ]


def _counting(answers: Answers, workload: Workload) -> Iterator[Score]:
    for target in workload.cells:
        answer = answers[target.asked]
        found = errors(target.share(answer), target.true, relative=True)
        if target.asked.delta == 1:
            yield from _named("frequency", {measure: found[measure] for measure in ("mse", "mae")})
            yield "frequency", "timestamps_left_out", float(workload.nobody.sum())
            busiest = workload.busiest
            yield "frequency", "follows", follows(target.share(answer)[:, busiest], target.true[:, busiest])
        yield from _named(f"counting_{target.asked.delta}", found)
        yield from _coverage(answer, target, workload)


def _coverage(answer: Estimate, target: RangeTarget, workload: Workload) -> Iterator[Score]:
    """Say how many truths are in the intervals that a mechanism states: of all, busy and quiet cells."""
    if answer.variances is None:
        return
    name, parts = f"counting_{target.asked.delta}", {"coverage": np.arange(target.true.shape[1])}
    if target.true.shape[1] > workload.busiest.size:
        parts["coverage_busy"] = workload.busiest
        parts["coverage_quiet"] = np.setdiff1d(parts["coverage"], workload.busiest)
    share, variance = target.share(answer), answer.variances / target.users**2
    for measure, cells in parts.items():
        yield name, measure, coverage(share[:, cells], variance[:, cells], target.true[:, cells])


def _ranges(answers: Answers, release: Release, workload: Workload) -> Iterator[Score]:
    ours, true = workload.intervals.share(answers[workload.intervals.asked]), workload.intervals.true
    for number, name in enumerate(workload.ranges):
        part = slice(number * RANGES_PER_CLASS, (number + 1) * RANGES_PER_CLASS)
        yield from _named(f"range_{name}", errors(ours[:, part], true[:, part], relative=True))
    yield from _named("range", errors(ours, true, relative=True))
    if workload.boxes is not None:
        yield from _named("box", errors(workload.boxes.estimate(release), workload.boxes.true, relative=True))


def _events(answers: Answers, watch: EventQuery) -> Iterator[Score]:
    happens = watch.happens[watch.defined]
    yield from _named(
        watch.query,
        {
            "events": float(happens.sum()),
            "timestamps": float(happens.size),
            "timestamps_left_out": float((~watch.defined).sum()),
            "cells": float(watch.cells.size),
            "cells_without_events": float(watch.skipped),
        },
    )
    if not watch.cells.size:
        return
    answer = answers[watch.asked].at(watch.defined)
    flagged, change = flags(answer, watch.thresholds), answer.values
    if answer.variances is not None:
        yield watch.query, "coverage", change_coverage(change, answer.variances, watch.true)
    each = [
        detection(yes, flag) | roc(yes, rise)
        for yes, flag, rise in zip(happens.T, flagged.T, change.T, strict=True)
    ]
    for measure in each[0]:
        values = np.array([one[measure] for one in each])
        known = values[~np.isnan(values)]
        yield watch.query, f"{measure}_macro", float(known.mean()) if known.size else float("nan")
    pooled = (change - watch.thresholds) / watch.scale
    always = [detection(yes, np.ones_like(yes))["f1"] for yes in happens.T]
    yield watch.query, "f1_always_macro", float(np.mean(always))
    whole = detection(happens.ravel(), flagged.ravel()) | roc(happens.ravel(), pooled.ravel())
    yield from ((watch.query, f"{measure}_pooled", value) for measure, value in whole.items())
    runs = [event_runs(yes, flag) for yes, flag in zip(happens.T, flagged.T, strict=True)]
    number, found = sum(run.number for run in runs), sum(run.found for run in runs)
    yield watch.query, "runs", float(number)
    yield watch.query, "run_recall", ratio(found, number)
    yield watch.query, "run_delay", ratio(sum(run.delay for run in runs), found)


def _known(answers: Answers, workload: Workload) -> Iterator[Score]:
    """Tell whether each event that the data set names is flagged."""
    for alarm in workload.alarms:
        flagged = flags(answers[alarm.asked], alarm.bar)[alarm.after, 0]
        on = "share" if alarm.asked.relative else "count"
        yield alarm.query, f"found_{alarm.asked.delta}_{on}", float(flagged.any())


def _named(query: str, found: dict[str, float]) -> Iterator[Score]:
    for measure, value in found.items():
        yield query, measure, value
