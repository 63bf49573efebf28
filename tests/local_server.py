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
    at: str = ""  # cuts and status are for paths that have this in them
    shift: int = 0  # the server begins so many bytes off the range that was asked for
    requested: list = field(default_factory=list)  # the Range of each request, "" without
    headers: list = field(default_factory=list)
    sent: list = field(default_factory=list)  # bytes of each answer's body
    url: str = ""

    def find(self, path):
        """What stands at a path: status, headers and content."""
        content = self.files.get(path)
        return (404, {}, b"") if content is None else (200, {}, content)


@contextlib.contextmanager
def serving(files=None, served=None):
    """Serve files, or what a `Served` of one's own finds, until the block ends."""
    served = served or Served({f"/{name}": content for name, content in files.items()})

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802 - the name that http.server calls
            part = self.headers.get("Range", "")
            served.requested.append(part)
            served.headers.append(dict(self.headers))
            faulty = served.at in self.path
            if faulty and served.status:
                self.send_error(served.status.pop(0))
                return
            status, headers, content = served.find(self.path.partition("?")[0])
            start = int(re.fullmatch(r"bytes=(\d+)-", part)[1]) if part and served.ranges and status == 200 else 0
            if start and start >= len(content):
                self.send_error(416)
                return
            begin = max(0, start + served.shift) if start else 0
            body = content[begin:]
            self.send_response(206 if start else status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            if served.ranges:
                self.send_header("Accept-Ranges", "bytes")
            if start:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            if self.command == "HEAD":
                self.end_headers()
                return
            body = body[:served.cuts.pop(0)] if faulty and served.cuts and status == 200 else body
            served.sent.append(len(body))  # before the headers: a client may ask again as soon as it has read them
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # a client may have gone
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

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
