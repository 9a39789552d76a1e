"""How alike texts and pictures are by a model that sees both: CLIP (Radford et al. 2021; Xinyu takes ViT-H)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from quern.jobs.models.folders import ModelError
from quern.schemas.extras import require

# Cosines of CLIP from which on a text is more than nothing to a picture, and at which it describes it. Set by hand: a
# caption of its own has some .3, another's .1 to .15; no model was at hand to measure it.
_NOTHING, _ALL = 0.1, 0.35
_AT_ONCE: Final = 16


class Clip:
    """A CLIP model in this process."""

    def __init__(self, folder: str) -> None:
        """Args: `folder` holds a model in the form of transformers; nothing is downloaded.

        Raises:
            ModelError: It holds none.
        """
        for module in ("torch", "transformers", "PIL"):
            require(module, f"images.clip {folder}")
        from transformers import CLIPModel, CLIPProcessor  # Seconds, and only where such a model is named.
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        if not Path(folder).is_dir():
            raise ModelError(f"images.clip: {folder} is no folder; name one that holds a CLIP model, or ''")
        try:
            self._model: Any = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
            self._processor: Any = CLIPProcessor.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"images.clip: {folder} holds no CLIP model: {' '.join(str(error).split())}") from error

    def likeness(self, texts: Sequence[str], pictures: Sequence[bytes | None]) -> npt.NDArray[np.float64]:
        """Likeness of texts and pictures, shape (texts, pictures), in [0, 1]; NaN where there is no picture."""
        from PIL import Image

        alike = np.full((len(texts), len(pictures)), np.nan)
        there = [n for n, picture in enumerate(pictures) if picture is not None]
        if texts and there:
            most = self._model.config.text_config.max_position_embeddings
            limits = {"padding": True, "truncation": True, "max_length": most}
            given = self._processor(text=list(texts), return_tensors="pt", **limits)
            said = self._directions(self._model.get_text_features, given)
            found = []
            for start in range(0, len(there), _AT_ONCE):
                bodies = [io.BytesIO(pictures[n] or b"") for n in there[start : start + _AT_ONCE]]
                some = [Image.open(body, formats=("JPEG",)) for body in bodies]
                shown = self._processor(images=some, return_tensors="pt")
                found.append(self._directions(self._model.get_image_features, shown))
            cosines = said @ np.concatenate(found).T
            alike[:, there] = np.clip((cosines - _NOTHING) / (_ALL - _NOTHING), 0.0, 1.0)
        return alike

    def _directions(self, of: Any, given: Any) -> npt.NDArray[np.float64]:
        import torch

        with torch.inference_mode():
            made = of(**given)
        vectors = np.asarray(getattr(made, "pooler_output", made), dtype=np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float64)


@lru_cache(maxsize=1)
def loaded_clip(folder: str) -> Clip:
    """The model in `folder`, loaded once per process.

    Raises:
        ModelError: There is none.
    """
    return Clip(folder)
