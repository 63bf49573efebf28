"""A web server of files in memory, on this machine: with and without ranges, cutting connections, refusing."""

import contextlib
import http.server
import re
import threading
from dataclasses import dataclass, field


@dataclass
class Served:
    """What is served and how, and what was sent of it."""

    files: dict = field(default_factory=dict)  # path: bytes
    ranges: bool = True
    cuts: list = field(default_factory=list)  # bytes after which the next answers end early, one after the other
    status: list = field(default_factory=list)  # of the next answers instead of the file
    shift: int = 0  # the server begins so many bytes off the range that was asked for
    requested: list = field(default_factory=list)  # the Range of each request, "" without
    headers: list = field(default_factory=list)
    sent: list = field(default_factory=list)  # bytes of each answer's body
    url: str = ""


@contextlib.contextmanager
def serving(files):
    """Serve files until the block ends."""
    served = Served({f"/{name}": content for name, content in files.items()})

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802 - the name that http.server calls
            part = self.headers.get("Range", "")
            served.requested.append(part)
            served.headers.append(dict(self.headers))
            if served.status:
                self.send_error(served.status.pop(0))
                return
            content = served.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = int(re.fullmatch(r"bytes=(\d+)-", part)[1]) if part and served.ranges else 0
            if start and start >= len(content):
                self.send_error(416)
                return
            begin = max(0, start + served.shift) if start else 0
            body = content[begin:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            if start:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            body = body[:served.cuts.pop(0)] if served.cuts else body
            served.sent.append(len(body))  # before the client can have them all
            with contextlib.suppress(ConnectionError):  # a client may have gone
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
