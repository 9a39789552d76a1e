"""Pages in layouts that the article benchmarks lack, in German, French, Polish and English; each text is our own.

A page is its layout's markup inside a frame of navigation, sidebar and footer. Its main text is told by lines that
must be read; lines with `NOT` must stay out.
"""

# ruff: noqa: E501 - markup on one line is easier to read than markup cut up

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

NOT: Final = "✗"

_DE: Final = (
    "Der Stadtrat hat am Dienstagabend nach langer Debatte beschlossen, die alte Markthalle zu sanieren und im Herbst 2027 wieder zu öffnen.",
    "Die Kosten werden auf 4,2 Millionen Euro geschätzt, davon übernimmt das Land nach Angaben der Verwaltung knapp die Hälfte.",
    "„Wir wollten nicht noch zehn Jahre warten“, sagte Bürgermeisterin Anke Rehbein nach der Sitzung vor dem Rathaus.",
    "Kritik kam von den Händlern, die während der Bauarbeiten in Zelte auf dem Parkplatz am Mühlgraben umziehen müssen.",
    "Ob die Buden im Winter beheizt werden können, soll die Verwaltung bis zur nächsten Sitzung im März klären.",
)
_FR: Final = (
    "La bibliothèque municipale rouvrira ses portes samedi matin après onze mois de travaux et une inondation en janvier.",
    "Les lecteurs y trouveront une salle de travail plus grande, deux mille nouveaux livres et un café tenu par des bénévoles.",
    "« Nous avons sauvé presque tous les manuscrits », raconte Odile Marchais, qui dirige la maison depuis douze ans.",
    "L'entrée reste gratuite pour les enfants, et l'abonnement annuel des adultes ne changera pas avant l'été prochain.",
)
_PL: Final = (
    "Mieszkańcy osiedla przez trzy lata walczyli o nowy przystanek, a w poniedziałek zatrzymał się tam pierwszy tramwaj.",
    "Budowa kosztowała sześć milionów złotych i trwała o pół roku dłużej, niż zapowiadał wykonawca na początku prac.",
    "Teraz droga do centrum zajmuje kwadrans, a dawniej trzeba było jechać autobusem z przesiadką na rynku.",
    "Kolejny odcinek torów ma powstać za dwa lata, jeśli miasto dostanie na niego pieniądze z funduszu krajowego.",
)
_EN: Final = (
    "The lighthouse keeper's cottage at Skarrow Point, empty since the light was automated in 1984, has been sold at auction.",
    "Its new owner, a retired boat builder from the next village, intends to live there and to mend the slipway himself.",
    "He paid a little more than the council had expected, and a good deal less than the agents had asked for in spring.",
    "Planning rules forbid any change to the outer walls, which were built in 1861 of granite from the quarry at Hallow.",
    "The lamp itself stays the property of the harbour board and will go on turning every twelve seconds.",
)


@dataclass(frozen=True)
class Page:
    """A page of one layout.

    Attributes:
        name: The layout, for a test's id.
        html: The page.
        wanted: Lines that its text must hold.
        unwanted: Lines that it must not hold.
    """

    name: str
    html: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]


def _joined(lines: Sequence[str], form: Callable[[str], str]) -> str:
    return "\n".join(form(line) for line in lines)


def _p(line: str) -> str:
    return f"<p>{line}</p>"


def _div(line: str) -> str:
    return f"<div>{line}</div>"


def _widget(line: str) -> str:
    return (
        f'<div class="elementor-element elementor-element-{len(line):x} elementor-widget elementor-widget-text-editor">'
        f'<div class="elementor-widget-container">{line}</div></div>'
    )


def _wpb(line: str) -> str:
    return (
        '<div class="vc_row wpb_row"><div class="vc_column_container"><div class="wpb_text_column wpb_content_element">'
        f'<div class="wpb_wrapper"><p>{line}</p></div></div></div></div>'
    )


