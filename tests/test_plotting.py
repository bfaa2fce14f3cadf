"""Pictures have the parts they should have."""

from __future__ import annotations

import builtins

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

mpl.use("Agg")
from matplotlib import pyplot as plt

from kempe import Constraints
from kempe.plotting import (
    CertificateDisplay,
    plot_clusters,
    plot_constraint_graph,
    plot_convergence,
)
from kempe.plotting._style import BROKEN, COLOURS, GIVEN_UP, MARKERS, colour, marker
from kempe.plotting.graph import spring_layout
from kempe.proof import OptimalityCertificate
from kempe.proof.nodes import SoftPairs
from kempe.search.recorder import Recorder
from kempe.search.result import Solution


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def result(planted):
    recorder = Recorder(planted(0).problem)
    for kind, inertia in (("start", 5.0), ("perturb", 4.0), ("relocate", 4.5)):
        recorder.record(Solution(None, inertia, inertia), kind)
    return recorder.result()


def drawn_lines(ax):
    """Number of lines by label."""
    return {
        c.get_label(): len(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments")
    }


def drawn_points(ax):
    return sum(len(c.get_offsets()) for c in ax.collections if not hasattr(c, "get_segments"))


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_every_row_is_a_point(planted, n_features):
    instance = planted(0, n_features=n_features)
    ax = plot_clusters(instance.X, instance.labels)
    assert drawn_points(ax) == 60


def test_principal_components_keep_the_widest_directions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * [0.1, 10, 0.1, 3]
    ax = plot_clusters(X, np.zeros(200))
    spread = np.asarray(ax.collections[0].get_offsets()).std(axis=0)
    assert spread == pytest.approx(X.std(axis=0)[[1, 3]], rel=0.05)


def test_violated_pairs_are_red_and_counted():
    X = np.arange(8.0).reshape(4, 2)
    constraints = Constraints([(0, 1), (0, 2)], [(2, 3), (1, 3)])
    ax = plot_clusters(X, [0, 0, 1, 1], constraints)
    assert drawn_lines(ax) == {
        "must-link": 1,
        "must-link, violated (1)": 1,
        "cannot-link": 1,
        "cannot-link, violated (1)": 1,
    }
    colours = {
        c.get_label(): to_hex(c.get_color()[0])
        for c in ax.collections
        if hasattr(c, "get_segments")
    }
    assert all(("violated" in name) == (c == BROKEN.lower()) for name, c in colours.items())


def test_no_more_pairs_are_drawn_than_wanted(planted):
    instance = planted(0, n_pairs=500)
    ax = plot_clusters(instance.X, instance.labels, instance.constraints, max_pairs=7)
    assert drawn_lines(ax) == {"must-link": 7, "cannot-link": 7}


def test_centres_are_drawn_where_they_are(planted):
    X = planted(0).X
    ax = plot_clusters(X, np.zeros(60), centers=[[1.0, 2.0]])
    assert np.asarray(ax.collections[-1].get_offsets()).tolist() == [[1.0, 2.0]]


def test_given_axes_are_used(planted, result):
    instance = planted(0)
    _, panels = plt.subplots(1, 3)
    assert plot_clusters(instance.X, instance.labels, ax=panels[0]) is panels[0]
    assert plot_convergence(result, ax=panels[1]) is panels[1]
    assert plot_constraint_graph(instance.constraints, ax=panels[2]) is panels[2]


@pytest.mark.parametrize("labels", [[0, 1], np.zeros((60, 1))])
def test_labels_must_fit_the_data(planted, labels):
    instance = planted(0)
    with pytest.raises(ValueError, match="labels must have shape"):
        plot_clusters(instance.X, labels)
    with pytest.raises(ValueError, match="labels must have shape"):
        plot_constraint_graph(instance.problem, labels)


@pytest.mark.parametrize("against", ["time", "iteration"])
def test_convergence_shows_all_solutions_and_the_best(result, against):
    ax = plot_convergence(result, against=against)
    assert drawn_points(ax) == 3
    assert ax.lines[0].get_ydata().tolist() == [5.0, 4.0, 4.0]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["start", "perturb", "relocate", "best"]


def test_convergence_refuses_other_axes(result):
    with pytest.raises(ValueError, match="'time' or 'iteration'"):
        plot_convergence(result, against="moon")


def test_the_graph_has_a_dot_per_bound_supernode_and_a_line_per_edge(planted):
    instance = planted(0, n_pairs=30)
    problem = instance.problem
    ax = plot_constraint_graph(problem, instance.labels)
    assert drawn_points(ax) == np.count_nonzero(problem.graph.degree)
    assert [len(c.get_segments()) for c in ax.collections[:2]] == [problem.graph.n_edges, 0]


def test_the_graph_marks_edges_inside_a_cluster(planted):
    instance = planted(0, n_pairs=30)
    ax = plot_constraint_graph(instance.constraints, np.zeros(instance.constraints.n_rows or 60))
    assert [len(c.get_segments()) for c in ax.collections[:2]] == [
        0,
        instance.problem.graph.n_edges,
    ]


def test_a_large_graph_is_cut_and_this_is_said(planted):
    instance = planted(0, n_rows=200, n_pairs=300)
    ax = plot_constraint_graph(instance.problem, max_nodes=20)
    assert drawn_points(ax) == 20
    assert "20 supernodes with most pairs" in ax.get_title()


def test_an_empty_graph_can_be_drawn():
    assert drawn_points(plot_constraint_graph(Constraints(n_rows=5))) == 0


def test_the_layout_puts_neighbours_closer_than_strangers(planted):
    graph = planted(0, n_rows=40, n_pairs=30).problem.graph.matrix
    places = spring_layout(graph, np.random.default_rng(0))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    adjacent = graph.toarray() > 0
    assert distance[adjacent].mean() < 0.5 * distance[~adjacent].mean()


def test_seventy_clusters_look_different():
    assert len({(colour(c), marker(c)) for c in range(70)}) == 70 == len(COLOURS) * len(MARKERS)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, planted):
    real = builtins.__import__

    def without_matplotlib(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r'pip install "kempe\[plot\]"'):
        plot_clusters(planted(0).X, planted(0).labels)


