"""A warehouse that is published in an object store, which is moto's server, behind a proxy that fails."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer

from quern.indexes.catalog import Warehouse, object_store
from quern.indexes.catalog.folder import FORMAT
from quern.indexes.catalog.object_store import LostRaceError, checksum_in, working_folder
from quern.indexes.checksums import DamagedError, checksum, sealed, size_of
from quern.indexes.object_store import StoreError
from quern.pipelines.inspect.verify import kept_files, verify
from quern.schemas.addresses import Url
from tests.conftest import ROOT, Quern
from tests.indexes.test_catalog import publish, targets
from tests.proxies import FAULTS, StoreProxy, store_proxy

Machine = Callable[[str], Warehouse]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="bucket")
        yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def proxy(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreProxy]:
    with store_proxy(server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.fixture
def url(proxy: StoreProxy) -> Url:
    return Url(f"s3://bucket/{uuid4().hex}")


@pytest.fixture
def machine(url: Url, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The warehouse as a machine has it, which has a folder of its own."""

    def on(name: str) -> Warehouse:
        monkeypatch.setenv("QUERN_STORES", str(tmp_path / name))
        return Warehouse.create(working_folder(url))

    return on


def readable(machine: Machine, name: str) -> dict[str, list[str]]:
    """Targets of all snapshots, as a machine reads them that has cached nothing."""
    other = machine(name)
    return {build_id: targets(other, build_id) for build_id in other.snapshot_ids()}


def test_another_machine_reads_what_one_published_and_goes_on_from_it(machine: Machine) -> None:
    one = machine("one")
    first = publish(one, "1", ["a"])
    second = publish(one, "2", ["a", "b"])
    two = machine("two")
    assert (two.snapshot_ids(), two.current_id(), targets(two)) == (["1", "2"], "2", ["a", "b"])
    assert not (two.root / first.tables["edges"].file).exists(), "only what is read is fetched"
    third = publish(two, "3", ["a", "b"])
    assert third.tables["edges"].digest == second.tables["edges"].digest
    assert set(third.objects.values()) == set(second.objects.values()), "files that the store has are not uploaded"
    assert readable(machine, "three") == {"1": ["a"], "2": ["a", "b"], "3": ["a", "b"]}


def test_rollback_and_pruning_reach_other_machines_and_leave_what_a_snapshot_names(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machine("one")
    assert one.store
    objects = one.store.objects
    objects.put("files/0/1-killed", b"x")
    for build_id, rows in (("1", ["a"]), ("2", ["b"]), ("3", ["b"])):
        publish(one, build_id, rows)
    reader = machine("reader").snapshot("1")
    assert reader.stage("edges").rows == 1
    one.rollback("2")
    assert machine("two").current_id() == "2"
    assert one.prune(1) == ["1"]
    assert readable(machine, "three") == {"2": ["b"], "3": ["b"]}
    named = set(one.manifest().objects.values())
    assert set(objects.listed("files/")) == {"files/0/1-killed", *named}, "a build in progress may have put it"
    again = machine("reader")
    assert again.prune(1) == []
    assert (again.root / "snapshots" / "1.json").exists(), "it is read there"
    with pytest.raises(DamagedError, match="it is gone"):
        reader.table("edges")
    publish(one, "4", ["b"])
    monkeypatch.setattr(object_store, "_ABANDONED", timedelta(seconds=-1))
    assert one.prune(1) == ["2", "3"]
    assert set(objects.listed("files/")) == named


@pytest.mark.parametrize("name", [str(n) for n in range(20)])
def test_of_two_that_replace_the_pointer_at_once_exactly_one_publishes(machine: Machine, name: str) -> None:
    both, gate = [machine(f"{name}-{n}") for n in range(2)], threading.Barrier(2)
    done, lost = list[str](), list[str]()

    def run(warehouse: Warehouse, build_id: str) -> None:
        assert warehouse.store
        replace = warehouse.store.objects.replace
        warehouse.store.objects.replace = lambda *of: (gate.wait(60), replace(*of))[1]  # type: ignore[method-assign]
        try:
            publish(warehouse, build_id, [build_id])
            done.append(build_id)
        except LostRaceError as error:
            lost.append(str(error))

    for warehouse in both:
        warehouse.current_id()
    threads = [threading.Thread(target=run, args=(w, f"{name}{n}")) for n, w in enumerate(both)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reader = machine(f"{name}-reader")
    assert [reader.current_id()] == done
    assert [error.partition("meanwhile")[0] for error in lost] == [
        f"{reader.address}: snapshot {done[0]} was published "
    ]
    assert targets(reader) == done


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 56), marks=pytest.mark.long)], ids=["6", "50"])
def test_a_store_that_fails_loses_nothing(machine: Machine, proxy: StoreProxy, seeds: range) -> None:
    expected = dict[str, list[str]]()
    for seed in seeds:
        dice = random.Random(seed)
        build_id, kind, at, lasts = f"{seed:03}", FAULTS[seed % len(FAULTS)], dice.randrange(12), dice.random() < 0.4
        one, begun = machine(f"one-{seed % 2}"), len(proxy.asked)

        def fault(*_: str, kind: str = kind, first: int = begun + at, lasts: bool = lasts) -> str | None:
            number = len(proxy.asked) - 1
            return kind if number == first or (lasts and number >= first and kind != "slow") else None

        proxy.fault = fault
        try:
            publish(one, build_id, [build_id, "z"])
            published = True
        except StoreError:
            published = False
        proxy.fault = lambda *_: None
        reader = machine(f"reader-{seed}")
        there = reader.current_id() == build_id
        assert there or not published
        if not there:
            with one.lock("a test"):
                publish(one, f"{build_id}5", [build_id, "z"])
        expected[build_id if there else f"{build_id}5"] = sorted([build_id, "z"])
        other, at = machine(f"other-{seed}"), len(proxy.asked) + 1 + dice.randrange(6)
        proxy.fault = lambda *_, kind=kind, at=at: kind if len(proxy.asked) == at else None
        assert targets(other) == [build_id, "z"], "one fault is no hindrance to a reader"
        proxy.fault = lambda *_: None
    assert readable(machine, "last") == expected


