"""What there is to read: files named by paths, folders, patterns and s3:// addresses, and what tells one's content.

Nothing is read here but listings, and the first bytes of files whose ending says nothing.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from pyarrow import fs

from quern.jobs.pages.formats.files import FILE_TYPES, PDF_BEGINS, TEXTS
from quern.jobs.pages.formats.packed import opening
from quern.jobs.pages.formats.segments import WARC_BEGINS
from quern.schemas.addresses import S3, Url
from quern.schemas.errors import QuernError

HTML: Final = (".html", ".htm", ".xhtml")
JSONL: Final = (".jsonl", ".ndjson")
DELIMITED: Final = (".csv", ".tsv")
PARQUET: Final = (".parquet",)
FILES: Final = tuple(FILE_TYPES)
WARC: Final = (".warc", ".wet", ".wat")
ADDRESSED: Final = JSONL + DELIMITED + PARQUET + WARC
"""Kinds whose pages have ids or addresses; the address of another file is made from its path."""
KINDS: Final = HTML + JSONL + DELIMITED + PARQUET + TEXTS + FILES + WARC
PACKED: Final = (".gz", ".zst")
# Texts that a site has for machines, which lie among the pages that `wget -r` keeps.
_FOR_MACHINES: Final = frozenset({"robots.txt", "ads.txt", "app-ads.txt", "security.txt"})
# What to do with files that people have and that are not read.
_INSTEAD: Final = {
    (".json", ".json.gz"): "JSON of documents, a line each or in an array, is read where the file is called .jsonl",
    (".xlsx", ".xls", ".ods"): "workbooks are not read; save the sheet as .csv",
    (".doc", ".odt", ".rtf", ".epub"): "such texts are not read; save it as .docx, .html or .txt",
    (".zip", ".wacz", ".tar", ".tar.gz", ".tgz", ".7z"): "packed folders are not read; unpack it",
    (".arc", ".arc.gz"): "ARC files are not read; make it a WARC file by `warcio recompress`",
}
# What Spark, Hadoop and systems of files write beside data.
_BESIDE_DATA: Final = re.compile(r"_SUCCESS|_(?:started|committed)_\d+|.*\.crc|\._.*|\.DS_Store|Thumbs\.db")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_CORPUS: Final = "corpus.jsonl"
_QUERIES: Final = "queries.jsonl"
_S3: Final = f"{S3}://"
_PATTERN: Final = re.compile(r"[*?\[]")
_SNIFFED: Final = 1 << 13
_S3_BUFFER: Final = 4 << 20


class IngestError(QuernError):
    """There is nothing to read; the message says why in one sentence."""


@dataclass(frozen=True)
class Input:
    """One file to read."""

    location: str  # Absolute path, or s3:// address.
    name: str  # Its name in tables: relative to the input; in a page store the location.
    path: str  # Path under the input, or the whole path, from which the address is made of a file that is one page.
    kind: str  # One of `KINDS`; empty where it cannot be told.
    size: int = 0  # Bytes.
    version: str = ""  # What tells this content from another: size and time of change, or the ETag.
    fault: tuple[str, str] | None = None  # Reason and detail, where it can be listed but not read.
    source: int = 0  # Position of the last source that names it, among those of one ingest.


def kind_of(name: str) -> str:
    """The ending that says how to read the file `name`, without that of its compression; empty for an unknown one."""
    name = bare = name.rpartition("/")[2].lower()
    if name in _FOR_MACHINES:
        return ""
    for packed in PACKED:
        name = name.removesuffix(packed)
    if name != bare and name.endswith(PARQUET):  # Compressed within, and read from the end.
        return ""
    return next((kind for kind in KINDS if name.endswith(kind) and name != kind), "")


def find_inputs(sources: Sequence[Path | Url], *, lenient: bool = False) -> list[Input]:
    """The files of `sources`, each once, with their locations as names: what a page store takes.

    With `lenient` a source may be missing or empty.

    Raises:
        IngestError: A source is missing, or none holds a file that can be read.
    """
    inputs: dict[str, Input] = {}
    for number, source in enumerate(sources):
        try:
            files = _of_each(source)
        except IngestError:
            if not lenient:
                raise
            continue
        for file in files:
            first = inputs.get(file.location, file)  # It may lie in a folder and be named itself.
            inputs[file.location] = replace(first, name=text_of(file.location), source=number)
    if not lenient and not any(file.kind for file in inputs.values()):
        names = ", ".join(map(str, sources)) or "no source"
        raise IngestError(f"{names}: none of the kinds of file that can be read ({known_kinds()})")
    return sorted(inputs.values(), key=lambda file: file.name)


def known_kinds() -> str:
    """The kinds of file, for messages."""
    return f"{', '.join(KINDS)}, each also as {', '.join(PACKED)}"


def _instead(name: str) -> str:
    """What to do with a file that is not read; empty where there is nothing to say."""
    return next((hint for endings, hint in _INSTEAD.items() if name.lower().endswith(endings)), "")


def _of_each(source: Path | Url) -> list[Input]:
    """The files of a source, which may be a pattern of local names."""
    if isinstance(source, Url) or source.exists() or not _PATTERN.search(os.fspath(source)):
        return of_source(source)
    names = sorted(glob.glob(os.fspath(source), recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    if not names:
        raise IngestError(f"no file matches {source}")
    matches = [path for path in map(Path, names) if not _BESIDE_DATA.fullmatch(path.name)]
    return [file for match in matches for file in of_path(match, lenient=True)]


def of_source(source: Path | Url) -> list[Input]:
    """The files of a path or of an s3:// address, with names relative to it.

    Raises:
        IngestError: There is nothing to read.
    """
    return _of_s3(source) if isinstance(source, Url) else of_path(source)


def covers(source: Path | Url, name: str) -> bool:
    """Whether `source` is, holds, or is a pattern that matches the file that a page store calls `name`."""
    address = str(source) if isinstance(source, Url) else text_of(os.fspath(source.absolute()))
    if name == address or name.startswith(address.rstrip("/") + "/"):
        return True
    if not _PATTERN.search(address):
        return False
    pattern = translated(address).removesuffix(r"\Z") + r"(?:/.*)?\Z"
    return re.match(pattern, name, re.DOTALL) is not None


# ---- local files -----------------------------------------------------------------------------------------


def of_path(root: Path, *, lenient: bool = False) -> list[Input]:
    """The file `root`, or all files under the folder `root`, sorted by path, those first that cannot be read.

    A `root` that is a symbolic link is followed. A file keeps the link's name where that tells its kind. With
    `lenient` a `root` that holds nothing readable is listed with its fault instead.

    Raises:
        IngestError: `root` is missing, unreadable, or holds no file of a known kind.
    """
    try:
        mode = root.stat().st_mode
    except FileNotFoundError:
        raise IngestError(f"{root} does not exist") from None
    except OSError as error:
        raise IngestError(f"{root} cannot be read: {error.strerror}") from None
    if not stat.S_ISDIR(mode):
        return [_named_file(root, lenient)]
    if not os.access(root, os.R_OK | os.X_OK):
        raise IngestError(f"{root} cannot be read: permission denied")
    closed, files = _walk(root)
    # The files without the queries and judgements that BEIR has beside a corpus.
    names = {file.name for file in files}
    corpora = {n.removesuffix(_CORPUS) for n in names if n.endswith(_CORPUS)}
    homes = [n for n in corpora if (not n or n.endswith("/")) and n + _QUERIES in names]
    beside = tuple(home + name for home in homes for name in (_QUERIES, "qrels/"))
    files = [file for file in files if not file.name.startswith(beside)] if beside else files
    if not lenient and not any(file.kind for file in files):
        unknown = any(file.kind == "" and file.fault and file.fault[0] == "unknown_kind" for file in files)
        holds = f"none of the kinds of file that can be read ({known_kinds()})" if unknown else "no files"
        why = f" ({closed[0].fault[1]})" if closed and closed[0].fault else ""
        unread = f"; {len(closed)} folders were not entered, such as {closed[0].name}{why}" if closed else ""
        instead = next((f"; {file.name}: {hint}" for file in files if (hint := _instead(file.name))), "")
        raise IngestError(f"{root} holds {holds}{instead}{unread}")
    return closed + files


def _named_file(root: Path, lenient: bool) -> Input:
    """A file that was named itself: its content tells its kind where its ending does not."""
    path = root if kind_of(root.name) else root.resolve()
    kind = kind_of(path.name)
    fault = None
    # Archives and lines of JSON are often called `.txt`.
    if (not kind or kind in TEXTS) and path.is_file():
        with path.open("rb") as stream:
            kind = sniffed(stream) or kind
    if not kind:
        if not lenient:
            if instead := _instead(root.name):
                raise IngestError(f"{root}: {instead}")
            raise IngestError(f"{root} is none of the kinds of file that can be read: {known_kinds()}")
        fault = _UNKNOWN
    return _local(path, path.parent, kind, fault)


_UNKNOWN: Final = ("unknown_kind", "neither its ending nor its content is of a kind that can be read")


def _local(path: Path, root: Path, kind: str, fault: tuple[str, str] | None = None) -> Input:
    location, name = os.fspath(path.absolute()), _CONTROL.sub("\ufffd", text_of(path.relative_to(root).as_posix()))
    try:
        status = path.stat()
    except OSError as error:
        return Input(location, name, name, kind, fault=("unreadable", error.strerror or str(error)))
    version = f"{status.st_size}-{status.st_mtime_ns}"
    return Input(location, name, os.fspath(path.relative_to(root)), kind, status.st_size, version, fault)


def text_of(path: str) -> str:
    """A path or address as text; bytes that are no UTF-8 are written as escapes, as Arrow text must be valid."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _walk(root: Path) -> tuple[list[Input], list[Input]]:
    """Folders under `root` that were not entered, and its files."""
    closed: list[Input] = []
    files: list[tuple[tuple[str, ...], Input]] = []

    def shut(path: Path, reason: str, detail: str) -> None:
        name = text_of(path.relative_to(root).as_posix())
        closed.append(Input(text_of(path.absolute().as_posix()), name, name, "", fault=(reason, detail)))

    def unreadable(error: OSError) -> None:
        shut(Path(error.filename), "unreadable_folder", error.strerror or str(error))

    within = root.resolve()
    for folder, folders, names in os.walk(root, onerror=unreadable):
        # Folders behind symbolic links are not entered: they lead outside, or to what is read anyway.
        for link in (path for name in folders if (path := Path(folder, name)).is_symlink()):
            shut(link, "linked_folder", "a symbolic link to a folder is not followed")
        for path in (Path(folder, name) for name in names if not _BESIDE_DATA.fullmatch(name)):
            # Only its ending tells its kind: what lies in a folder was not chosen one by one.
            kind, fault = kind_of(path.name), None
            if _CONTROL.search(path.name):
                kind, fault = "", ("bad_name", "its name holds a line break or another control character")
            elif not kind:
                hint = _instead(path.name) or f"no kind of file that can be read: {known_kinds()}"
                fault = ("unknown_kind", hint)
            elif path.is_symlink() and path.exists() and not path.resolve().is_relative_to(within):
                fault = ("unreadable", "a symbolic link that leads outside the folder is not followed")
            files.append((path.parts, _local(path, root, kind, fault)))
    closed.sort(key=lambda file: file.name)
    return closed, [file for _, file in sorted(files, key=lambda pair: pair[0])]


