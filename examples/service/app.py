"""A service: clusters of new rows in well below a millisecond, and fits with a deadline.

Start it with ``KEMPE_MODEL=model.kempe uvicorn app:app``; ``kempe fit --model`` writes the model.
"""

import logging
import os
import threading
from contextlib import asynccontextmanager
from typing import Annotated

import numpy as np
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

import kempe

logging.basicConfig(format="%(asctime)s %(name)s %(message)s")
logging.getLogger("kempe").setLevel(logging.INFO)  # verbose=2 logs every new best there

# A fit keeps one core busy. More of them than cores only slow each other down, and predictions.
FITS_AT_ONCE = max(1, (os.cpu_count() or 2) - 1)
MOST_ROWS = 100_000

Rows = Annotated[list[list[float]], Field(min_length=1, max_length=MOST_ROWS)]
Pairs = list[tuple[int, int]]


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model once. Nothing in its file is executed, so it may come from elsewhere."""
    app.state.model = kempe.load(os.environ["KEMPE_MODEL"])
    app.state.room = threading.BoundedSemaphore(FITS_AT_ONCE)
    yield


app = FastAPI(title="Clusters under constraints", lifespan=lifespan)


class New(BaseModel):
    """Rows to find the clusters of."""

    rows: Rows


class Job(BaseModel):
    """Rows to cluster, with pairs of row numbers."""

    rows: Rows
    n_clusters: int = Field(ge=1)
    must_link: Pairs = []
    cannot_link: Pairs = []
    seconds: float = Field(default=5.0, gt=0, le=60)


# Plain functions, not coroutines: FastAPI runs them in threads, and kernels leave Python's lock.
# predict changes nothing in the model, so all threads share it.


@app.post("/predict")
def predict(new: New, request: Request) -> list[int]:
    """Nearest cluster of each row."""
    return request.app.state.model.predict(_table(new.rows)).tolist()


@app.post("/fit")
def fit(job: Job, request: Request) -> dict[str, object]:
    """Cluster rows; the answer is the best clustering that was found in time."""
    room = request.app.state.room
    if not room.acquire(timeout=job.seconds):
        raise HTTPException(503, "busy; try again later")
    try:
        model = kempe.KempeKMeans(job.n_clusters, time_limit=job.seconds, verbose=2)
        model.fit(_table(job.rows), must_link=job.must_link, cannot_link=job.cannot_link)
    except kempe.InfeasibleConstraintsError as error:
        raise HTTPException(422, f"no clustering obeys the pairs: {error}") from error
    except kempe.NoSolutionFoundError as error:
        raise HTTPException(504, str(error)) from error
    except (ValueError, TypeError) as error:  # what is wrong with the data, in one sentence
        raise HTTPException(400, str(error)) from error
    finally:
        room.release()
    stopped = model.result_.stop_reason
    return {"labels": model.labels_.tolist(), "inertia": model.inertia_, "stopped_by": stopped}


def _table(rows: list[list[float]]) -> np.ndarray:
    if len({len(row) for row in rows}) > 1:
        raise HTTPException(400, "rows have different lengths")
    return np.array(rows, dtype=np.float64)