@pytest.mark.long
@pytest.mark.parametrize("at", ["files/2/", "snapshots/2.", "current.json"])
def test_a_killed_publisher_leaves_a_snapshot_or_none_and_the_next_goes_on(
    machine: Machine, proxy: StoreProxy, at: str
) -> None:
    one = machine("one")
    publish(one, "1", ["a"])
    code = (
        "import sys; from pathlib import Path; from quern.indexes.catalog import Warehouse\n"
        "from tests.indexes.test_catalog import publish\n"
        "publish(Warehouse.open(Path(sys.argv[1])), '2', ['b'])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    publisher = subprocess.Popen([sys.executable, "-c", code, str(one.root)], env=environment)

    def fault(method: str, path: str) -> str | None:
        if method == "PUT" and at in path:
            publisher.kill()
            return "lost answer"  # The put arrives; its sender does not live to know.
        return None

    proxy.fault = fault
    assert publisher.wait(120) < 0
    proxy.fault = lambda *_: None
    published = {"1": ["a"]} | ({"2": ["b"]} if at == "current.json" else {})
    assert readable(machine, "two") == published
    publish(machine("one"), "3", ["b", "c"])
    assert readable(machine, "three") == published | {"3": ["b", "c"]}


def test_a_damaged_cache_is_fetched_again_and_a_damaged_object_is_told_and_replaced(machine: Machine) -> None:
    one = machine("one")
    manifest = publish(one, "1", ["a"])
    assert one.store
    objects, cached = one.store.objects, manifest.tables["edges"].file
    (one.root / cached).write_bytes(b"PAR1" * 20)
    one.snapshot().stage("edges").check()
    key = manifest.objects[cached]
    objects.put(key, b"x" * size_of(checksum_in(key)))
    assert [str(b.path) for b in verify(kept_files(machine("two"))).bad] == [f"{one.address}/{key}"]
    with pytest.raises(DamagedError, match="its bytes are others"):
        machine("two").snapshot().stage("edges")
    objects.delete([key])
    publish(one, "2", ["a"])
    assert machine("three").snapshot().stage("edges").rows == 1


def test_a_damaged_manifest_keeps_no_build_from_being_published(machine: Machine) -> None:
    one = machine("one")
    publish(one, "1", ["a"])
    second = publish(one, "2", ["b"])
    assert one.store
    objects = one.store.objects
    objects.put(next(key for key in objects.listed("snapshots/") if "/2." in key), b"{}")
    two = machine("two")
    assert two.parent_id() == "1"
    two.snapshot("1").check()
    two.publish(second.model_copy(update={"build_id": "3", "parent": "1", "tables": two.manifest("1").tables}))
    assert targets(machine("three")) == ["a"]


@pytest.mark.parametrize("leads_out", ["../../taken", "/srv/taken", "lance/../../taken"])
def test_a_manifest_whose_files_lead_out_of_the_cache_is_refused(machine: Machine, leads_out: str) -> None:
    one = machine("one")
    manifest = publish(one, "1", ["a"]).model_dump(mode="json")
    manifest["objects"] = dict.fromkeys([leads_out], next(iter(manifest["objects"].values())))
    content = sealed(manifest).encode("ascii")
    pointer = {"version": FORMAT["version"], "build_id": "1", "snapshots": {"1": checksum(content)}}
    assert one.store
    one.store.objects.put(f"snapshots/1.{checksum(content)}.json", content)
    one.store.objects.put("current.json", sealed(pointer).encode("ascii"))
    with pytest.raises(DamagedError, match="1 fields cannot be read"):
        machine("two").manifest()


def test_a_pointer_to_a_snapshot_whose_name_leads_out_of_the_cache_is_refused(machine: Machine) -> None:
    one = machine("one")
    publish(one, "1", ["a"])
    assert one.store
    pointer = {"version": FORMAT["version"], "build_id": "../1", "snapshots": {"../1": checksum(b"")}}
    one.store.objects.put("current.json", sealed(pointer).encode("ascii"))
    with pytest.raises(StoreError, match=r"current\.json is damaged"):
        machine("two").manifest()


def test_a_large_file_goes_in_parts_and_comes_back_the_same(machine: Machine, tmp_path: Path) -> None:
    content, store = random.Random(1).randbytes(40 << 20), machine("one").store
    (tmp_path / "file").write_bytes(content)
    assert store
    store.objects.put("files/large", tmp_path / "file")
    store.objects.download("files/large", tmp_path / "back", checksum(content))
    assert (tmp_path / "back").read_bytes() == content


def test_who_is_followed_before_the_answer_comes_was_published(machine: Machine, proxy: StoreProxy) -> None:
    one, two = machine("one"), machine("two")
    publish(one, "1", ["a"])

    def fault(method: str, path: str) -> str | None:
        if method == "PUT" and path.endswith("current.json"):
            proxy.fault = follow
            return "lost answer"
        return None

    def follow(method: str, path: str) -> None:
        proxy.fault = lambda *_: None
        publish(two, "3", ["c"])

    proxy.fault = fault
    assert publish(one, "2", ["b"]).build_id == "2"
    assert readable(machine, "three") == {"1": ["a"], "2": ["b"], "3": ["c"]}


def test_a_machine_whose_clock_is_slow_names_its_build_after_the_newest(machine: Machine) -> None:
    publish(machine("one"), "20990101T000000000", ["a"])
    assert machine("two").next_build_id() == "20990101T000000001"


def test_a_store_without_conditional_puts_is_told_at_the_start(machine: Machine, proxy: StoreProxy) -> None:
    proxy.conditional = False
    with pytest.raises(StoreError, match="ignores the conditions of a put"), machine("one").lock("a test"):
        pytest.fail("it is held")
    assert not any("current.json" in asked for asked in proxy.asked if asked.startswith("PUT"))


def test_a_build_is_published_in_a_store_and_asked_on_another_machine(
    url: Url, tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"doc_id": "tides", "text": "High water at the Tollen quay is at nine."}', "utf-8")
    monkeypatch.setenv("QUERN_STORES", str(tmp_path / "one"))
    question = "When is high water at the quay?"
    assert quern_here("ask", "-w", url, question).stderr.startswith(f"quern: {url} is no warehouse; ")
    built = [quern_here("build", pages, "-w", place, "--engine", "local", "--json") for place in (tmp_path / "wh", url)]
    digests = [{n: t["digest"] for n, t in json.loads(b.stdout)["tables"].items()} for b in built]
    assert digests[0] == digests[1]
    monkeypatch.setenv("QUERN_STORES", str(tmp_path / "two"))
    assert "at nine" in json.loads(quern_here("ask", "-w", url, "--json", question).stdout)["answer"]
    for command in (["verify"], ["snapshots", "list"], ["report", "--out", tmp_path / "report.html"], ["audit"]):
        done = quern_here(*command, "-w", url)
        assert done.returncode == 0, done.stderr
    assert quern_here("show", "document", "tides", "-w", url).returncode == 0
    refused = quern_here("ingest", pages, "-w", url)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("address", "environment", "said"),
    [
        ("s3://bucket/x", {"AWS_ACCESS_KEY_ID": ""}, "credentials are missing or refused"),
        ("s3://no-such-bucket/x", {}, "there is no such bucket"),
        ("s3://bucket", {}, "names no bucket and prefix"),
        ("s3://bucket/x", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot be read"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_sentence(
    address: str,
    environment: dict[str, str],
    said: str,
    server: str,
    quern_here: Quern,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in ({"AWS_ENDPOINT_URL": server, "QUERN_STORES": str(tmp_path)} | environment).items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    refused = quern_here("ask", "-w", address, "When?")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert said in refused.stderr
