# ruff: noqa: E402 - the switches must be set before the library is imported
"""Great Expectations, as Quern imports it: with its analytics switched off, and all of it through here.

Importing it takes two to three seconds, so whoever needs it imports it late.
"""

from __future__ import annotations

import os
import warnings

# Read when the library is imported: it must neither count its uses nor ask for newer versions.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
# It imports PySpark wherever that is installed, which warns of a pandas that is not used here.
warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.core.batch import Batch
from great_expectations.core.expectation_suite import ExpectationSuite
from great_expectations.core.id_dict import IDDict
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults
from great_expectations.execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation, ColumnMapExpectation
from great_expectations.expectations.metrics.metric_provider import MetricProvider, metric_value
from great_expectations.validator.validator import Validator

__all__ = [
    "Batch",
    "BatchExpectation",
    "ColumnMapExpectation",
    "DataContextConfig",
    "ExpectationSuite",
    "IDDict",
    "InMemoryStoreBackendDefaults",
    "MetricProvider",
    "SparkDFExecutionEngine",
    "Validator",
    "gx",
    "gxe",
    "metric_value",
]
