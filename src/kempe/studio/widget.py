"""The page in a notebook.

A notebook may be shown by a server far away, on which the page's own server cannot be reached. So
the widget carries the same page, and hands what it asks for to the kernel over the notebook's own
channel instead.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kempe.ask import Session
from kempe.ask.export import files_of
from kempe.report.html import style
from kempe.studio.server import number_in, resource
from kempe.studio.state import Desk, do

NOTHING = {"error": "there is nothing here"}

Widget = Any
"""An ``anywidget.AnyWidget``, which is imported when it is needed."""


def widget_of(session: Session, desk: Desk | None = None) -> Widget:
    """Make the widget of a session.

    Parameters
    ----------
    session
        The session.
    desk
        What is shown of it; by default its numbers.

    Raises
    ------
    ImportError
        If anywidget is not installed.
    """
    try:
        import anywidget
    except ImportError as error:
        raise ImportError('the widget needs anywidget: pip install "kempe[widget]"') from error

    shown = Desk(session) if desk is None else desk
    made = type("StudioWidget", (anywidget.AnyWidget,), {"_esm": script()})()
    made.on_msg(lambda widget, message, _: _answer(widget, shown, message))
    made.session = session
    return made


def script() -> str:
    """Give the module that the notebook runs: the page, its style and its script."""
    page = resource("studio.html")
    body = page[page.index("<main>") : page.index("<noscript>")]
    own = style().replace(":root", ".kempe-studio").replace("body {", ".kempe-studio {")
    sheet = own + resource("studio.css")
    code = resource("studio.js")
    parts = (
        f"const STYLE = {json.dumps(sheet)};",
        f"const PAGE = {json.dumps(body)};",
        f"function start(document, fetch) {{\n{code}\n}}",
        resource("widget.js"),
    )
    return "\n".join(parts)


def _answer(widget: Any, desk: Desk, message: Any) -> None:
    """Answer what the page asked for."""
    number = message.get("number") if isinstance(message, dict) else None
    try:
        status, body, buffers = answered(desk, str(message["path"]), message.get("body"))
    except (KeyError, TypeError, ValueError) as error:
        status, body, buffers = 400, {"error": str(error)}, []
    except Exception as error:  # a page that gets no answer would wait for ever
        status, body, buffers = 500, {"error": f"{type(error).__name__}: {error}"}, []
    widget.send({"number": number, "status": status, "body": body}, buffers)


def answered(desk: Desk, path: str, body: Any) -> tuple[int, Any, list[bytes]]:
    """Give the status, the content and the arrays that a request of the page gets.

    Parameters
    ----------
    desk
        What is shown.
    path
        The address, as the page would ask its server.
    body
        What it sent, if it wants something done.
    """
    parts = urlsplit(path)
    query = parse_qs(parts.query)
    if parts.path.startswith("/do/") and isinstance(body, dict):
        if body.get("version") not in (None, desk.session.version):
            return 409, {"error": "changed elsewhere", **desk.state()}, []
        do(desk, parts.path.removeprefix("/do/"), body)
        return 200, desk.state(), []
    if parts.path == "/get/state":
        same = query.get("version", [""])[0] == str(desk.session.version)
        return (204, None, []) if same else (200, desk.state(), [])
    if parts.path == "/get/map":
        return 200, None, [desk.positions()]
    if parts.path == "/get/labels":
        return 200, None, [desk.labels()]
    if parts.path == "/get/pairs":
        return 200, desk.pairs(), []
    if parts.path == "/get/row":
        row = number_in(query, "row", len(desk.session.X))
        return (404, NOTHING, []) if row is None else (200, desk.card(row), [])
    name = parts.path.removeprefix("/export/")
    if name in (files := files_of(desk.session)):
        return 200, {"text": files[name]}, []
    return 404, NOTHING, []
