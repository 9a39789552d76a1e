"""What a build's synthetic queries will cost, before it is built: chunks, tokens, money or hours, per generator.

Pages are read, cleaned, deduplicated and cut as the build does it, and that work is kept for it. Tokens are counted on
a sample of the chunks with the embedder's tokenizer; those of a language model differ by some 15%. Replies are
estimated from what the rule writes for the same chunk.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from quern.indexes.catalog import Warehouse, new_build_id
from quern.indexes.memo import Memo
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run
from quern.jobs.core.step import run_step, upstream
from quern.jobs.documents.originals import originals
from quern.jobs.engines import core_count
from quern.jobs.engines.scratch import Scratch
from quern.jobs.models.folders import load_tokenizer, read_model
from quern.jobs.queries.doc2query import Doc2Query
from quern.pipelines.build.in_progress import new_run
from quern.pipelines.build.steps import STEPS
from quern.pipelines.pages.store import page_store
from quern.schemas.addresses import Url
from quern.schemas.row_digests import row_fingerprints
from quern.schemas.settings import GeneratorSettings, Settings


@dataclass(frozen=True)
class Cost:
    """What one generator would cost."""

    generator: str  # Its kind.
    chunks: int  # Chunks whose queries the memo lacks.
    prompt_tokens: int  # Tokens of the prompts for them, 0 for rules.
    output_tokens: int  # Tokens of the replies, 0 for rules.
    cost: float | None = None  # Price of both, in the currency of the settings; None where they have no prices.
    hours: float | None = None  # Hours of GPUs, or of this machine for rules; None where the settings have no speeds.


@dataclass(frozen=True)
class Estimate:
    """What a build would have to generate."""

    documents: int  # Documents that repeat no other.
    chunks: int
    sample: int  # Chunks whose tokens were counted.
    prompt_tokens: float  # Mean tokens of a prompt.
    output_tokens: float  # Mean tokens of a reply that needs no correction.
    costs: Sequence[Cost]  # One per generator.


def estimate(source: Path | Url | None, warehouse: Path | None, settings: Settings, sample: int = 1000) -> Estimate:
    """What the synthetic queries of the pages under `source`, or of the warehouse's page store, will cost.

    Args:
        source: Folder or file of pages; None for the page store.
        warehouse: Its memo says what is done already, and keeps the work done for the estimate; None for none.
        settings: Settings of the build.
        sample: Most chunks whose tokens are counted.

    Raises:
        IngestError: There is nothing to read.
        WarehouseError: A build is writing.
    """
    with ExitStack() as stack:
        root = warehouse or stack.enter_context(Scratch("estimate")).path / "warehouse"
        # A warehouse whose pages are asked for must be there; for given pages it may become one.
        catalog = Warehouse.open(root) if source is None else Warehouse.create(root)
        stack.enter_context(catalog.lock("quern estimate"))
        steps = upstream(STEPS, ("bare_chunks",))
        work = catalog.clear_work(new_build_id())
        stack.callback(shutil.rmtree, work.parent, ignore_errors=True)
        run = stack.enter_context(new_run(work.name, catalog, settings, work, work / "trial"))
        run.source = source or page_store(catalog)
        tables: dict[str, Stage] = {}
        for step in steps:
            tables |= run_step(step, settings, tables, run).stages
        run.engines.release("spark")
        cut = tables["bare_chunks"]
        rules = Doc2Query(settings.doc2query, GeneratorSettings(), settings.normalise)
        # At most `sample` chunks, the same for the same table.
        rng = np.random.default_rng(20_250_921)
        chosen = np.zeros(cut.rows, dtype=np.bool_)
        chosen[rng.choice(cut.rows, size=min(sample, cut.rows), replace=False)] = True
        chunks: list[dict[str, Any]] = []
        at = 0
        for batch in cut.batches(rules.reads):
            picks = np.flatnonzero(chosen[at : at + batch.num_rows])
            chunks += batch.take(pa.array(picks)).to_pylist()
            at += batch.num_rows
        tokenizer = load_tokenizer(read_model(settings.embed.model))
        task, inputs = rules.task, rules.inputs(chunks)
        started = time.monotonic()
        written = [task.rule(given) for given in inputs]
        seconds = time.monotonic() - started
        prompt = _mean_tokens(tokenizer, [task.render(given) for given in inputs])
        output = _mean_tokens(tokenizer, [pairs.model_dump_json() for pairs in written])
        output = min(output, settings.generator.max_tokens)
        to_do = _missing(rules, cut, run)
        hours = to_do * seconds / max(len(chunks), 1) / core_count(settings.engine) / 3600
        costs = [Cost("rules", to_do, 0, 0, cost=0.0, hours=hours)]
        costs += [_of_model(kind, cut, run, settings, prompt, output) for kind in ("openai", "vllm")]
        return Estimate(originals(tables["documents"]).rows, cut.rows, len(chunks), prompt, output, costs)


def _of_model(kind: Any, cut: Stage, run: Run, settings: Settings, prompt: float, output: float) -> Cost:
    given = settings.generator
    # Without a model's name it cannot be known what that model has done.
    named = given.model_copy(update={"kind": kind})
    to_do = _missing(Doc2Query(settings.doc2query, named, settings.normalise), cut, run) if given.model else cut.rows
    prompts, outputs = round(to_do * prompt), round(to_do * output)
    cost = hours = None
    if kind == "openai" and given.price_prompt is not None and given.price_output is not None:
        cost = (prompts * given.price_prompt + outputs * given.price_output) / 1_000_000
    if kind == "vllm" and given.output_speed:
        hours = outputs / given.output_speed * given.replicas * given.tensor_parallel / 3600
    return Cost(kind, to_do, prompts, outputs, cost, hours)


def _missing(job: Doc2Query, cut: Stage, run: Run) -> int:
    """Chunks that the memo has no result of."""
    directory = run.memo / job.name / job.fingerprint()
    if not directory.is_dir():
        return cut.rows
    memo = Memo(directory)
    batches = cut.batches(job.identity)
    return sum(int((~memo.final(row_fingerprints(batch, job.identity))).sum()) for batch in batches)


def _mean_tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
    return float(np.mean([len(e) for e in tokenizer.encode_batch(list(texts))])) if texts else 0.0
