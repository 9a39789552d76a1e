"""A real language model of 135 million parameters as a judge: heard, checked, and the same each time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Quern, read_jsonl
from tests.with_lm.test_real_model import REPAIR, whole

REPLIES = {"out_of_range", "wrong_sum", "malformed", "cut_off"}


@whole
def test_what_it_judges_is_on_the_scale_or_rejected_and_judged_alike_again(tmp_path: Path, quern_here: Quern) -> None:
    row = {"query_id": "a", "question": "How much did the repair cost?", "answer": "It cost 740,000 crowns."}
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({**row, "expected": "740,000 crowns", "evidence": [REPAIR]}) + "\n", "utf-8")
    chosen = {"kind": "local", "device": "cpu", "max_tokens": 96, "retries": 0}
    settings = [word for key, value in chosen.items() for word in ("--set", f"generator.{key}={value}")]
    values = []
    for _ in range(2):
        done = quern_here("judge", file, "--out", tmp_path / "out", "--judges", "gold,clarity", *settings)
        assert done.returncode == 0, done.stderr
        (judged,) = (line["judgements"] for line in read_jsonl(tmp_path / "out" / "judgements.jsonl"))
        for name, most in (("gold", 1), ("clarity", 10)):
            said = judged[name]
            assert said.get("value") is None or 0 <= said["value"] <= most
            assert said["by"] == "local" or set(said["rejected"]) & REPLIES, said
        values.append({name: said["value"] for name, said in judged.items() if said["by"] == "local"})
    assert values[0] == {name: values[1][name] for name in values[0]}, "what it said is remembered"
