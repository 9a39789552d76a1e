"""Models run by torch, on the processor or a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quern.jobs.models.batches import Call
from quern.jobs.models.folders import Model, ModelError, forbid_network
from quern.jobs.models.machine import Precision

if TYPE_CHECKING:
    import torch


def find_device(name: str, setting: str = "embed.device") -> torch.device:
    """The torch device `name`, which `setting` names.

    Raises:
        ModelError: There is no such GPU.
    """
    import torch

    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ModelError(
            f"{setting} {name}: torch {torch.__version__} finds {torch.cuda.device_count()} GPUs here; "
            f"set {setting} to cpu, or install a build of torch for this GPU's driver"
        )
    return device


class TorchRunner:
    """A model as a torch module from token ids and mask, (n, tokens), to vectors, (n, d)."""

    def __init__(self, model: Model, precision: Precision, threads: int, device: str) -> None:
        forbid_network()
        import torch

        from quern.jobs.models.pooling import Pooled  # transformers takes a second

        dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[precision]
        try:
            module = Pooled(model, dtype)
        # The libraries raise errors of their own for weights that are broken or do not fit the configuration: a fault
        # of the model, not of the row that it is loaded for.
        except Exception as error:
            raise ModelError(f"model {model.folder} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
        self._torch = torch
        self._device = find_device(device)
        torch.set_num_threads(threads)
        self._module = module.to(self._device).eval()

    def run(self, calls: Iterable[Call], vectors: npt.NDArray[np.float32]) -> None:
        """Write the vectors of all `calls` into their rows of `vectors`.

        A GPU works off calls while this process makes the next ones; it is waited for once, at the end.
        """
        torch = self._torch
        done: list[tuple[npt.NDArray[np.intp], Any]] = []
        with torch.inference_mode():
            for call in calls:
                ids, mask = (torch.from_numpy(a).to(self._device, non_blocking=True) for a in (call.ids, call.mask))
                done.append((call.rows, self._module(ids, mask).float()))
        for rows, made in done:
            vectors[rows] = made.cpu().numpy()