# ---- object stores ---------------------------------------------------------------------------------------


def _of_s3(source: Url) -> list[Input]:
    """The objects of an s3:// address: one object, all under a prefix, or those that match a pattern.

    Credentials, region and endpoint come from the environment, as for every tool of AWS (`AWS_ENDPOINT_URL`...).

    Raises:
        IngestError: Nothing is there, or the store cannot be asked.
    """
    address = source.removeprefix(_S3)
    pattern = _PATTERN.search(address)
    root = _s3_root(address)
    try:
        files = s3()
        info = files.get_file_info(root)
        single = info.type == fs.FileType.File
        infos = [info] if single else files.get_file_info(fs.FileSelector(root, recursive=True))
        objects = [e for e in infos if e.type == fs.FileType.File and not _BESIDE_DATA.fullmatch(e.base_name)]
        if pattern:
            matches = re.compile(translated(address))
            objects = [entry for entry in objects if matches.match(entry.path)]
        base = root.rpartition("/")[0] if single else root
        inputs: list[Input] = []
        for entry in objects:
            kind, path = kind_of(entry.path), entry.path.removeprefix(base).lstrip("/")
            if not kind and (single or pattern):
                with files.open_input_file(entry.path) as stream:
                    kind = sniffed(stream)
            version, fault = f"{entry.size}-{entry.mtime_ns or 0}", None if kind else _UNKNOWN
            inputs.append(Input(f"{_S3}{entry.path}", path, path, kind, entry.size, version, fault))
    except OSError as error:
        raise IngestError(f"{source} cannot be read: {' '.join(str(error).split())[:300]}") from None
    if not inputs:
        raise IngestError(f"{source}: there is no such object")
    return sorted(inputs, key=lambda file: file.location)


