"""What the nodes of a cluster need before they are given work: the same code, Python and packages, and the same folder.

Nodes are not sent the code: what it needs beside itself, compiled packages and models, must be installed there anyway.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from quern.indexes.storage import BEGUN
from quern.jobs.core.work import EngineError, did_not_start

Facts = Mapping[str, Any]
"""What `describing` tells of a node."""

_DISTRIBUTION: Final = "quern-index"
_CONNECT: Final = 5.0  # Seconds for a connection to a master, which takes a thousandth of them in one network.
_TOLD: Final = 3  # Nodes that a message names.


def describing(probe: str, packages: Sequence[str]) -> Callable[[Any], Facts]:
    """A function that describes the node that it runs on; it takes and ignores one argument.

    It is pickled by value, as a function within another is, and imports nothing of this package: a node may lack it.

    Args:
        probe: A file of the folder that all nodes are to see.
        packages: Distributions whose versions are told.
    """

    def describe(_: object = None) -> Facts:
        import hashlib
        import importlib.metadata
        import importlib.util
        import os
        import platform
        import socket
        import sys
        from pathlib import Path

        def code() -> str:
            spec = importlib.util.find_spec("quern")
            if spec is None or not spec.submodule_search_locations:
                return ""
            root, digest = Path(spec.submodule_search_locations[0]), hashlib.blake2b(digest_size=8)
            for room in ("schemas", "indexes", "jobs", "pipelines"):
                for file in sorted((root / room).rglob("*.py")):
                    digest.update(str(file.relative_to(root)).encode() + file.read_bytes())
            return digest.hexdigest()

        def version(name: str) -> str:
            try:
                return importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                return ""

        def seen() -> tuple[str, str]:
            try:
                content = Path(probe).read_text("utf-8")
            except OSError as error:
                return "", f"does not see {Path(probe).parent} ({error.strerror}): mount it there at the same path"
            if not os.access(Path(probe).parent, os.W_OK):
                return content, f"cannot write to {Path(probe).parent} as user {os.getuid()}: give that user the right"
            return content, ""

        content, fault = seen()
        return {
            "node": socket.gethostname(),
            "python": ".".join(platform.python_version_tuple()[:2]),
            "executable": sys.executable,
            "code": code(),
            "packages": {name: version(name) for name in packages},
            "probe": content,
            "folder": fault,
        }

    return describe


@contextmanager
def asked(folder: Path | None) -> Iterator[tuple[str, list[str]]]:
    """What `describing` is given; the folder that all nodes are to see has a file for it meanwhile."""
    try:
        needed = [line for line in requires(_DISTRIBUTION) or () if "extra ==" not in line]
        packages = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed]
    except PackageNotFoundError:  # It runs from a path.
        packages = []
    if folder is None:
        yield "/", packages
        return
    with NamedTemporaryFile("w", encoding="utf-8", prefix=f"{BEGUN}nodes-", dir=folder) as file:
        file.write(uuid4().hex)
        file.flush()
        Path(file.name).chmod(0o644)  # Workers may run as other users.
        yield file.name, packages


def check(driver: Facts, nodes: Sequence[Facts], folder: Path | None) -> None:
    """See that nodes are like the driver.

    Raises EngineError: some are not; the message names them and says what to do.
    """
    faults = {facts["node"]: fault for facts in nodes if (fault := _fault(driver, facts, folder))}
    if faults:
        listing = "; ".join(f"node {node} {fault}" for node, fault in list(faults.items())[:_TOLD])
        more = f"; and {len(faults) - _TOLD} more nodes" if len(faults) > _TOLD else ""
        raise EngineError(f"the cluster is not ready: {listing}{more}")


def _fault(driver: Facts, facts: Facts, folder: Path | None) -> str:
    where = f"in {facts['executable']}"
    if facts["python"] != driver["python"]:
        return f"runs Python {facts['python']}, this machine {driver['python']}: use one version"
    if not facts["code"]:
        return f"has no quern {where}: install the package there, at the version of this machine"
    if facts["code"] != driver["code"]:
        return f"has another version of quern {where}: install that of this machine"
    for name, version in driver["packages"].items():
        if (there := facts["packages"][name]) != version:
            return f"has {name} {there or 'not at all'} {where}, this machine {version}: install the same versions"
    if folder is not None and (facts["folder"] or facts["probe"] != driver["probe"]):
        return str(facts["folder"]) or f"has another folder at {folder}: mount that of this machine"
    return ""


def see_that_it_listens(engine: str, address: str) -> None:
    """Connect to the master or head of a cluster: the engines' own clients try for minutes and then tell pages.

    Raises EngineError: none of the addresses can be reached.
    """
    scheme, _, rest = address.removeprefix("k8s://").rpartition("://")
    tried = []
    for place in rest.split(","):
        try:
            parts = urlsplit(f"//{place}")
            host, port = parts.hostname, parts.port or {"https": 443, "http": 80}.get(scheme)
        except ValueError:
            host, port = None, None
        if not host or not port:
            raise did_not_start(engine, f"{address} has no host and port, as host:7077", address)
        try:
            socket.create_connection((host, port), _CONNECT).close()
        except OSError as error:
            tried.append(f"{place}: {error.strerror or error}")
        else:
            return
    raise did_not_start(engine, f"nothing answers at {address} ({'; '.join(tried)})", address)


def lost_after(engine: str, address: str, seconds: float, every: float = 10.0) -> Callable[[], None]:
    """What raises, once nothing has answered at a cluster's address for so many seconds; it connects `every` so many.

    An engine whose master is gone may wait for it without a word; one that is started again in time is no fault.
    """
    looked = time.monotonic()
    silent_since: float | None = None

    def look() -> None:
        nonlocal looked, silent_since
        now = time.monotonic()
        if now - looked < every:
            return
        looked = now
        try:
            see_that_it_listens(engine, address)
        except EngineError as error:
            silent_since = silent_since or now
            if now - silent_since > seconds:
                raise EngineError(
                    f"{engine} was lost: nothing has answered at {address} for {now - silent_since:.0f} s; what was "
                    "made is kept, and the next build goes on from there"
                ) from error
        else:
            silent_since = None

    return look
