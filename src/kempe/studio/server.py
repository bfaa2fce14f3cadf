"""The server of the page: for one person, on this machine, with nothing from elsewhere.

Who knows the token, which is in the address that is printed, gets a cookie that other sites can
neither read nor send. A request with a foreign Host or Origin is refused before it is looked at.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from kempe.ask.export import files_of
from kempe.report.html import style
from kempe.studio.state import Desk, do

# What a request may send, and how long it may take to do so.
MOST_BYTES = 64 * 1024
SECONDS = 20.0
# Requests that are answered at once; others wait for their turn.
AT_ONCE = 16
WAITING = 2048

HOME = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::", "")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = {
    "/studio.js": ("studio.js", "text/javascript; charset=utf-8"),
    "/studio.css": ("studio.css", "text/css; charset=utf-8"),
}


class Studio:
    """Serves the page of a session.

    Parameters
    ----------
    desk
        What is shown.
    host, port
        Where to listen; port 0 takes any that is free.
    report
        Makes the report of the present clusters, as HTML.
    """

    def __init__(self, desk: Desk, *, host: str = HOME, port: int = 0, report: Any = None) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(32)
        self.report = report
        self.lock = threading.Lock()
        self._server = _Server((host, port), self)
        self.host, self.port = host, int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Where the page is, with the token."""
        host = HOME if self.host in EVERYWHERE else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/?token={self.token}"

    def is_called(self, host: str) -> bool:
        """Whether a browser may call the server so.

        A name that another site has made point here is refused. Numbers cannot be made to, so where
        the server listens everywhere any of them will do.
        """
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        if name in (HOME, "localhost", "[::1]", self.host, f"[{self.host}]"):
            return True
        return self.host in EVERYWHERE and _is_address(name.strip("[]"))

    def serve(self) -> None:
        """Answer requests until ``stop`` is called or Ctrl-C is pressed."""
        self._server.serve_forever(poll_interval=0.2)

    def start(self) -> None:
        """Answer requests in a thread of its own."""
        threading.Thread(target=self.serve, daemon=True).start()

    def stop(self) -> None:
        """Answer no more requests."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = WAITING
    allow_reuse_address = False

    def __init__(self, address: tuple[str, int], studio: Studio) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.studio = studio
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Let so many requests in at once, and the others wait."""
        self._turns.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._turns.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._turns.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "kempe"
    sys_version = ""
    timeout = SECONDS

    def setup(self) -> None:
        """Give a request its time: one that comes byte by byte would hold a turn for ever."""
        super().setup()
        self._patience = threading.Timer(SECONDS, self._read_no_more)
        self._patience.daemon = True
        self._patience.start()

    def _read_no_more(self) -> None:
        with suppress(OSError):  # it may be gone
            self.connection.shutdown(socket.SHUT_RD)

    def finish(self) -> None:
        """End one request."""
        self._patience.cancel()
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: addresses hold the token."""

    @property
    def studio(self) -> Studio:
        """What is served."""
        return self.server.studio

    def do_GET(self) -> None:
        """Give the page, or what it asks for."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Do what the page asks for, and give what it shows then."""
        self._answer(self._post)

    def _answer(self, how: Callable[[], None]) -> None:
        """Answer in any case: a page that waits for ever says nothing to a person."""
        try:
            how()
        except (ConnectionError, TimeoutError):
            raise
        except OSError as error:  # of the log: the disk is full, or gone
            self._refuse(HTTPStatus.INSUFFICIENT_STORAGE, f"the log cannot be written: {error}")
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"internal error: {why}")

    def _get(self) -> None:
        if not self._is_from_here():
            return
        parts = self._parts()
        if parts is None:
            return
        query = parse_qs(parts.query)
        if parts.path == "/" and self._is_token(query.get("token", [""])[0]):
            self._admit()
        elif self._is_admitted():
            self._give(parts.path, query)

    def _post(self) -> None:
        if not self._is_from_here(must_say=True) or not self._is_admitted():
            return
        parts = self._parts()
        body = None if parts is None else self._body()
        if parts is None or body is None:
            return
        desk = self.studio.desk
        with self.studio.lock:
            if body.get("version") not in (None, desk.session.version):
                self._send_json({"error": "changed elsewhere", **desk.state()}, HTTPStatus.CONFLICT)
                return
            try:
                do(desk, parts.path.removeprefix("/do/"), body)
            except (ValueError, TypeError) as error:
                self._refuse(HTTPStatus.BAD_REQUEST, str(error))
                return
            self._send_json(desk.state())

    def _parts(self) -> SplitResult | None:
        try:
            return urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "this is no address")
            return None

    # Who asks

    def _is_from_here(self, *, must_say: bool = False) -> bool:
        """Refuse what a page of another site, or a name that points here, has sent."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        foreign = origin not in (None, f"http://{host}")
        silent = must_say and self.headers.get("X-Kempe") != "studio"
        first = self.path.startswith("/?token=") and site in ("none", "cross-site", "same-site")
        elsewhere = site not in ("same-origin", "none") and not first
        if not self.studio.is_called(host) or foreign or silent or elsewhere:
            self._refuse(HTTPStatus.FORBIDDEN, "this page is for this machine alone")
            return False
        return True

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.studio.token.encode())

    @property
    def _cookie(self) -> str:
        return f"kempe-studio-{self.studio.port}"

    def _admit(self) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        cookie = f"{self._cookie}={self.studio.token}; Path=/; HttpOnly; SameSite=Strict"
        self.send_header("Set-Cookie", cookie)
        self.send_header("Location", "/")
        self._send_body(b"", "text/plain")

    def _is_admitted(self) -> bool:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        given = cookies[self._cookie].value if self._cookie in cookies else ""
        if self._is_token(given):
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "open the address that kempe studio has printed")
        return False

    def _body(self) -> dict[str, Any] | None:
        """Read what was sent, if it is small and plain."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or "Transfer-Encoding" in self.headers:
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "say how long the request is")
            return None
        if len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is too long")
            return None
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request is no JSON")
            return None
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "the request is no JSON object")
            return None
        return body

    # What is given

    def _give(self, path: str, query: dict[str, list[str]]) -> None:
        if path == "/favicon.ico":
            self._send(b"", "image/x-icon", HTTPStatus.NO_CONTENT)
        elif path == "/":
            self._send(resource("studio.html").encode(), "text/html; charset=utf-8")
        elif path in STATIC:
            name, kind = STATIC[path]
            text = style() + resource(name) if name.endswith(".css") else resource(name)
            self._send(text.encode(), kind)
        elif path.startswith("/get/"):
            self._give_data(path.removeprefix("/get/"), query)
        elif path.startswith("/export/"):
            self._give_export(path.removeprefix("/export/"))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _give_data(self, name: str, query: dict[str, list[str]]) -> None:
        desk = self.studio.desk
        with self.studio.lock:
            if name == "state":
                seen = query.get("version", [""])[0]
                if seen == str(desk.session.version):
                    self._send(b"", "text/plain", HTTPStatus.NO_CONTENT)
                else:
                    self._send_json(desk.state())
            elif name == "map":
                self._send(desk.positions(), "application/octet-stream")
            elif name == "labels":
                self._send(desk.labels(), "application/octet-stream")
            elif name == "pairs":
                self._send_json(desk.pairs())
            elif name in ("row", "image"):
                self._give_row(name, query)
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _give_row(self, name: str, query: dict[str, list[str]]) -> None:
        desk = self.studio.desk
        row = number_in(query, "row", len(desk.session.X))
        column = number_in(query, "column", len(desk.cells.names)) if name == "image" else 0
        found = None if row is None or column is None else desk.cells.image(row, column)
        if row is not None and name == "row":
            self._send_json(desk.card(row))
        elif found is not None:
            self._send(*found)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such row or picture")

    def _give_export(self, name: str) -> None:
        with self.studio.lock:
            if name == "report.html" and self.studio.report is not None:
                text, kind = self.studio.report(), "text/html; charset=utf-8"
            elif name in (files := files_of(self.studio.desk.session)):
                text = files[name]
                kind = "application/json" if name.endswith(".json") else "text/csv; charset=utf-8"
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "there is no such file")
                return
        self._send(
            text.encode(), kind, extra={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value, allow_nan=False).encode(), "application/json", status)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send_json({"error": why}, status)

    def _send(
        self,
        content: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        extra: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self._send_body(content, kind)

    def _send_body(self, content: bytes, kind: str) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def resource(name: str) -> str:
    """Give a file of this room."""
    return resources.files("kempe.studio").joinpath(name).read_text(encoding="utf-8")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def number_in(query: dict[str, list[str]], name: str, most: int) -> int | None:
    """Give a number of an address, if it is one below ``most``."""
    text = query.get(name, [""])[0]
    return int(text) if text.isdecimal() and len(text) < 12 and int(text) < most else None