def _s3_root(address: str) -> str:
    """The bucket with the prefix before any pattern."""
    pattern = _PATTERN.search(address)
    return address[: pattern.start()].rpartition("/")[0] if pattern else address.rstrip("/")


def location_in(source: Path | Url, name: str) -> str:
    """Where the file is that `of_source(source)` calls `name`."""
    if isinstance(source, Url):
        root = _S3 + _s3_root(source.removeprefix(_S3))
        return root if root.endswith(f"/{name}") else f"{root}/{name}"
    return str(source / name if source.is_dir() or source.name != name else source)


# ---- opening ---------------------------------------------------------------------------------------------


def sniffed(stream: BinaryIO) -> str:
    """The kind of file that the first bytes of `stream` tell; empty where they do not."""
    head = opening(stream, _SNIFFED)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if WARC_BEGINS.match(head):
        return ".warc"
    if head.startswith(b"PAR1"):
        return ".parquet"
    if start.startswith(PDF_BEGINS):
        return ".pdf"
    if start.startswith(b'{"'):
        return ".jsonl"
    return ".html" if start[:15].lower().startswith((b"<!doctype html", b"<html")) else ""


@contextmanager
def opened(location: str) -> Iterator[BinaryIO]:
    """The file at `location`, open for reading at any byte.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    if location.startswith(_S3):
        with s3().open_input_file(location.removeprefix(_S3)) as native:
            yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, native), _S3_BUFFER))
        return
    path = Path(location)
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as stream:
        yield stream


def s3() -> fs.S3FileSystem:
    """Object storage as the environment describes it."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(endpoint_override=endpoint) if endpoint else fs.S3FileSystem()


def translated(pattern: str) -> str:
    """A shell pattern as a regular expression: `*` and `?` stay within a folder, `**` does not."""
    out = ""
    for piece in re.findall(r"\*\*/?|\*|\?|\[[^\]]+\]|[^*?\[]+|\[", pattern):
        if piece.startswith("[") and len(piece) > 1:
            escaped = re.escape(piece[1:-1].removeprefix("!")).replace("\\-", "-")
            out += f"[{'^' if piece[1] == '!' else ''}{escaped}]"
        else:
            out += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece)
    return out + r"\Z"
