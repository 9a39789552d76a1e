"""The runtime of `generator.kind=local` against transformers and llama.cpp's server, on the same GGUF file and prompts.

Prompts have a common beginning, as those of a task have, and then words of the sample corpus. Each runtime loads before
its time is taken, and writes exactly as many tokens as it is asked for.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from quern.jobs.models.cores import available_cores
from quern.jobs.tasks.generators.contract import Request
from quern.schemas.settings import GeneratorSettings

_PAGES: Final = Path(__file__).parents[1] / "corpus" / "domains" / "pumps" / "documents.jsonl"
_BEGINNING: Final = "You answer from the sources alone, in one sentence, and cite the number of each source. Sources:\n"
_SHARE_COMMON: Final = 0.25  # Of a prompt; instructions and schema of the task `answer` are some 200 of 800 tokens.
_SLOTS: Final = 4  # Requests at once, of llama.cpp and transformers.

Run = Callable[[], int]
"""Answers all prompts; how many tokens were written."""


def benchmark_runtimes(
    model: Path, prompts: int = 100, words: int = 800, out: int = 60, only: Sequence[str] = ()
) -> dict[str, float]:
    """Seconds and tokens a second of each runtime, and how many times as fast as each peer ours is.

    Args:
        model: A GGUF file.
        prompts: How many.
        words: Tokens of each, by the model's tokenizer.
        out: Tokens written for each.
        only: Names of runtimes, of `openvino`, `llama.cpp`, `transformers`; all by default.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    asked = _prompts(tokenizer, prompts, words)
    figures: dict[str, float] = {}
    for name, opened in {"openvino": _openvino, "llama.cpp": _llama, "transformers": _transformers}.items():
        if only and name not in only:
            continue
        run = opened(model, asked, words + out, out)
        started = time.monotonic()
        written = run()
        figures[f"{name}, seconds"] = time.monotonic() - started
        figures[f"{name}, tokens a second"] = (written + prompts * words) / figures[f"{name}, seconds"]
        figures[f"{name}, tokens written"] = written
        print(f"{name}: {figures[f'{name}, seconds']:.1f} s", file=sys.stderr, flush=True)
        del run
        gc.collect()
    for peer in ("llama.cpp", "transformers"):
        with suppress(KeyError):
            figures[f"openvino against {peer}"] = figures[f"{peer}, seconds"] / figures["openvino, seconds"]
    return figures


def _prompts(tokenizer: Any, count: int, length: int) -> list[str]:
    """Texts of about `length` tokens; a quarter of each is the same."""
    text = "\n".join(json.loads(line)["text"] for line in _PAGES.read_text("utf-8").splitlines())
    ids = tokenizer(re.sub(r"\s+", " ", text), add_special_tokens=False)["input_ids"]
    common = (tokenizer(_BEGINNING, add_special_tokens=False)["input_ids"] + ids)[: int(length * _SHARE_COMMON)]
    rest = length - len(common)
    starts = [n * (len(ids) - rest) // max(count, 1) for n in range(count)]
    return [tokenizer.decode(common + ids[start : start + rest]) for start in starts]


def _openvino(model: Path, prompts: list[str], length: int, out: int) -> Run:
    """As tasks run it: with the chat's template, and held to a schema, here to a string that is longer than a reply."""
    from quern.jobs.tasks.generators.gguf import GgufBackend

    backend = GgufBackend(GeneratorSettings(kind="local", model=str(model), max_tokens=out))
    requests = [Request(row, ({"role": "user", "content": prompt},)) for row, prompt in enumerate(prompts)]
    schema = {"type": "string", "minLength": 100 * out}
    sum(1 for _ in backend.replies(iter([Request(0, ({"role": "user", "content": "Hello"},))]), {}))

    def run() -> int:
        return sum(reply.output_tokens for reply in backend.replies(iter(requests), schema))

    return run


def _llama(model: Path, prompts: list[str], length: int, out: int) -> Run:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_parallel, params.n_ctx, params.kv_unified = _SLOTS, _SLOTS * (length + out), False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = available_cores()
    server = xllamacpp.Server(params)

    def complete(prompt: str) -> int:
        body = {"prompt": prompt, "n_predict": out, "ignore_eos": True, "temperature": 0, "cache_prompt": True}
        request = urllib.request.Request(  # noqa: S310  # The server of this process.
            f"{server.listening_address}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=86_400) as reply:  # noqa: S310
            return int(json.load(reply)["tokens_predicted"])

    def run() -> int:
        with ThreadPoolExecutor(_SLOTS) as pool:
            return sum(pool.map(complete, prompts))

    return run


def _transformers(model: Path, prompts: list[str], length: int, out: int) -> Run:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(available_cores())
    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name, padding_side="left")
    network = AutoModelForCausalLM.from_pretrained(model.parent, gguf_file=model.name, dtype=torch.float32)
    written = {"min_new_tokens": out, "max_new_tokens": out, "do_sample": False}

    def run() -> int:
        made = 0
        for begin in range(0, len(prompts), _SLOTS):
            given = tokenizer(prompts[begin : begin + _SLOTS], return_tensors="pt", padding=True)
            with torch.inference_mode():
                replies = network.generate(**given, **written)
            made += replies.shape[0] * (replies.shape[1] - given["input_ids"].shape[1])
        return made

    return run
