"""A server on this machine that answers as real ones do, or fails as they fail."""

import contextlib
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


class Loopback:
    """A real server on this machine: what it holds, how it answers, which paths were asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answer: Answer = whole
        self.asked: list[str] = []
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                loopback.asked.append(self.path)
                with contextlib.suppress(ConnectionError):  # a client that gave up
                    loopback.answer(self, loopback.files[self.path])

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of its base
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}/"


def send(handler: BaseHTTPRequestHandler, body: bytes, *, length: int, **headers: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(length))
    for key, value in headers.items():
        handler.send_header(key.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def whole(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    send(handler, body, length=len(body))


def encoded(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    send(handler, body, length=len(body), Content_Encoding="x-gzip")


def half(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    send(handler, body[: len(body) // 2], length=len(body))


def half_without_length(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])


def other(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    whole(handler, body[::-1])


def missing(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
    handler.send_error(404)


def broken(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
    handler.send_error(503)


def nothing(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
    threading.Event().wait(1.0)


def half_then_nothing(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    send(handler, body[: len(body) // 2], length=len(body))
    threading.Event().wait(1.0)
