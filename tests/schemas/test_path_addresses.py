"""A path of the command line or the API is a local path, a URL, or an error that says what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from quern.schemas.addresses import AddressError, Url, local_path, page_source, parse_address


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("pages/", "pages"),
        (Path("/a/b"), "/a/b"),
        ("-", "-"),
        ("Größe 東京 x", "Größe 東京 x"),
        ("a:b", "a:b"),
        ("./s3:x", "s3:x"),
        ("C:/pages", "C:/pages"),
        ("folder/s3:/x", "folder/s3:/x"),
        ("/data/s3:/x", "/data/s3:/x"),
        ("file:///a%20b/%C3%BC", "/a b/ü"),
        ("FILE:/a", "/a"),
    ],
)
def test_what_names_no_scheme_is_a_path_on_this_machine(text: str | Path, path: str) -> None:
    assert local_path(text) == page_source(text) == Path(path)


def test_a_scheme_is_read_in_small_letters_and_the_rest_as_it_stands() -> None:
    url = parse_address("S3://Bucket/a b//c/*.gz")
    assert url == "s3://Bucket/a b//c/*.gz"
    assert isinstance(url, Url)
    assert url.scheme == "s3"
    with pytest.raises(AddressError, match=r"s3://Bucket.* `quern build`, .* read pages from s3://"):
        local_path(url)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'' is no path; name a file or folder"),
        (" \t", "is no path"),
        ("a\0b", "is no path"),
        ("s3:/bucket/x", r"looks like s3://bucket/x .*absolute path"),
        ("./s3:/bucket/x", r"looks like s3://bucket/x"),
        ("./s3://bucket/x", r"looks like s3://bucket/x"),
        (Path("s3://bucket/x"), r"looks like s3://bucket/x"),
        ("s3:///bucket/x", r"looks like s3://bucket/x"),
        ("s3://", "names no bucket"),
        ("file://host/x", "three slashes and no host"),
        ("./file:///x", "three slashes"),
        ("gs://x/y", "gs://x/y is not served here"),
        ("hdfs://x/y", "hdfs://x/y is not served here"),
        ("https://x.example/", "`quern crawl` fetches web addresses"),
    ],
)
def test_what_cannot_be_read_from_is_refused_in_a_sentence(text: str | Path, told: str) -> None:
    with pytest.raises(AddressError, match=told):
        page_source(text)
