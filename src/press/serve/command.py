"""`book serve`: make a collection ready, and answer until told to stop."""

import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from helpers.errors import BadInput

BATCH = 256  # windows that are scored together
WAITING, TIMEOUT = 64, 30  # requests that may wait; seconds in which a request is answered
DEFAULT = ("base", "zero-shot")


def serve(collection: str, unit: str, rerankers: Sequence[str], pairwise: str, host: str, port: int) -> int:
    """Listen until SIGTERM or Ctrl-C; requests that run are answered first. BadInput if nothing can listen there."""
    try:
        import uvicorn

        from press.serve import app, batching, engine, models
    except ImportError as error:
        raise BadInput(f"{error.name} is not installed", mend="`pip install fastapi uvicorn`, or `make env`") from None

    def make() -> engine.Engine:
        bed = engine.Engine.of(collection, unit)
        wanted = dict.fromkeys([*(rerankers or DEFAULT), models.NONE])
        loaded = {Path(name).name if Path(name).is_dir() else name: models.load(name, bed) for name in wanted}
        return engine.Engine(bed, loaded, models.Pairwise(pairwise) if pairwise else None)

    try:
        listening = socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {host}:{port} ({error})", mend="give another --port, or end its listener") from None

    batcher: batching.Batcher = batching.Batcher(make, lambda asked: batcher.function.cost(asked), BATCH, WAITING)
    application = app.application(batcher, TIMEOUT, ["*"] if host in ("0.0.0.0", "::") else [*app.HOSTS, host])
    print(f"listening on http://{host}:{listening.getsockname()[1]}; Ctrl-C ends it", flush=True)
    usual = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn hears it first, stops, and raises it again
    try:
        uvicorn.Server(uvicorn.Config(application, log_level="warning", access_log=False, server_header=False,
                                      timeout_graceful_shutdown=TIMEOUT + 1)).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, usual)
        batcher.close()
    return 0
