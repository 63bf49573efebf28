"""The service over HTTP: `/search`, `/health`, and `/`, the page for people.

| status | when |
|---|---|
| 200 | results, perhaps none |
| 400, 413, 422 | the request: unknown model, too long, or a value that makes no sense; `error` says which |
| 503 | too many wait, or Java died; `Retry-After` has seconds |
| 504 | no answer in time |

A request leaves no trace, and the page loads nothing from elsewhere.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from helpers.errors import BadInput
from helpers.reranking.aggregation import AGGREGATIONS
from helpers.reranking.duo import DUOS
from press.search_command import FEEDBACK
from press.serve.asked import LONGEST, Asked
from press.serve.batching import Batcher, Overloaded
from press.serve.engine import NONE

PAGE = Path(__file__).parent / "page"
HOSTS = ["127.0.0.1", "localhost"]  # by which the service is asked: another site's name that leads here is refused
LARGEST = 16 * LONGEST  # bytes of a request
TWICE = "a value is given twice"
HEADERS = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                      "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
           "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


def application(batcher: Batcher, timeout: float, hosts: list[str]) -> FastAPI:
    """The application over a batcher whose function is an `Engine`; `timeout` in seconds."""
    engine = batcher.function
    app = FastAPI(title="The study's search application", docs_url=None, redoc_url=None)  # they load scripts from elsewhere
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)

    @app.middleware("http")
    async def headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    @app.exception_handler(RequestValidationError)
    async def refused(_: Request, error: RequestValidationError) -> JSONResponse:
        return _error(422, _told(error))

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, error.detail.lower(), dict(error.headers or {}))

    @app.get("/health")
    async def health() -> dict[str, Any]:
        return {"status": "ready", "collection": engine.bed.collection, "unit": engine.bed.unit, "texts": engine.texts,
                "rerankers": [*engine.models], "aggregations": [*AGGREGATIONS], "feedback": [*FEEDBACK],
                "pairwise": [NONE, *(DUOS if engine.pairwise else ())], "waiting": batcher.waiting}

    @app.get("/search")
    async def get(asked: Annotated[Asked, Query()], request: Request) -> JSONResponse:
        if len(request.query_params.multi_items()) > len(request.query_params):
            return _error(422, TWICE)
        return await answer(asked)

    @app.post("/search")
    async def post(request: Request) -> JSONResponse:
        body = b""
        async for part in request.stream():
            if len(body := body + part) > LARGEST:
                return _error(413, f"a request has {LARGEST:,} bytes at most")
        try:
            asked = Asked.model_validate_json(body, strict=True)
            if len(json.loads(body, object_pairs_hook=list)) > len(asked.model_fields_set):
                return _error(422, TWICE)
            return await answer(asked)
        except ValidationError as error:
            return _error(422, _told(error))

    async def answer(asked: Asked) -> JSONResponse:
        if asked.reranker and asked.reranker not in engine.models:
            return _error(400, f"reranker: choose from {', '.join(engine.models)}")
        if asked.pairwise != NONE and engine.pairwise is None:
            return _error(400, "pairwise: this service has no pairwise model; `book serve --pairwise FOLDER` gives it one")
        try:
            async with asyncio.timeout(timeout):
                return JSONResponse(await asyncio.wrap_future(batcher.submit(asked)))
        except Overloaded:
            return _error(503, "too many requests wait", {"Retry-After": "1"})
        except BadInput as error:
            return _error(503, str(error), {"Retry-After": "5"})
        except TimeoutError:
            return _error(504, f"no answer within {timeout:g} seconds: ask for fewer candidates")

    @app.get("/")
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    @app.get("/page.{kind}")
    async def parts(kind: str) -> Response:
        return FileResponse(PAGE / f"page.{kind}") if kind in ("css", "js") else _error(404, "not found")

    return app


def _error(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": text}, status, headers)


def _told(error: RequestValidationError | ValidationError) -> str:
    """Which fields were wrong, and how; never what they held."""
    told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return "; ".join(told).replace("Value error, ", "")[:500]