def _wix(line: str) -> str:
    return f'<div id="comp-{len(line):x}" class="KcpHeO tz5f0K"><div class="font_8"><span><span>{line}</span></span></div></div>'


def _framed(title: str, main: str) -> str:
    return f"""<!DOCTYPE html><html><head><title>{title} – Probeseite</title></head><body>
<div id="top"><a href="/">Startseite</a> <a href="/a">Aktuelles</a> <a href="/b">Verein</a> <a href="/c">Kontakt</a></div>
<div id="page">{main}
<div id="sidebar"><h3>Meistgelesen ✗</h3><ul><li><a href="/1">Neue Turnhalle wird teurer als gedacht ✗</a></li>
<li><a href="/2">Brücke bleibt bis Mai gesperrt ✗</a></li></ul></div></div>
<footer><p>© 2026 Probeseite, alle Rechte vorbehalten ✗</p></footer></body></html>"""


_RELATED: Final = (
    '<div class="related-posts"><h3>Das könnte Sie auch interessieren ✗</h3><ul><li><a href="/3">Zehn Fragen an den'
    ' neuen Trainer ✗</a></li><li><a href="/4">Warum der Bahnhof grün wird ✗</a></li></ul></div>'
)
_SHARE: Final = '<div class="share-buttons"><a href="#">Teilen ✗</a> <a href="#">Twittern ✗</a></div>'
_KOMMENTARE: Final = (
    '<section id="kommentare" class="kommentarbereich"><h3>2 Kommentare ✗</h3><div class="kommentar"><p>Endlich passiert'
    " einmal etwas, ich freue mich sehr darauf! ✗</p></div><div class='kommentar'><p>Und wer soll das alles am Ende"
    " wieder bezahlen, wir natürlich. ✗</p></div></section>"
)


def _page(name: str, title: str, main: str, wanted: Sequence[str]) -> Page:
    html = _framed(title, main)
    unwanted = [part.split(">")[-1].strip() for part in html.split(NOT)[:-1]]
    return Page(name, html.replace(f" {NOT}", ""), tuple(wanted), tuple(unwanted))


def _builders() -> list[Page]:
    """Text spread over sibling blocks by page builders."""
    fr, pl, en = _FR, _PL, _EN
    return [
        _page("wpb columns", "Bibliothèque", f"<div class='inhalt'>{_joined(fr, _wpb)}</div>{_RELATED}", fr),
        _page("wix", "Przystanek", f"<div class='mesh'><h1>Przystanek</h1>{_joined(pl, _wix)}</div>{_SHARE}", pl),
        _page(
            "gutenberg groups",
            "Cottage",
            f"<div class='entry-content'><div class='wp-block-group'>{_joined(en[:2], _p)}</div><div class='wp-block-columns'>"
            f"<div class='wp-block-column'>{_joined(en[2:4], _p)}</div><div class='wp-block-column'>{_p(en[4])}</div></div></div>",
            en,
        ),
    ]


def _loose() -> list[Page]:
    """Text that stands in no paragraph."""
    de, fr, pl, en = _DE, _FR, _PL, _EN
    talk = ["„Kommst du morgen?“", "„Nein.“", "„Warum denn nicht?“", "„Weil es regnet.“"]
    between = f"{_p(de[0])}{_joined(talk, _p)}{_p(de[1])}"
    return [
        _page("divs", "Markthalle", f"<div class='w'><h1>Markthalle</h1>{_joined(de, _div)}</div>{_RELATED}", de),
        _page("breaks", "Bibliothèque", f"<div class='w'><h1>Bibliothèque</h1>{'<br><br>'.join(fr)}</div>{_SHARE}", fr),
        _page(
            "paragraphs and loose text",
            "Przystanek",
            f"<div class='post-content'><p>{pl[0]}</p>{pl[1]}<br><br><b>Uwaga.</b> {pl[2]}<p>{pl[3]}</p></div>",
            pl,
        ),
        _page("dialogue", "Gespräch", f"<article>{between}{_joined(de[2:], _p)}</article>{_KOMMENTARE}", [*talk, *de]),
        _page(
            "dialogue in divs",
            "Gespräch",
            f"<div class='x'>{_div(de[0])}{_joined(talk, _div)}{_joined(de[1:], _div)}</div>",
            [*talk, *de],
        ),
        _page(
            "layout table",
            "Cottage",
            "<table width='100%'><tr><td width='150'><a href='/'>Home</a><br><a href='/n'>News ✗</a></td><td>"
            f"<font size='2'>{'<br><br>'.join(en)}</font></td></tr></table>",
            en,
        ),
        _page(
            "forum",
            "Regler defekt",
            "".join(
                f"<div class='post_row'><div class='poster'>Nutzer{i}</div><div class='msg_body'>{x}</div></div>"
                for i, x in enumerate(de)
            ),
            de,
        ),
        _page(
            "after an empty element",
            "Markthalle",
            "<article>" + "".join(f"<p><span></span><a name='a'></a>{x}</p>" for x in de) + "</article>",
            de,
        ),
    ]


