"""The DAGs of one warehouse, QUERN_WAREHOUSE: an example of what a DAG file needs."""

import os

from quern_airflow.benchmark_sweep import benchmark_sweep
from quern_airflow.bulk_ingest import bulk_ingest
from quern_airflow.nightly_build import nightly_build
from quern_airflow.warehouse import Warehouse

WAREHOUSE = Warehouse(os.environ.get("QUERN_WAREHOUSE", ""), settings=os.environ.get("QUERN_SETTINGS", ""))

night = nightly_build("nightly_build", WAREHOUSE, schedule=os.environ.get("QUERN_NIGHT", "0 2 * * *"))
files = bulk_ingest("bulk_ingest", WAREHOUSE)
benchmarks = benchmark_sweep("benchmark_sweep", WAREHOUSE)
