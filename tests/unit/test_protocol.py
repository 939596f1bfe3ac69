import math

import numpy as np
import pytest
from scipy import stats

from mtsp_ldp import Stream, simulate
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.oracle import OUE
from mtsp_ldp.protocol import Client, Refusal, Report, Request, Server, WireError
from mtsp_ldp.survey import Question

D, USERS, LENGTH, WINDOW, EPSILON = 5, 200, 24, 6, 1.0
NAMES = [name for name, entry in mechanisms().items() if entry.kind.reads_data]
CELLS = Question(np.arange(D))


def request(t=0, epsilon=EPSILON, question=CELLS):
    return Request.of(t, OUE(epsilon), question).encode()


def client(**kwargs):
    made = Client(7, EPSILON, WINDOW, **kwargs)
    made.cell = 3
    return made


def test_messages_round_trip():
    again = Request.decode(request(9, 0.25))
    assert (again.t, again.epsilon, again.oracle) == (9, 0.25, "oue")
    assert again.question.labels.tolist() == list(range(D))
    report = Report(9, 77, 2**40, np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], bool))
    decoded = Report.decode(report.encode())
    assert (decoded.t, decoded.request, decoded.reporter) == (9, 77, 2**40)
    assert decoded.bits.tolist() == report.bits.tolist()
    assert len(report.encode()) == 22 + 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        request()[:-1],
        request() + b"\0",
        b"XX" + request()[2:],
        request()[:2] + b"\2" + request()[3:],
        request()[:8] + b"\x7f\xf8" + b"\0" * 6 + request()[16:],
        request()[:-2] + b"\0\x09",
    ],
)
def test_a_client_refuses_bytes_that_are_no_request(raw):
    made = client()
    with pytest.raises(WireError):
        made.answer(raw)
    assert made.answer(request())


def test_a_client_does_not_trust_the_server():
    made = client()
    made.answer(request(0, 0.6))
    with pytest.raises(Refusal, match="window would spend"):
        made.answer(request(WINDOW - 1, 0.5))
    made.answer(request(WINDOW - 1, 0.4))
    with pytest.raises(Refusal, match="already at"):
        made.answer(request(0, 0.1))
    made.answer(request(WINDOW, 0.6))
    with pytest.raises(Refusal, match="window would spend"):
        made.answer(request(WINDOW, 1e-9))
    made.cell = None
    with pytest.raises(Refusal, match="inactive"):
        made.answer(request(50))


def test_a_client_answers_with_the_operating_systems_noise():
    bits = np.array([Report.decode(client().answer(request())).bits for _ in range(3000)]).sum(axis=0)
    oracle = OUE(EPSILON)
    for cell, seen in enumerate(bits):
        chance = oracle.p if cell == 3 else oracle.q
        assert stats.binomtest(int(seen), 3000, chance).pvalue > 1e-5


class City:
    """Clients who walk, come and go, and the wire between them and a server."""

    def __init__(self, seed, users=USERS):
        rng = np.random.default_rng(seed)
        self.clients = [Client(i, EPSILON, WINDOW, np.random.default_rng([seed, i])) for i in range(users)]
        self.cells = rng.choice(D, (LENGTH, users), p=[0.4, 0.3, 0.15, 0.1, 0.05])
        self.there = rng.random((LENGTH, users)) < 0.8

    def turn(self, t):
        for number, made in enumerate(self.clients):
            made.cell = int(self.cells[t, number]) if self.there[t, number] else None
        return np.flatnonzero(self.there[t])

    def deliver(self, requests):
        return [self.clients[number].answer(raw) for number, raw in requests.items()]

    @property
    def stream(self):
        t, user = np.nonzero(self.there)
        return Stream.from_panel(t, user, self.cells[t, user], D)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_runs_over_clients_who_never_refuse(name):
    city = City(1)
    server = Server(name, D, USERS, epsilon=EPSILON, window=WINDOW, seed=3)
    for t in range(LENGTH):
        released = server.step(t, city.turn(t), city.deliver)
        assert released.shape == (D,)
        assert np.isfinite(released).all()
    assert server.fleet.rejected == {}


