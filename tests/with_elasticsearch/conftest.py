"""Servers: those that the environment names, else those of `make install-elasticsearch`, started for the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from quern.indexes.served.search_server import SearchServer
from quern.schemas.settings import SearchServerSettings
from tests.conftest import build_here
from tests.proxies import Proxy, proxied

VARIABLE = "QUERN_TEST_SERVER"
_NOBODY = 65534

if VARIABLE not in os.environ:  # They have an environment of their own: make test-elasticsearch.
    collect_ignore_glob = ["test_*"]


def _started(kind: str, folder: Path, port: int) -> subprocess.Popen[bytes]:
    name = {"elasticsearch": "noida_db/noida-db", "opensearch": "osmem_server/bin/osmem-server"}[kind]
    binary = next(Path(os.environ[VARIABLE]).absolute().glob(f"lib/python*/site-packages/{name}"), None)
    if binary is None:
        pytest.skip(f"no {kind} server is installed, and {kind.upper()}_URL names none")
    binary.chmod(0o755)
    options = {
        "elasticsearch": f"start --data-dir {folder}/data --only elasticsearch --elasticsearch-port {port}",
        "opensearch": f"-addr 127.0.0.1:{port} -no-stdin-watch -no-ja -parent-pid {os.getpid()}",
    }[kind]
    log = (folder / "log").open("wb")
    privileged = os.geteuid() == 0
    if privileged:
        os.chown(folder, _NOBODY, _NOBODY)
    who = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if privileged else {}
    return subprocess.Popen(
        [binary, *options.split()], cwd=folder, env={"HOME": str(folder)}, stdout=log, stderr=log, **who
    )


@pytest.fixture(scope="session", params=["elasticsearch", "opensearch"])
def server_at(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Kind and address of a server."""
    kind = request.param
    if url := os.environ.get(f"{kind.upper()}_URL"):
        yield kind, url
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Others may not enter pytest's own folders.
    with tempfile.TemporaryDirectory(prefix="quern-server-") as folder:
        process = _started(kind, Path(folder), port)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(100):
                try:
                    httpx.get(url)
                    break
                except httpx.TransportError:
                    assert process.poll() is None, (Path(folder) / "log").read_text()
                    time.sleep(0.1)
            yield kind, url
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="session")
def built(one_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of a site of the mini-web."""
    return build_here(one_site, tmp_path_factory.mktemp("built") / "warehouse", "doc2query.pairs=3")


@pytest.fixture
def by_name(server_at: tuple[str, str]) -> bool:
    """Whether the environment names the server; the stand-in for OpenSearch copies no index and knows no vectors."""
    return f"{server_at[0].upper()}_URL" in os.environ


@pytest.fixture
def copying(server_at: tuple[str, str], by_name: bool) -> None:
    """A server that copies indexes."""
    if server_at[0] == "opensearch" and not by_name:
        pytest.skip("this server copies no index")


@pytest.fixture
def proxy(server_at: tuple[str, str]) -> Iterator[Proxy]:
    """A proxy before the server."""
    with proxied(server_at[1]) as one:
        yield one


@pytest.fixture
def server(server_at: tuple[str, str], proxy: Proxy) -> Iterator[SearchServer]:
    """The server by its proxy; the indexes that tests make there are deleted."""
    settings = SearchServerSettings(kind=server_at[0], url=proxy.url, index="quern-tests", tries=2)
    with SearchServer(settings) as one:
        yield one
        proxy.rule = lambda *_: None
        for name in one.indexes("quern-tests"):
            one.call("DELETE", f"/{name}")