def test_both_bounds_of_a_certificate_end_where_it_does():
    history = np.array([[0.1, 1.0, 5.0], [0.2, 3.0, 4.0]])
    certificate = OptimalityCertificate(
        np.zeros(1, dtype=np.int32), 1, (), 3.5, 4.0, "", history=history, seconds=0.3
    )
    ax = CertificateDisplay.from_certificate(certificate).ax_
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn["inertia"] == [[0.1, 5.0], [0.2, 4.0], [0.3, 4.0]]
    assert drawn["lower bound"] == [[0.1, 1.0], [0.2, 3.0], [0.3, 3.5]]
    assert "12.5 %" in ax.get_title("right")
    assert "matrix" in ax.get_title("left")


def test_the_gap_of_a_certificate_with_soft_pairs_is_that_of_the_objective():
    history = np.array([[0.1, 1.0, 6.0]])
    soft = SoftPairs(np.array([[0, 1]]), np.array([True]), np.array([2.0]))
    certificate = OptimalityCertificate(
        np.arange(2, dtype=np.int32), 2, (), 4.5, 4.0, "", history=history, seconds=0.3, soft=soft
    )
    ax = CertificateDisplay.from_certificate(certificate).ax_
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn["inertia and prices"] == [[0.1, 6.0], [0.3, 6.0]]
    assert ax.get_ylabel() == "inertia and prices"
    assert "25 %" in ax.get_title("right")


@pytest.mark.parametrize(("method", "words"), [("parts", "parts"), ("prices", "prices")])
def test_a_certificate_says_which_bound_carried_it(method, words):
    history = np.array([[0.1, 1.0, 5.0]])
    certificate = OptimalityCertificate(
        np.zeros(1, dtype=np.int32), 1, (), 3.5, 4.0, "", history=history, method=method
    )
    ax = CertificateDisplay.from_certificate(certificate).ax_
    assert words in ax.get_title("left")


def test_broken_soft_pairs_are_told_apart_by_dashes_and_in_the_legend():
    X = np.arange(10.0).reshape(5, 2)
    constraints = Constraints(soft_must_link=[(0, 1), (0, 2)], soft_cannot_link=[(2, 3), (1, 3)])
    ax = plot_clusters(X, [0, 0, 1, 1, 1], constraints)
    assert drawn_lines(ax) == {
        "soft must-link": 1,
        "soft must-link, broken (1)": 1,
        "soft cannot-link": 1,
        "soft cannot-link, broken (1)": 1,
    }
    lines = [c for c in ax.collections if hasattr(c, "get_segments")]
    assert len({str(c.get_linestyle()[0][1]) for c in lines if "broken" in c.get_label()}) == 2
    for drawn in lines:
        assert ("broken" in drawn.get_label()) == (to_hex(drawn.get_color()[0]) == GIVEN_UP.lower())
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(told) == sorted(drawn_lines(ax))


def test_the_graph_shows_soft_pairs_that_labels_break():
    constraints = Constraints(
        [(4, 5)],
        [(0, 1)],
        soft_must_link=[(0, 2), (2, 3)],
        soft_cannot_link=[(3, 4), (3, 5), (4, 5)],
    )
    ax = plot_constraint_graph(constraints, [0, 1, 1, 1, 1, 1])
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    # Both pairs of row 3 are of the same two supernodes, and a must-link pair decides the last.
    assert told == ["soft must-link, broken (1)", "soft cannot-link, broken (1)"]
    assert drawn_points(ax) == 5
    assert plot_constraint_graph(constraints).get_legend() is None