@pytest.mark.parametrize("name", ["lbu", "lpa", "mtsp_population"])
def test_the_protocol_and_the_simulation_agree_in_law(name):
    last = {"protocol": [], "simulation": []}
    city = City(2, users=60)
    stream = city.stream
    for seed in range(120):
        for number, made in enumerate(city.clients):
            made.__init__(number, EPSILON, WINDOW, np.random.default_rng([seed, number]))
        server = Server(name, D, 60, epsilon=EPSILON, window=WINDOW, seed=seed)
        for t in range(8):
            released = server.step(t, city.turn(t), city.deliver)
        last["protocol"].append(released)
        release = simulate(stream, name, epsilon=EPSILON, window=WINDOW, seed=seed)
        last["simulation"].append(release.frequencies[7])
    ours, theirs = (np.array(part) for part in last.values())
    for cell in range(D):
        assert stats.ks_2samp(ours[:, cell], theirs[:, cell]).pvalue > 0.01 / D / 3


def test_bad_reports_are_counted_and_never_change_an_estimate():
    def hostile(city, clean):
        memory = []

        def deliver(requests):
            good = city.deliver(requests)
            if clean:
                return good
            number = next(iter(requests))
            answered = Report.decode(good[0])
            bad = [
                b"noise",
                good[0][:-1],
                good[0] + b"\0" * 50,
                good[0],
                Report(answered.t, answered.request, 10**6, answered.bits).encode(),
                Report(answered.t + 1, answered.request, number, answered.bits).encode(),
                Report(answered.t, answered.request ^ 1, number, answered.bits).encode(),
                good[0][:-1] + bytes([good[0][-1] | 1]),
                *memory,
            ]
            memory[:] = good[:1]
            return [*good, *bad]

        return deliver

    runs = []
    for clean in (True, False):
        city = City(5)
        server = Server("lpa", D, USERS, epsilon=EPSILON, window=WINDOW, seed=9)
        deliver = hostile(city, clean)
        runs.append([server.step(t, city.turn(t), deliver) for t in range(LENGTH)])
    assert np.array_equal(*runs)
    reasons = server.fleet.rejected
    assert {"malformed", "oversized", "duplicate", "not asked", "early", "late"} <= set(reasons)
    assert "missing" not in reasons


def test_silence_is_counted_and_survived():
    city = City(6)
    server = Server("lba", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1)
    for t in range(LENGTH):
        silent = t in (4, 5, 9)
        released = server.step(t, city.turn(t), (lambda requests: []) if silent else city.deliver)
        assert np.isfinite(released).all()
    assert server.fleet.rejected["missing"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_crash_never_asks_a_user_twice_in_a_window(name, tmp_path):
    city, state = City(7), tmp_path / "state"
    server = Server(name, D, USERS, epsilon=EPSILON, window=WINDOW, seed=2, state=state)
    rng, crashes = np.random.default_rng(0), 0

    def fragile(requests):
        answers = city.deliver(requests)
        if rng.random() < 0.3:
            raise ConnectionError
        return answers

    for t in range(LENGTH):
        try:
            server.step(t, city.turn(t), fragile)
        except ConnectionError:
            crashes += 1
            server = Server.restore(state)
    # a client that were asked once too often would have raised a Refusal
    assert crashes > 2
    with pytest.raises(ValueError, match="already at"):
        server.step(LENGTH - 2, [], city.deliver)


def test_a_restored_server_goes_on_as_if_nothing_had_happened(tmp_path):
    def publish(pause):
        city = City(8)
        server = Server("mtsp_population", D, USERS, epsilon=EPSILON, window=WINDOW, seed=4)
        out = []
        for t in range(LENGTH):
            if t == pause:
                server.save(tmp_path / "state")
                server = Server.restore(tmp_path / "state")
            out.append(server.step(t, city.turn(t), city.deliver))
        return np.array(out)

    assert np.array_equal(publish(None), publish(11))


def test_a_stream_runs_for_ever_in_constant_memory(tmp_path):
    sizes = []
    for name in ("lbd", "lpa", "mtsp_population"):
        city = City(9, users=40)
        server = Server(name, D, 40, epsilon=EPSILON, window=WINDOW, seed=4)
        for t in range(400):
            for number, made in enumerate(city.clients):
                made.cell = int(city.cells[t % LENGTH, number])
            server.step(t, np.arange(40), city.deliver)
            if t in (100, 399):
                server.save(tmp_path / "state")
                sizes.append((tmp_path / "state").stat().st_size)
    for early, late in zip(sizes[::2], sizes[1::2], strict=True):
        assert late < early * 1.1
    assert math.isfinite(sum(sizes))
