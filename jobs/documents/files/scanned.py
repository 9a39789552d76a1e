"""PDF files with scanned pages, read by RapidOCR (PP-OCR's models, which come in its wheel); run as a child process.

It is a child of its own: the models take memory before the first file, and a page takes seconds where a page with a
text layer takes milliseconds.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import pypdfium2

from quern.jobs.documents.files.layout import Page, Word
from quern.jobs.documents.files.pdf import read_pdf
from quern.jobs.documents.html.child import serve

# A page is drawn with this many dots per inch, or fewer where its longer side would have more than the most.
_DOTS_PER_INCH: Final = 200
_MOST_DOTS: Final = 2_400
_POINTS_PER_INCH: Final = 72
# Height of the letters of a box, and of its part below the base, as shares of its height: those of common typefaces.
_LETTERS: Final = 0.8
_BELOW_BASE: Final = 0.2


class Recogniser:
    """Words of pages that are pictures."""

    def __init__(self) -> None:
        """Loads the models. They run in OpenVINO, as the embedder does."""
        import cv2
        import numpy as np
        from rapidocr import EngineType, RapidOCR

        engine: dict[str, object] = {f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Rec")}
        # Other workers read other files meanwhile.
        engine |= {"EngineConfig.openvino.inference_num_threads": 1, "Global.max_side_len": _MOST_DOTS}
        # The model that finds lines turned upside down turned a fifth of the lines of a clean page.
        self._engine = RapidOCR(params={"Global.log_level": "error", "Global.use_cls": False, **engine})
        # A first page, as large as any, so that what the models take is not counted as that of the first file.
        first = np.full((_MOST_DOTS, _MOST_DOTS, 3), 255, dtype=np.uint8)
        self._engine(cv2.putText(first, "The first page", (200, 200), cv2.FONT_HERSHEY_SIMPLEX, 2, (0, 0, 0), 3))

    def page(self, page: pypdfium2.PdfPage) -> Page:
        """The words of `page` as it is shown, each with its place."""
        width, height = page.get_size()
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, _MOST_DOTS / max(width, height, 1))
        try:
            result: Any = self._engine(page.render(scale=scale).to_numpy())
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - RapidOCR raises many kinds, of a strip for instance: that page stays unread
            return Page([], [], [], 0, height, has_images=True)
        words: list[Word] = []
        for text, corners in zip(result.txts, result.boxes, strict=True) if result.txts else ():
            # The words of a line within its corners (points, 4 × 2), as if all of its characters were equally wide.
            box = corners / scale
            (left, top), (right, bottom) = box.min(0), box.max(0)
            wide, size = (right - left) / max(len(text), 1), _LETTERS * (bottom - top)
            base, at = float(bottom - _BELOW_BASE * (bottom - top)), 0
            for word in text.split():
                at = text.index(word, at)
                x0, x1 = float(left + at * wide), float(left + (at + len(word)) * wide)
                words.append(Word(word, x0, x1, base, float(size)))
                at += len(word)
        return Page(words, [], [], 0, height, has_images=True)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    recogniser = Recogniser()
    serve(lambda header, body: read_pdf(body, header["max_pages"], header["max_characters"], recogniser.page))
