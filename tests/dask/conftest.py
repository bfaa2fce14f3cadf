from __future__ import annotations

import pytest
from distributed import Client, LocalCluster

from dask_cases import Case


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster) as made:
        yield made


@pytest.fixture
def case():
    return Case(0)
