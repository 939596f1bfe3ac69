import numpy as np
import pytest

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.experiments.config import dataset_config
from mtsp_ldp.foundation.grid import hilbert_grid, hilbert_order


def test_flights_agree_with_an_independent_build(stream):
    flights = stream("flights")
    assert (flights.d, flights.users, flights.length) == (95, 3078, 672)
    assert flights.active.mean() == pytest.approx(694.7, abs=0.05)
    assert flights.active[6 * 24 + 12] == 748
    assert flights.active[8 * 24 : 9 * 24].min() == 184
    assert sum(flights.facts.rows_by_reason.values()) == flights.facts.rows == 336_776
    assert flights.replicate == 150
    codes = [cell.name for cell in flights.facts.cells]
    assert {"BQN", "PSE", "SJU", "STT", "JFK", "LGA", "EWR"} <= set(codes)
    # neighbours on the map are neighbours in the tree
    assert (
        max(codes.index(c) for c in ("JFK", "LGA", "EWR")) - min(map(codes.index, ("JFK", "LGA", "EWR"))) <= 4
    )


def test_a_position_holds_for_a_day(stream):
    flights = stream("flights")
    users = np.concatenate([flights.at(t)[0] for t in range(672)])
    times = np.repeat(np.arange(672), flights.active)
    order = np.lexsort((times, users))
    stays = np.diff(
        np.flatnonzero(np.r_[True, (np.diff(users[order]) != 0) | (np.diff(times[order]) != 1), True])
    )
    assert stays.min() >= 1
    assert (stays == 24).sum() > 20  # one event and nothing after it


def test_the_city_is_as_described(stream):
    city = stream("city")
    assert (city.d, city.length) == (64, 240)
    share = city.active / 100_000
    assert 0.14 < share.min() < 0.17
    assert 0.43 < share.max() < 0.47
    popular = np.sort(city.frequencies.mean(axis=0))[::-1]
    assert 0.45 < popular[:10].sum() < 0.55
    crowd, evacuation, other = city.facts.events
    for event in (crowd, other):
        before, during = city.counts[[event.start - 1, event.start], event.cell]
        assert during > 3 * before
    before, during = city.counts[[evacuation.start - 1, evacuation.start], evacuation.cell]
    assert during < before / 10


def test_a_finer_grid_is_the_same_city(tmp_path):
    config = {**dataset_config("city"), "people": 2000, "days": 1, "events": []}
    coarse = configured({**config, "grid": 4}).prepare(tmp_path)
    fine = configured({**config, "grid": 16}).prepare(tmp_path)
    # 16 consecutive Hilbert cells of the finer grid are one cell of the coarser, in the same order
    assert np.array_equal(fine.counts.reshape(48, 16, 16).sum(axis=2), coarse.counts)


def test_lns_is_reflected_and_has_paths(tmp_path):
    config = {**dataset_config("lns"), "length": 20000}
    one, other = (configured({**config, "path": path}).shares() for path in (0, 1))
    assert one.min() >= 0
    assert one.max() <= 1
    assert not np.array_equal(one, other)
    assert np.abs(np.diff(one)).std() < 0.0025


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "nope"}, "format='nope'"),
        ({"hoold": 3}, "hoold: unknown key; allowed: name"),
        ({"replicate": 0}, "replicate=0"),
    ],
)
def test_a_bad_data_set_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        configured({**dataset_config("flights"), **change})


def test_hilbert_neighbours_touch():
    numbers = hilbert_grid(8)
    places = np.array([np.argwhere(numbers == i)[0] for i in range(64)])
    assert (np.abs(np.diff(places, axis=0)).sum(axis=1) == 1).all()
    assert hilbert_grid(1).tolist() == [[0]]
    with pytest.raises(ValueError, match="grid=0"):
        hilbert_grid(0)
    # a side that is no power of two leaves squares out of the next larger curve, and keeps its order
    six = hilbert_grid(6)
    assert sorted(six.ravel().tolist()) == list(range(36))
    assert (np.argsort(six.ravel()) == np.argsort(numbers[:6, :6].ravel())).all()
    assert sorted(hilbert_order([0, 1, 2, 2], [0, 1, 0, 0])) == [0, 1, 2, 3]
