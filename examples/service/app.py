"""A service: clusters of new rows in well below a millisecond, and fits with a deadline.

Start it with ``KEMPE_MODEL=model.kempe uvicorn app:app``; ``kempe fit --model`` writes the model.
"""

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Annotated

import numpy as np
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, FiniteFloat

import kempe

logging.basicConfig(format="%(asctime)s %(name)s %(message)s")
logging.getLogger("kempe").setLevel(logging.INFO)  # verbose=2 logs every new best there

# A fit keeps one core busy. More of them than cores only slow each other down, and predictions.
FITS_AT_ONCE = max(1, (os.cpu_count() or 2) - 1)
FITS_WAITING = 4 * FITS_AT_ONCE
MOST_ROWS, MOST_COLUMNS, MOST_PAIRS = 100_000, 1000, 1_000_000
MOST_BYTES = 64 * 2**20

Row = Annotated[list[FiniteFloat], Field(min_length=1, max_length=MOST_COLUMNS)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=MOST_ROWS)]
Pairs = Annotated[list[tuple[int, int]], Field(max_length=MOST_PAIRS)]


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model once. Nothing in its file is executed, so it may come from elsewhere."""
    app.state.model = kempe.load(os.environ["KEMPE_MODEL"])
    app.state.room = asyncio.BoundedSemaphore(FITS_AT_ONCE)
    app.state.fits = 0
    # Fits and predictions have threads of their own: whoever predicts never waits for fits.
    with ThreadPoolExecutor(FITS_AT_ONCE) as fitting, ThreadPoolExecutor(2) as predicting:
        app.state.fitting, app.state.predicting = fitting, predicting
        yield


app = FastAPI(title="Clusters under constraints", lifespan=lifespan)


class New(BaseModel):
    """Rows to find the clusters of."""

    rows: Rows


class Job(BaseModel):
    """Rows to cluster, with pairs of row numbers."""

    rows: Rows
    n_clusters: int = Field(ge=1, le=MOST_ROWS)
    must_link: Pairs = []
    cannot_link: Pairs = []
    seconds: float = Field(default=5.0, gt=0, le=60)


@app.middleware("http")
async def limit_the_body(request: Request, answer):
    """Refuse what is too long before it is read; whoever sends must say how long it is."""
    length = request.headers.get("content-length", "")
    if request.method == "POST" and not length.isdecimal():
        return JSONResponse({"detail": "say the length of the body"}, 411)
    if length and int(length) > MOST_BYTES:
        return JSONResponse({"detail": f"more than {MOST_BYTES} bytes"}, 413)
    return await answer(request)


@app.exception_handler(RequestValidationError)
async def say_what_is_wrong(_: Request, error: RequestValidationError) -> JSONResponse:
    """Say what is wrong and where, without what was sent: NaN has no place in an answer."""
    said = [{"where": list(each["loc"]), "what": each["msg"]} for each in error.errors()[:10]]
    return JSONResponse({"detail": said}, 422)


# Kernels leave Python's lock, so threads do. predict changes nothing in the model: all share it.


@app.post("/predict")
async def predict(new: New, request: Request) -> list[int]:
    """Nearest cluster of each row."""
    state = request.app.state
    return await _in(state.predicting, _predicted, state.model, new.rows)


@app.post("/fit")
async def fit(job: Job, request: Request) -> dict[str, object]:
    """Cluster rows; the answer is the best clustering that was found in time."""
    state = request.app.state
    if state.fits >= FITS_AT_ONCE + FITS_WAITING:
        raise HTTPException(503, "busy; try again later")
    state.fits += 1
    try:
        await asyncio.wait_for(state.room.acquire(), job.seconds)
    except TimeoutError:
        state.fits -= 1
        raise HTTPException(503, "busy; try again later") from None
    try:
        return await _in(state.fitting, _fitted, job)
    finally:
        state.room.release()
        state.fits -= 1


async def _in(pool: ThreadPoolExecutor, function, *arguments):
    return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)


def _predicted(model, rows: list[list[float]]) -> list[int]:
    table = _table(rows)
    if table.shape[1] != model.n_features_in_:
        raise HTTPException(422, f"rows have {table.shape[1]} columns, not {model.n_features_in_}")
    return model.predict(table).tolist()


def _fitted(job: Job) -> dict[str, object]:
    try:
        model = kempe.KempeKMeans(job.n_clusters, time_limit=job.seconds, verbose=2)
        model.fit(_table(job.rows), must_link=job.must_link, cannot_link=job.cannot_link)
    except kempe.InfeasibleConstraintsError as error:
        raise HTTPException(422, f"no clustering obeys the pairs: {error}") from error
    except kempe.NoSolutionFoundError as error:
        raise HTTPException(504, str(error)) from error
    except (ValueError, TypeError) as error:  # what is wrong with the data, in one sentence
        raise HTTPException(400, str(error)) from error
    stopped = model.result_.stop_reason
    return {"labels": model.labels_.tolist(), "inertia": model.inertia_, "stopped_by": stopped}


def _table(rows: list[list[float]]) -> np.ndarray:
    if len({len(row) for row in rows}) > 1:
        raise HTTPException(422, "rows have different lengths")
    return np.array(rows, dtype=np.float64)
