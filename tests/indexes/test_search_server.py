from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from quern.indexes.served import search_server
from quern.indexes.served.search_layout import EXPORTABLE, mapped
from quern.indexes.served.search_server import SearchServer, SearchServerError
from quern.schemas.settings import SearchServerSettings
from quern.schemas.settings.reading import SettingsError, load_settings
from quern.schemas.tables import TABLES
from tests.proxies import Answer, Proxy, as_json, proxied, saying


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with proxied() as one:
        one.rule = lambda *_: saying("8.15.3")
        yield one


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pauses take no time; which there were."""
    pauses: list[int] = []
    monkeypatch.setattr(search_server, "pause", pauses.append)
    return pauses


def opened(url: str, **settings: Any) -> SearchServer:
    return SearchServer(SearchServerSettings(url=url, **{"tries": 3, "timeout": 5.0, **settings}))


def told_by(server: SearchServer) -> str:
    with pytest.raises(SearchServerError) as raised, server:
        pass
    return str(raised.value)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (saying("7.17.9"), "it has version 7.17.9; Quern knows elasticsearch 8 and 9"),
        (saying("3.8.0", distribution="opensearch"), "it is opensearch 3.8.0; name it with `--to opensearch`"),
        (as_json({"hello": "world"}), "it does not answer as a search server"),
        (as_json({"version": "1"}), "it does not answer as a search server"),
        ((200, b"<html>"), "it answers what is no JSON object"),
        (as_json({"error": {"reason": "unable to authenticate"}}, 401), "HTTP 401 to GET /: unable to authenticate"),
    ],
)
def test_what_is_no_server_that_is_known_is_said_in_a_sentence(proxy: Proxy, answer: Answer, told: str) -> None:
    proxy.rule = lambda *_: answer
    assert told in told_by(opened(proxy.url))


def test_a_server_that_is_down_is_told_at_once() -> None:
    with proxied() as gone:
        pass
    assert f"elasticsearch at {gone.url}: no answer to GET /: ConnectError" in told_by(opened(gone.url))


def test_a_slow_server_is_waited_for_as_long_as_the_setting_says(proxy: Proxy) -> None:
    proxy.rule = lambda *_: time.sleep(1) or saying("8.15.3")
    assert "no answer to GET /: ReadTimeout" in told_by(opened(proxy.url, timeout=0.2))


def test_an_answer_without_end_is_not_read(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_server, "_MOST_BYTES", 1 << 10)
    proxy.rule = lambda *_: (200, b" " * 4096)
    assert "more than" in told_by(opened(proxy.url))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_fails_for_now_is_asked_again_with_growing_pauses(proxy: Proxy, no_pause: list[int], status: int) -> None:
    with opened(proxy.url) as server:
        answers = iter([as_json({}, status), as_json({}, status), as_json({"count": 3})])
        proxy.rule = lambda *_: next(answers)
        assert server.call("GET", "/x/_count") == {"count": 3}
        proxy.rule = lambda *_: as_json({"error": "full"}, status)
        with pytest.raises(SearchServerError, match=f"HTTP {status} to GET /x/_count: full"):
            server.call("GET", "/x/_count")
    assert no_pause == [1, 2, 1, 2]


def bulk_answer(*statuses: int) -> Answer:
    items = [{"index": {"_id": str(n), "status": s, "error": {"reason": "why"}}} for n, s in enumerate(statuses)]
    return as_json({"errors": True, "items": items})


def test_of_a_bulk_only_what_was_put_off_is_sent_again(proxy: Proxy, no_pause: list[int]) -> None:
    with opened(proxy.url) as server:
        answers = iter([bulk_answer(201, 429, 201), bulk_answer(201)])
        proxy.rule = lambda *_: next(answers)
        server.bulk("x", [(key, b"{}") for key in "abc"])
        sent = [[json.loads(line) for line in body.splitlines()[::2]] for _, _, body in proxy.asked[1:]]
        assert sent == [[{"index": {"_id": key}} for key in "abc"], [{"index": {"_id": "b"}}]]
        proxy.rule = lambda *_: bulk_answer(429)
        with pytest.raises(SearchServerError, match="1 documents were put off 3 times: it is overloaded"):
            server.bulk("x", [("a", b"{}")])


def test_a_refused_document_is_named_and_one_that_is_gone_already_is_none(proxy: Proxy) -> None:
    with opened(proxy.url) as server:
        proxy.rule = lambda *_: bulk_answer(201, 400, 404)
        with pytest.raises(SearchServerError, match="1 of 3 documents sent are refused, the first, 1: why"):
            server.bulk("x", [("0", b"{}"), ("1", b"{}"), ("2", b"")])
        proxy.rule = lambda *_: bulk_answer(201)
        with pytest.raises(SearchServerError, match="it tells of 1 documents, and 2 were sent"):
            server.bulk("x", [("0", b"{}"), ("1", b"{}")])


def test_credentials_come_from_the_environment_and_are_told_to_nobody(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "c2VjcmV0")
    proxy.rule = lambda *_: as_json({"error": "no such key: c2VjcmV0"}, 403)
    assert told_by(opened(proxy.url)).endswith("HTTP 403 to GET /: no such key: [secret]")
    with pytest.raises(SettingsError, match="environment variables have the credentials"):
        load_settings(None, ["elasticsearch.url=http://user:secret@127.0.0.1:9200"])


@pytest.mark.parametrize("name", EXPORTABLE)
def test_every_table_with_a_key_of_one_column_has_a_mapping(name: str) -> None:
    table = TABLES[name].with_dimension(4)
    assert {*table.prose, *([table.words] if table.words else [])} <= {*table.schema.names}
    for field in table.schema:
        assert mapped(table, field, "elasticsearch")["type"], field.name
        assert field.name not in table.prose or pa.types.is_string(getattr(field.type, "value_type", field.type))


def test_a_repeated_request_whose_first_answer_was_lost_is_done(proxy: Proxy, no_pause: list[int]) -> None:
    there = as_json({"error": {"type": "resource_already_exists_exception", "reason": "index exists"}}, 400)
    answers = iter([as_json({}, 503), there, as_json({}, 503), as_json({}, 404), there])
    proxy.rule = lambda *_: next(answers)
    server = opened(proxy.url)
    assert server.call("PUT", "/chunks-1", {}) == server.call("DELETE", "/chunks-0") == {}
    assert len(no_pause) == 2
    with pytest.raises(SearchServerError, match="HTTP 400"):  # The first try is refused for what it is.
        server.call("PUT", "/chunks-1", {})
