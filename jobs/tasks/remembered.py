"""Outputs of a task over lists, kept from run to run: standing questions are reasoned about once per evidence.

An input that says what it is (`identity`) is remembered under (configuration of the task, fingerprint of the input),
as the rows of a table are in a build: the same question over the same evidence by the same model and settings gives
the answer that it gave, without asking again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from quern.indexes.checksums import DamagedError
from quern.indexes.memo import Memo, MemoWriter, unnest
from quern.jobs.tasks.task import Output
from quern.schemas.digests import FINGERPRINT_BYTES, settings_digest

log = logging.getLogger(__name__)

_MADE: Final = pa.schema([("output", pa.string()), ("by", pa.string())])
_PRINT: Final = np.dtype((np.void, FINGERPRINT_BYTES))


@dataclass(frozen=True)
class Kept(Generic[Output]):
    """A step whose outputs are remembered."""

    name: str  # Directory of its memos, one for each configuration.
    output: type[Output]  # What it makes of an input.
    configuration: object  # Everything that its outputs depend on beside its inputs, JSON-like.

    @property
    def folder(self) -> Path:
        """Where its memo is, in the directory of what is remembered."""
        return Path(self.name, settings_digest(self.configuration))


class StepMemo(Generic[Output]):
    """What one step made of its inputs, in a directory of `root`."""

    def __init__(self, root: Path, step: Kept[Output], warned: set[str]) -> None:
        """`warned` has what was warned of, for all steps of a run: it is said once."""
        self._root, self._output, self._warned = root, step.output, warned
        self._memo = Memo(root / step.folder)
        self._writer = MemoWriter(root / step.folder, _MADE, most=4096)

    def known(self, identities: Sequence[object]) -> tuple[list[bytes], list[Output | None]]:
        """The fingerprint of each input, by what it says it is, and what is remembered of it.

        None where nothing is, or what is there cannot be read as an output.
        """
        prints = np.frombuffer(b"".join(bytes.fromhex(settings_digest(i)) for i in identities), dtype=_PRINT)
        places = np.flatnonzero(self._memo.final(prints))
        keys = [bytes(p) for p in prints]
        outputs: list[Output | None] = [None] * len(prints)
        if not len(places):
            return keys, outputs
        with suppress(DamagedError):  # A vacuum took them just now: they are made again.
            rows, _ = unnest(self._memo.lookup(prints[places]), "rows")
            for at, text in zip(places.tolist(), rows.column("output").to_pylist(), strict=True):
                with suppress(ValidationError):  # Of another form than outputs have now: it is made again.
                    outputs[at] = self._output.model_validate_json(text)
        return keys, outputs

    def keep(self, outputs: Mapping[bytes, Output], by: str) -> None:
        """Remember outputs that need no other try; they are written in groups, and when the memo is closed."""
        for fingerprint, output in outputs.items():
            self._writer.add(fingerprint, [{"output": output.model_dump_json(), "by": by}])
        with self._unless_read_only():
            self._writer.commit_if_due()

    def commit(self) -> None:
        """Write what is not yet written."""
        with self._unless_read_only():
            self._memo.mend()
            self._memo.touch()
            self._writer.commit()

    @contextmanager
    def _unless_read_only(self) -> Iterator[None]:
        """Where nothing can be written, as in a warehouse that is read from a share: answers do not need its memo."""
        try:
            yield
        except OSError as error:
            warning = f"answers are not remembered: {self._root} error={error.strerror or error}"
            if warning not in self._warned:
                log.warning("%s", warning)
            self._warned.add(warning)
