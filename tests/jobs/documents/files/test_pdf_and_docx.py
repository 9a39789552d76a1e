"""PDF and DOCX files: words in order, tables, what is stated, pages, and what untrusted files may not do."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pypdfium2
import pytest
from docx import Document
from docx.enum.text import WD_BREAK
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

import quern
from quern.jobs.documents.clean import Clean
from quern.jobs.documents.files.docx import read_docx
from quern.jobs.documents.files.pdf import read_pdf
from quern.jobs.pages.formats.files import DOCX_TYPE, PDF_TYPE
from quern.schemas.contract.validate import validate
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import DOCUMENTS, PAGES
from tests.benchmarks.files import cells_right, generated_file, read_file, words_in_order
from tests.jobs.pages.archived import http, put, read, reasons, warc

Draw = Callable[[Canvas], None]
DAY = "2024-05-02T00:00:00Z"


def pdf(*pages: Draw, **options: Any) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, **options)
    canvas.setTitle("Harbour notes")
    canvas.setAuthor("Ute Sand")
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def lines(*texts: str, top: int = 700) -> Draw:
    def draw(canvas: Canvas) -> None:
        for n, text in enumerate(texts):
            canvas.drawString(60, top - 14 * n, text)

    return draw


def image(canvas: Canvas) -> None:
    canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), "white")), 60, 60)


def scan(of: Draw) -> Draw:
    """Draws what `of` draws as a picture."""

    def draw(canvas: Canvas) -> None:
        page = pypdfium2.PdfDocument(pdf(of))[0]
        canvas.drawImage(ImageReader(page.render(scale=2).to_pil()), 0, 0, *page.get_size())

    return draw


def docx(fill: Callable[[Any], Any]) -> bytes:
    document, out = Document(), io.BytesIO()
    fill(document)
    document.save(out)
    return out.getvalue()


def repacked(body: bytes, change: Callable[[bytes], bytes] = bytes, **more: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == "word/document.xml" else old.read(name))
        for name, content in more.items():
            new.writestr(name, content)
    return out.getvalue()


def clean(body: bytes, content_type: str, **settings: float) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    row = {"url": "file:///a/file", "content_type": content_type, "charset": None, "body": body}
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    found = Clean(CleanSettings(**settings)).apply(pa.RecordBatch.from_pylist([row], schema=schema))
    validate(found.rows, DOCUMENTS)
    return found.rows.to_pylist(), [(reject.reason, reject.detail) for reject in found.rejects]


def text_of(body: bytes) -> str:
    return str(read_pdf(body, 100, 1_000_000)["text"])


# ---- order and tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("single.pdf", "columns.pdf", "three.pdf", "parted.pdf", "wrapped.pdf", "spans.pdf", "book.pdf", "level.pdf"),
        *("table_in_column.pdf", "long.pdf", "lists.pdf", "merged.docx", "mixed.docx"),
    ],
)
def test_words_are_in_order_and_cells_in_their_rows(name: str) -> None:
    sample = generated_file(name, 31)
    found = read_file(sample)
    assert words_in_order(sample, found["text"]) >= 0.995
    assert cells_right(sample, found["text"]) >= 0.97
    assert (found["title"], found["author"]) == (sample.title, "Ute Sand" if name != "parted.pdf" else None)


def test_a_paragraph_and_a_parted_word_go_on_over_the_page_and_running_lines_are_left_out() -> None:
    def page(number: int, *texts: str) -> Draw:
        def draw(canvas: Canvas) -> None:
            canvas.drawString(60, 800, "Annual report 2024")
            lines(*texts)(canvas)
            canvas.drawString(280, 30, f"Page {number} of 3")

        return draw

    begun = page(1, "The ferry to the northern quay leaves at nine in the morn-")
    ended = page(2, "ing and returns at noon.", "Nothing else sails before the bridge is open again.")
    found = read_pdf(pdf(begun, ended, page(3, "The harbour is closed.")), 100, 1000)
    first = "The ferry to the northern quay leaves at nine in the morning "
    rest = "and returns at noon.\nNothing else sails before the bridge is open again.\nThe harbour is closed."
    assert found["text"] == first + rest
    assert found["page_starts"] == [0, len(first), found["text"].index("The harbour")]


def test_a_page_that_is_set_sideways_is_read() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.drawString(100, -200, "The timetable is printed across the page,")
        canvas.drawString(100, -214, "so that the paper has to be turned.")

    assert text_of(pdf(draw)) == "The timetable is printed across the page, so that the paper has to be turned."


def test_word_text_keeps_its_meaning() -> None:
    def fill(document: Any) -> None:
        price = document.add_paragraph("The hall has 40 m")
        # Word parts a run wherever somebody went on writing.
        runs = "superscript:2| and costs |strike:12|14 EUR.|hidden:secret| CO|subscript:|subscript:2| is below 10|"
        runs += "superscript:-|superscript:6| of the 3|superscript:rd| floor."
        for run in runs.split("|"):
            style, _, text = run.rpartition(":")
            setattr(price.add_run(text).font, style or "bold", True)
        table = document.add_table(3, 3)
        for n, cell in enumerate(cell for row in table.rows for cell in row.cells):
            cell.text = f"c{n}"
        table.cell(0, 1).text = "c | 1"
        table.cell(2, 0).text = ""
        table.cell(1, 0).merge(table.cell(2, 0)).text = "both"

    expected = "The hall has 40 m^2 and costs 14 EUR. CO2 is below 10^-6 of the 3rd floor."
    expected += "\nc0 | c / 1 | c2\nboth | c4 | c5\nboth | c7 | c8"
    assert read_docx(docx(fill))["text"] == expected


def paged(marked: bool) -> bytes:
    """A file of four pages, where Word marked the ends of pages or only the author did, one of them by hand in both."""

    def fill(document: Any) -> None:
        first = document.add_paragraph("The lamp is dark")
        first.add_run().add_break(WD_BREAK.PAGE)
        first.add_run("END until Friday.")
        table = document.add_table(2, 2)
        for n, text in enumerate(("a", "b", "ENDc", "ENDd")):
            table.cell(n // 2, n % 2).text = text
        document.add_paragraph("Boats ENDkeep away.")

    end = b"<w:lastRenderedPageBreak/>" if marked else b""
    parts = b"</w:t>" + end + b"<w:t xml:space='preserve'>"
    return repacked(docx(fill), lambda xml: xml.replace(b"END", parts))


def test_pages_of_word_are_those_that_it_showed_or_else_the_breaks_of_the_author() -> None:
    found = read_docx(paged(marked=True))
    text, starts = found["text"], found["page_starts"]
    assert text == "The lamp is dark\nuntil Friday.\na | b\nc | d\nBoats keep away."
    assert [text[at:].split()[0] for at in starts] == ["The", "until", "c", "keep"]
    found = read_docx(paged(marked=False))
    assert (found["text"], found["page_starts"]) == (text, [0, 17])
    assert read_docx(docx(lambda d: d.add_paragraph("One page, or nobody knows.")))["page_starts"] is None


def test_word_notes_and_boxes_follow_their_paragraph() -> None:
    box = (
        b"<w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p>"
        b"</w:txbxContent></mc:Choice><mc:Fallback><w:t>In a box</w:t></mc:Fallback></mc:AlternateContent></w:r>"
        b"<w:r><w:footnoteReference w:id='7'/></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    notes = (
        b"<w:footnotes xmlns:w='w'><w:footnote w:id='7'><w:p><w:r><w:t>Since 1912.</w:t></w:r></w:p></w:footnote>"
        b"</w:footnotes>"
    )
    body = docx(lambda d: (d.add_paragraph("The quay."), d.add_paragraph("The end.")))
    body = repacked(body, lambda xml: xml.replace(b"</w:p>", box, 1), **{"word/footnotes.xml": notes})
    assert read_docx(body)["text"] == "The quay.\nIn a box\nSince 1912.\nThe end."


# ---- documents -------------------------------------------------------------------------------------------


def test_a_file_makes_a_document_with_what_it_states() -> None:
    body = pdf(lines("The ferry leaves the northern quay at nine."), lines("Mail the office at a@b.example."))
    body = body.replace(b"/CreationDate", b"/CreationDate (D:20240503120000+02'00') /Other")
    ((row,), rejects) = clean(body, PDF_TYPE)
    assert (row["title"], row["author"], row["language"]) == ("Harbour notes", "Ute Sand", "en")
    assert row["published_at"].isoformat() == "2024-05-03T10:00:00+00:00"
    assert (row["page_starts"], rejects) == ([0, 44], [])

    def fill(document: Any) -> None:
        document.add_heading("Notice to sailors", 0)
        document.add_paragraph("The lamp of the outer pier is dark until Friday.")

    ((row,), rejects) = clean(docx(fill), DOCX_TYPE)
    assert (row["title"], row["author"], row["published_at"]) == ("Notice to sailors", None, None)
    assert (row["page_starts"], rejects) == (None, [])


def test_scanned_pages_are_told_and_read_where_that_is_asked_for() -> None:
    typed = "The ferry leaves the northern quay at nine."
    pictured = "Ticket T-1007 was closed on 3 May 2024 by Ute Sand."
    body = pdf(lines(typed), scan(lines(pictured)))
    ((row,), rejects) = clean(body, PDF_TYPE)
    assert row["text"] == typed
    assert rejects == [("pages_without_text", "kept, but 1 pages of the file have no text layer: 2")]
    ((row,), rejects) = clean(body, PDF_TYPE, ocr=True)
    assert (row["text"], row["page_starts"], rejects) == (f"{typed}\n{pictured}", [0, 44], [])
    rows, ((code, _),) = clean(pdf(image), PDF_TYPE, ocr=True)
    assert (rows, code) == ([], "no_text_layer")


# ---- hostile files ---------------------------------------------------------------------------------------


def objects(*contents: bytes) -> bytes:
    body, places = b"%PDF-1.7\n", []
    for n, content in enumerate(contents, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (n, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(contents) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return body + end % (size, table, size, len(body))


def page_of(content: bytes, kids: int = 1) -> bytes:
    pages = b"<</Type/Pages/Kids[%b]/Count %d>>" % (b"3 0 R " * kids, kids)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>"
    return objects(b"<</Type/Catalog/Pages 2 0 R>>", pages, page, content)


def bomb() -> bytes:
    """A page whose content is 2 GB of spaces, in 2 KB."""
    pack = zlib.compressobj(9)
    once = b"".join(pack.compress(b" " * (1 << 24)) for _ in range(128)) + pack.flush()
    twice = zlib.compress(once, 9)
    head = b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n" % len(twice)
    return page_of(head + twice + b"\nendstream")


SENTENCE = docx(lambda document: document.add_paragraph("The ferry leaves at nine from the quay."))
ENTITY = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document'


@pytest.mark.parametrize(
    ("content_type", "body", "reason", "told"),
    [
        (PDF_TYPE, pdf(lines("Secret"), encrypt="key"), "encrypted", "asks for a password"),
        (PDF_TYPE, pdf(image, image), "no_text_layer", "no text layer: 2 pages"),
        (PDF_TYPE, pdf(lines("Much text."))[:400], "parse_error", "no PDF file"),
        (PDF_TYPE, page_of(b"<</Length 0>>stream\n\nendstream", kids=6000), "too_long", "6000 pages"),
        (PDF_TYPE, bomb(), "parser_crashed", ""),
        (DOCX_TYPE, repacked(SENTENCE, lambda x: x.replace(b"<w:document", ENTITY, 1)), "forbidden_entities", "word/"),
        (DOCX_TYPE, repacked(SENTENCE, lambda x: x.replace(b"ferry", b"f" * (101 << 20))), "too_large", "100 MiB"),
        (DOCX_TYPE, repacked(SENTENCE, **{f"word/media/{n}.png": b"" for n in range(10_000)}), "too_many_parts", "10"),
        (DOCX_TYPE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted", "asks for a password"),
        (DOCX_TYPE, SENTENCE[:2000], "parse_error", "no DOCX file"),
        (DOCX_TYPE, repacked(SENTENCE, lambda x: x.replace(b"<w:p>", b"<w:sdt>" * 900, 1)), "parse_error", "no DOCX"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_a_hostile_file_is_one_reject(content_type: str, body: bytes, reason: str, told: str) -> None:
    rows, ((code, detail),) = clean(body, content_type, memory_per_page=512)
    assert (rows, code) == ([], reason)
    assert told in detail


def test_what_is_no_such_file_is_left_out_when_it_is_read(tmp_path: Path) -> None:
    put(tmp_path / "a.pdf", b"no PDF at all")
    put(tmp_path / "b.docx", b"<html>")
    put(tmp_path / "c.pdf.gz", gzip.compress(pdf(lines("The ferry."))))
    put(tmp_path / "d.docx", SENTENCE)
    rows, rejects = read(tmp_path)
    assert {row["url"]: row["content_type"] for row in rows} == {"file:///c.pdf": PDF_TYPE, "file:///d.docx": DOCX_TYPE}
    assert reasons(rejects) == {"a.pdf": "not_pdf", "b.docx": "not_docx"}
    _, rejects = read(tmp_path / "d.docx", max_file_bytes=1000)
    assert reasons(rejects) == {"d.docx": "too_large"}


def test_a_capture_of_a_file_is_read(tmp_path: Path) -> None:
    captures = [
        ("https://quay.example/a.pdf", http(pdf(lines("The ferry.")), content_type=PDF_TYPE), DAY),
        ("https://quay.example/b.pdf", http(b"<html>moved", content_type=PDF_TYPE), DAY),
    ]
    rows, rejects = read(put(tmp_path / "a.warc", b"".join(warc(*captures))))
    assert [(row["url"], row["content_type"]) for row in rows] == [("https://quay.example/a.pdf", PDF_TYPE)]
    assert [reject.reason for reject in rejects] == ["not_pdf"]


# ---- answers ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_citation_names_its_page(tmp_path: Path) -> None:
    first = "The northern ferry was built by the Tollen yard for the island council in 1912."
    second = "The new engine of the ferry was delivered by Brandt Marine in the spring of 2024."
    put(tmp_path / "in" / "report.pdf", pdf(lines("Call the office at 555-0168, please.", first), lines(second)))
    put(tmp_path / "in" / "scan.pdf", pdf(image))
    settings = {"engine.engine": "local", "audit.max_reject_share": 1.0}
    quern.build(tmp_path / "in", tmp_path / "wh", settings=settings)
    answer = quern.ask("Who delivered the new engine of the ferry?", tmp_path / "wh")
    (document,) = quern.table("documents", tmp_path / "wh").to_pylist()
    assert "[PHONE]" in document["text"]
    assert document["text"][document["page_starts"][1] :].startswith("The new engine")
    cited = answer.citations[0]
    assert ("Brandt Marine" in cited.quote, cited.page) == (True, 2)
    assert answer.hits[0].page == 1
    assert "page_starts" not in answer.hits[0].model_dump()
    traced = quern.show("citation", f"{cited.doc_id}:{cited.start}-{cited.end}", tmp_path / "wh")
    assert traced["from"]["page number"] == 2
