"""Doubts about a prepared stream: what a wrong reading of the records would look like. Nothing is changed."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.streams.facts import PreparedFacts

_MANY = 100
_YEARS = (1980, 2100)
_CUTS = 5
_MOST = 0.9
_LONG, _FEW = 0.1, 0.001
"""Share of the slots that a gap at least has, and of the positions that lie beyond it, to be doubted."""


def doubts(facts: PreparedFacts) -> list[str]:
    """List what looks wrong, a line each, with the key that mends it.

    Returns
    -------
    list
        Lines about long gaps without users, a single slot, dates that no phone has, users with one record
        each, and records that another one of the slot supersedes; empty where nothing does.
    """
    checks = (_gaps, _one_slot, _far_dates, _users_of_one_record, _superseded)
    return [line for check in checks for line in check(facts)]


def _gaps(facts: PreparedFacts) -> list[str]:
    """Find gaps that are longer than all the rest, from the longest on; each cuts the smaller part off."""
    active, (first, last) = np.array(facts.active, dtype=np.int64), (0, len(facts.active))
    found = []
    for _ in range(_CUTS):
        busy = first + np.flatnonzero(active[first:last])
        gaps = np.diff(busy) - 1
        if not gaps.size or 2 * gaps.max() <= last - first:
            break
        place = int(gaps.argmax())
        end, start = int(busy[place]), int(busy[place + 1])
        before, after = int(active[first : end + 1].sum()), int(active[start:last].sum())
        key = f"origin: '{_clock(facts, start)}'" if after >= before else f"length: {end + 1 - first}"
        found.append(
            f"nobody is there in {start - end - 1:,} of {last - first:,} slots, after {_clock(facts, end)} "
            f"and before {_clock(facts, start)}; positions before: {before:,}, after: {after:,}; {key} "
            "takes the larger part"
        )
        first, last = (start, last) if after >= before else (first, end + 1)
    found += _lone_ends(facts) if not found else []
    found += _empty_ends(facts, np.flatnonzero(active), active.size)
    empty = int((active == 0).sum())
    if not found and 2 * empty > active.size:
        found.append(f"nobody is there in {empty:,} of {facts.T:,} slots: longer slot_minutes or hold help")
    return found


def _lone_ends(facts: PreparedFacts) -> list[str]:
    """Find a few positions before or after a gap that is long for what they are."""
    active = np.array(facts.active, dtype=np.int64)
    there, total = np.flatnonzero(active), int(active.sum())
    lines = []
    for place in np.flatnonzero(np.diff(there) - 1 > _LONG * active.size):
        end, start = int(there[place]), int(there[place + 1])
        before = int(active[: end + 1].sum())
        few, key = (
            (before, f"origin: '{_clock(facts, start)}'")
            if 2 * before < total
            else (total - before, f"length: {end + 1}")
        )
        if few <= _FEW * total:
            lines.append(
                f"{few:,} of {total:,} positions lie far from the others: nobody is there after "
                f"{_clock(facts, end)} and before {_clock(facts, start)}; {key} takes the others"
            )
    return lines


def _empty_ends(facts: PreparedFacts, there: IntArray, slots: int) -> list[str]:
    """Find an empty beginning or end that is longer than the rest."""
    if not there.size:
        return []
    early, late = int(there[0]), slots - 1 - int(there[-1])
    lines = {
        "origin": (early, f"before {_clock(facts, int(there[0]))}"),
        "length": (late, f"after {_clock(facts, int(there[-1]))}"),
    }
    return [
        f"nobody is there in {gap:,} of {slots:,} slots {where}: {key} cuts"
        for key, (gap, where) in lines.items()
        if 2 * gap > slots
    ]


def _clock(facts: PreparedFacts, t: int) -> str:
    """Tell when a slot starts, on the clocks of the stream."""
    if facts.origin is None or facts.slot_minutes is None:
        return f"slot {t}"
    zone = ZoneInfo(facts.clock)
    begin = datetime.fromisoformat(facts.origin).replace(tzinfo=zone).astimezone(ZoneInfo("UTC"))
    there = begin + timedelta(minutes=t * facts.slot_minutes)
    return there.astimezone(zone).replace(tzinfo=None).isoformat(sep=" ")


def _one_slot(facts: PreparedFacts) -> list[str]:
    if facts.T > 1:
        return []
    return ["all records lie in one slot: time_format (a wrong unit?), length or slot_minutes"]


def _far_dates(facts: PreparedFacts) -> list[str]:
    if facts.start is None:
        return []
    ends = [_clock(facts, t) for t in (0, facts.T - 1)]
    if _YEARS[0] <= int(ends[0][:4]) and int(ends[1][:4]) < _YEARS[1]:
        return []
    return [f"the slots lie from {ends[0]} to {ends[1]}: time_format, or a record of no time"]


def _superseded(facts: PreparedFacts) -> list[str]:
    reasons = facts.rows_by_reason
    share = reasons.get("superseded_in_slot", 0) / max(facts.rows or 0, 1)
    if share <= _MOST or facts.T == 1:
        return []
    return [f"{share:.1%} of the records are superseded in their slot: a shorter slot_minutes keeps more"]


def _users_of_one_record(facts: PreparedFacts) -> list[str]:
    kept = facts.rows_by_reason.get("kept", 0)
    if facts.kind != "panel" or facts.users < _MANY or facts.users < kept:
        return []
    return [f"each of {facts.users:,} users has one record: is the column of users one of people?"]
