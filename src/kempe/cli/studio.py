"""``kempe studio``: answer questions about pairs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import note
from kempe.cli.options import NClusters, PairOptions, Seed, TableOptions

if TYPE_CHECKING:
    from kempe.ask import Session
    from kempe.cli.data import Given
    from kempe.constraints import Constraints


def studio(
    n_clusters: NClusters,
    pairs: PairOptions,
    table: TableOptions,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that keeps every answer; by default DATA with .studio.jsonl behind its "
            "name. If it is there, the session goes on.",
            show_default=False,
        ),
    ] = None,
    strategy: Annotated[
        str, typer.Option(metavar="NAME", help="Which pair is asked about next.")
    ] = "auto",
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen; others can come in if it is open."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="Port; 0 takes a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
    seed: Seed = 0,
) -> None:
    """Answer questions about pairs in the browser.

    The clusters that follow are shown at once.

    Ctrl-C ends it; every answer is in the log by then, and the same command goes on from there.
    """
    from kempe.ask import Session
    from kempe.cli.data import read_with_constraints
    from kempe.studio.server import Studio

    if table.weights_column is not None:
        raise ValueError("not with kempe studio: --weights-column")
    kept = log or Path(f"{'table' if str(table.data) == '-' else table.data}.studio.jsonl")
    given, constraints = read_with_constraints(table, pairs)
    for remark in given.remarks:
        note(remark)
    note(f"Looking for the first clusters of {len(given.rows):,} rows ...")
    ids = None if given.ids is None else given.ids.names
    with Session(
        given.rows,
        n_clusters,
        ids=ids,
        strategy=strategy,
        constraints=constraints,
        log=kept,
        random_state=seed,
    ) as session:
        desk = _desk(session, given, table)
        served = Studio(
            desk, host=host, port=port, report=lambda: _report(session, given, constraints)
        )
        _serve(served, session, kept, host, browser)


def _serve(served: Any, session: Session, kept: Path, host: str, browser: bool) -> None:
    if host not in ("127.0.0.1", "localhost", "::1"):
        note("Others on the network can reach this; who has the address can answer.")
    note(f"Open {served.address}")
    note(f"Answers are kept in {kept}; Ctrl-C ends.")
    if browser:
        import webbrowser

        webbrowser.open(served.address)
    try:
        served.serve()
    except KeyboardInterrupt:
        pass
    finally:
        count = len(session.answers)
        note(
            f"\n{count} answer{'s' * (count != 1)} in {kept}; the same command goes on from there."
        )


def _desk(session: Session, given: Given, options: TableOptions) -> Any:
    """Show the whole table, not only the columns that are clustered."""
    from kempe.studio.state import Desk
    from kempe.studio.table import NamedColumns
    from kempe.tables import open_table

    folder = Path() if str(options.data) == "-" else options.data.parent
    if str(options.data) == "-":
        cells = NamedColumns.of_numbers(_in_units(given), given.names)
    else:
        table = open_table(options.data, options.header)
        left_out = None if options.id_column is None else table.position(options.id_column)
        shown = [c for c in range(len(table.names)) if c != left_out]
        names = [table.names[c] for c in shown]
        cells = NamedColumns(names, table.texts_of(shown), folder)
    title = "kempe studio" if str(options.data) == "-" else options.data.name
    return Desk(session, cells, title=title, centres=(_in_units(given), given.names))


def _in_units(given: Given) -> Any:
    if given.preparation is None:
        return given.rows
    return given.preparation.in_units_of_the_table(given.rows)


def _report(session: Session, given: Given, constraints: Constraints) -> str:
    """Make the page about the present clusters."""
    from kempe.engine import KempeKMeans

    model = KempeKMeans(session.n_clusters, max_mutations=0, random_state=0)
    held = session.reproducing_constraints()
    model.fit(session.X, constraints=held, init=session.labels_)
    page: str = model.result_.to_html(
        X=session.X,
        constraints=session.constraints,
        original=_in_units(given),
        ids=session.ids,
        feature_names=given.names,
    )
    return page
