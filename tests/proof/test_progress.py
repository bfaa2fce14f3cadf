"""The progress bar shows the gap, and callbacks are called together."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from kempe import certify
from kempe.proof import OptimalityCertificate, ProofCallbacks, ProofState, progress
from kempe.proof.progress import ProofBar, ProofCallbackList, display


class Listener(ProofCallbacks):
    """Notes what it hears."""

    def __init__(self, wish: bool | None = None) -> None:
        self.heard: list[str] = []
        self.wish = wish

    def on_start(self, n_rows, n_groups, n_clusters):
        self.heard.append(f"start {n_rows} {n_groups} {n_clusters}")

    def on_bound(self, state):
        self.heard.append(f"gap {state.gap:.2f}")
        return self.wish

    def on_end(self, certificate):
        self.heard.append(f"end {certificate.gap:.2f}")

    def on_close(self):
        self.heard.append("close")


def certificate(bound: float) -> OptimalityCertificate:
    return OptimalityCertificate(np.zeros(1, dtype=np.int32), 1, (), bound, 2.0, "")


@pytest.mark.parametrize("wish", [None, False, True])
def test_all_callbacks_hear_everything_and_any_can_end_the_proof(wish):
    listeners = [Listener(wish), Listener()]
    together = ProofCallbackList(listeners)
    together.on_start(10, 8, 2)
    assert together.on_bound(ProofState(0.5, 1.0, 2.0)) == bool(wish)
    together.on_end(certificate(1.5))
    together.on_close()
    for listener in listeners:
        assert listener.heard == ["start 10 8 2", "gap 0.50", "end 0.25", "close"]


def test_the_bar_shows_the_gap_and_how_it_ended():
    screen = io.StringIO()
    bar = ProofBar(time_limit=10.0, gap=1e-4, console=Console(file=screen, width=120))
    bar.on_start(10, 8, 2)
    assert bar.on_bound(ProofState(1.0, 1.0, 2.0, n_nodes=5, n_open=3)) is None
    bar.on_end(certificate(2.0))
    bar.on_close()
    assert "10 rows, 8 groups, 2 clusters" in screen.getvalue()
    assert "gap 0 %  proven optimal" in screen.getvalue()


def test_the_bar_is_full_when_the_gap_is_closed_or_the_time_is_over():
    bar = ProofBar(time_limit=10.0, gap=1e-4)
    assert bar._share(ProofState(0.0, 1.0, 2.0)) == 0.0
    assert bar._share(ProofState(1.0, 2.0 - 1e-2, 2.0)) == pytest.approx(np.log(100) / np.log(5000))
    assert bar._share(ProofState(1.0, 2.0 - 1e-4, 2.0)) == 1.0
    assert bar._share(ProofState(10.0, 1.0, 2.0)) == 1.0


@pytest.mark.parametrize(("verbose", "shown"), [(0, 0), (1, 1), (2, 1)])
def test_verbosity_shows_a_bar(verbose, shown):
    assert len(display(verbose, None, 1e-4)) == shown


@pytest.mark.parametrize(
    ("verbose", "after", "shown"), [(0, -1, False), (1, -1, True), (1, 60, False)]
)
def test_a_check_that_takes_long_shows_how_far_it_is(capsys, monkeypatch, verbose, after, shown):
    X = np.random.default_rng(0).normal(size=(40, 2))
    certificate = certify(X, n_clusters=3, time_limit=5.0, random_state=0)
    monkeypatch.setattr(progress, "SHOWN_AFTER", after)
    proven = certificate.verify(X, verbose=verbose)
    assert proven.lower_bound == certificate.lower_bound
    assert ("checking 40 rows" in capsys.readouterr().err) == shown