def _framed_articles() -> list[Page]:
    """Articles in elements that mean something else, and lines at their edges."""
    de, fr, pl, en = _DE, _FR, _PL, _EN
    lead = "Elf Monate lang war sie geschlossen: Am Samstag öffnet die Halle, und vieles ist neu."
    last = "Weitere Auskünfte gibt es unter <a href='https://halle.example'>www.halle.example</a> oder im Rathaus."
    contact = ["Anna Kessler, Telefon 0351 5550184", "E-Mail: presse@halle.example"]
    return [
        _page(
            "in an aside",
            "Cottage",
            f"<aside class='text-wrap'><h1>Cottage</h1>{_joined(en, _p)}</aside>{_RELATED}",
            en,
        ),
        _page(
            "standfirst in a header",
            "Markthalle",
            f"<article><header><h1>Markthalle</h1><p class='intro'>{lead}</p></header>{_joined(de, _p)}{_SHARE}</article>",
            [lead, *de],
        ),
        _page(
            "sub-headings in headers",
            "Cottage",
            "<article>"
            + "".join(
                f"<section><header><h2>Chapter {i} of the sale</h2></header>{_p(x)}</section>" for i, x in enumerate(en)
            )
            + "</article>",
            [*en, "Chapter 2 of the sale"],
        ),
        _page(
            "last line with a link",
            "Markthalle",
            f"<article>{_joined(de, _p)}<p>{last}</p></article>{_RELATED}",
            [*de, "Weitere Auskünfte gibt es unter www.halle.example oder im Rathaus."],
        ),
        _page(
            "press release with a contact",
            "Presse",
            f"<div class='content'>{_joined(de[:3], _p)}<p>Pressekontakt:<br>{'<br>'.join(contact)}</p></div>",
            [*de[:3], "Pressekontakt:", *contact],
        ),
        _page(
            "event with a date in a sentence",
            "Concert",
            f"<article><p>{fr[0]}</p><p>Le concert commence <time>vendredi 3 mai à 20 heures</time> dans la grande salle"
            f" du premier étage.</p>{_joined(fr[1:], _p)}</article>",
            ["Le concert commence vendredi 3 mai à 20 heures dans la grande salle du premier étage.", *fr],
        ),
        _page(
            "questions that are buttons",
            "Pytania",
            "<main>"
            + "".join(f"<h3><button>Pytanie numer {i}?</button></h3><p>{x}</p>" for i, x in enumerate(pl))
            + "</main>",
            [*pl, "Pytanie numer 2?"],
        ),
        _page(
            "a widget beside the text",
            "Przystanek",
            f"<div class='post-content'>{_joined(pl, _p)}<div class='widget newsletter'><p>Zapisz się do naszego listu i"
            " czytaj najnowsze wiadomości. ✗</p></div></div>",
            pl,
        ),
    ]


def pages() -> list[Page]:
    """A page of every layout."""
    return [*_builders(), *_loose(), *_framed_articles()]
