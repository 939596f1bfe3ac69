"""Doubts about a prepared stream: what a wrong reading of the records would look like. Nothing is changed."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from mtsp_ldp.streams.stream import Stream

_MANY = 100
_YEARS = (1980, 2100)
_CUTS = 5
_MOST = 0.9


def doubts(stream: Stream) -> list[str]:
    """List what looks wrong, a line each, with the key that mends it.

    Returns
    -------
    list
        Lines about long gaps without users, a single slot, dates that no phone has, users with one record
        each, and records that another one of the slot supersedes; empty where nothing does.
    """
    checks = (_gaps, _one_slot, _far_dates, _users_of_one_record, _superseded)
    return [line for check in checks for line in check(stream)]


def _gaps(stream: Stream) -> list[str]:
    """Find gaps that are longer than all the rest, from the longest on; each cuts the smaller part off."""
    first, last = 0, stream.length
    found = []
    for _ in range(_CUTS):
        busy = first + np.flatnonzero(stream.active[first:last])
        gaps = np.diff(busy) - 1
        if not gaps.size or 2 * gaps.max() <= last - first:
            break
        place = int(gaps.argmax())
        end, start = int(busy[place]), int(busy[place + 1])
        before, after = int(stream.active[first : end + 1].sum()), int(stream.active[start:last].sum())
        key = f"origin: '{_clock(stream, start)}'" if after >= before else f"length: {end + 1 - first}"
        found.append(
            f"nobody is there in {start - end - 1:,} of {last - first:,} slots, after {_clock(stream, end)} "
            f"and before {_clock(stream, start)}; positions before: {before:,}, after: {after:,}; {key} "
            "takes the larger part"
        )
        first, last = (start, last) if after >= before else (first, end + 1)
    empty = int((stream.active == 0).sum())
    if not found and 2 * empty > stream.length:
        found.append(
            f"nobody is there in {empty:,} of {stream.length:,} slots: longer slot_minutes or hold help"
        )
    return found


def _clock(stream: Stream, t: int) -> str:
    """Tell when a slot starts, on the clocks of the stream."""
    facts = stream.facts
    if facts.origin is None or facts.slot_minutes is None:
        return f"slot {t}"
    zone = ZoneInfo(facts.clock)
    begin = datetime.fromisoformat(facts.origin).replace(tzinfo=zone).astimezone(ZoneInfo("UTC"))
    there = begin + timedelta(minutes=t * facts.slot_minutes)
    return there.astimezone(zone).replace(tzinfo=None).isoformat(sep=" ")


def _one_slot(stream: Stream) -> list[str]:
    if stream.length > 1:
        return []
    return ["all records lie in one slot: time_format (a wrong unit?), length or slot_minutes"]


def _far_dates(stream: Stream) -> list[str]:
    if stream.facts.start is None:
        return []
    ends = [_clock(stream, t) for t in (0, stream.length - 1)]
    if _YEARS[0] <= int(ends[0][:4]) and int(ends[1][:4]) < _YEARS[1]:
        return []
    return [f"the slots lie from {ends[0]} to {ends[1]}: time_format, or a record of no time"]


def _superseded(stream: Stream) -> list[str]:
    reasons = stream.facts.rows_by_reason
    share = reasons.get("superseded_in_slot", 0) / max(stream.facts.rows or 0, 1)
    if share <= _MOST or stream.length == 1:
        return []
    return [f"{share:.1%} of the records are superseded in their slot: a shorter slot_minutes keeps more"]


def _users_of_one_record(stream: Stream) -> list[str]:
    kept = stream.facts.rows_by_reason.get("kept", 0)
    if not stream.is_panel or stream.users < _MANY or stream.users < kept:
        return []
    return [f"each of {stream.users:,} users has one record: is the column of users one of people?"]
