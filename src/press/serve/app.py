"""The service over HTTP: `/search`, `/health`, and `/`, the page for people.

| status | when |
|---|---|
| 200 | results, perhaps none |
| 400, 404, 405, 422 | the request: unknown model, a value that makes no sense; `error` says which |
| 500 | a fault of the book: `error` says where its trace is |
| 503 | it cannot be done in time, or Java died; `Retry-After` has seconds |
| 504 | no answer in time, though it was expected |

Every error is `{"error": text}`. A request leaves no trace, and the page loads nothing from elsewhere.
"""

import asyncio
import contextlib
import ipaddress
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helpers.errors import BadInput
from helpers.reranking.aggregation import AGGREGATIONS
from press.search_command import FEEDBACK
from press.serve.batching import Batcher, Overloaded
from press.serve.engine import Asked
from press.terminal import trace_kept

PAGE = Path(__file__).parent / "page"
HOSTS = ("127.0.0.1", "localhost", "::1")  # by which the service is asked: another site's name that leads here is refused
HEADERS = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                      "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
           "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


def _json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON in ASCII: what a collection holds commands no terminal that shows an answer."""
    return Response(json.dumps(content, allow_nan=False, separators=(",", ":")), status, headers, "application/json")


def application(batcher: Batcher, names: tuple[str, ...] = HOSTS, addresses: bool = False) -> ASGIApp:
    """The application over a batcher whose engine is an `Engine`; it answers to these names, with `addresses` to every numeric
    address, too, which no other site can have."""
    engine = batcher.engine

    async def health(_: Request) -> Response:
        return _json({
            "status": "ready", "collection": engine.bed.collection, "unit": engine.bed.unit, "texts": engine.texts,
            "rerankers": [*engine.models], "aggregations": [*AGGREGATIONS], "feedback": [*FEEDBACK],
            "waiting": batcher.waiting,
            "per_second": {name: round(batcher.rate(name), 1) for name in engine.scorers}})

    async def search(request: Request) -> Response:
        asked = _asked(request)
        if asked.reranker and asked.reranker not in engine.models:
            raise HTTPException(400, f"reranker: choose from {', '.join(engine.models)}")
        answer, gone = asyncio.wrap_future(batcher.submit(asked)), asyncio.ensure_future(_gone(request))
        await asyncio.wait((answer, gone), timeout=batcher.timeout, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if answer.done():
            return _json(answer.result())
        answer.cancel()  # between two slices it is dropped
        raise HTTPException(504, f"no answer within {batcher.timeout:g} seconds: ask for fewer candidates")

    app = Starlette(routes=[Route("/search", search), Route("/health", health),
                            Mount("/", StaticFiles(directory=PAGE, html=True))],
                    exception_handlers=dict.fromkeys((HTTPException, ValidationError, Overloaded, BadInput, Exception), _error))

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        request = Request(scope, receive) if scope["type"] == "http" else None
        if request and not _is_known(request.headers.get("host", ""), names, addresses):
            await _error(request, HTTPException(400, "the service is not known by this host"))(scope, receive, with_headers)
            return
        with contextlib.suppress(Exception):  # a client that hung up; or a fault of the book, which `_error` has told
            await app(scope, receive, with_headers)

    return served


def _asked(request: Request) -> Asked:
    """What is asked; numbers are texts that are numbers, and a name stands once."""
    given = request.query_params.multi_items()
    numbers = {name for name, field in Asked.model_fields.items() if field.annotation is int}
    values = {name: int(value) if name in numbers and re.fullmatch("[0-9]{1,9}", value) else value for name, value in given}
    asked = Asked.model_validate(values, strict=True)
    if len(given) > len(asked.model_fields_set):
        raise HTTPException(422, "a value is given twice")
    return asked


async def _gone(request: Request) -> None:
    """Wait until the client hangs up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _error(_: Request, error: Exception) -> Response:
    status, text, headers = 500, "", dict[str, str]()
    if isinstance(error, HTTPException):
        status, headers = error.status_code, dict(error.headers or {})
        text = error.detail.lower() if status in (404, 405) else error.detail
    elif isinstance(error, ValidationError):  # which fields were wrong, and how; never what they held
        told = (": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in error.errors())
        status, text = 422, "; ".join(told).replace("Value error, ", "")[:500]
    elif isinstance(error, Overloaded | BadInput):
        status, text, headers = 503, str(error), {"Retry-After": str(getattr(error, "seconds", 5))}
    return _json({"error": text or f"a fault of the book: {type(error).__name__}; {trace_kept(error)}"}, status, headers)


def _is_known(host: str, names: tuple[str, ...], addresses: bool) -> bool:
    with contextlib.suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return name in names or bool(addresses and ipaddress.ip_address(name))
    return False
