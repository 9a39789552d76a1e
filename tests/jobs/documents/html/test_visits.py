"""Lines that speak of the visit are taken out; sentences about the same things stay."""

import pytest

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.visits import without_visits

PROSE = "Die Mühle steht seit 1794 am Bach, und noch immer dreht sich ihr Rad."


@pytest.mark.parametrize(
    "line",
    [
        "Lesen Sie auch:",
        "Zobacz też: Most znów otwarty",
        "– Anzeige –",
        "Kommentare (38)",
        "Empfohlener redaktioneller Inhalt",
        "War diese Seite hilfreich?",
        "Original-Content von: Mühlenverein, übermittelt durch news aktuell",
        "Lesezeit: 3 Minuten",
        "Foto: Wiebke Thöns",
        "Jetzt anmelden: Mit unserem Newsletter sind Sie jeden Morgen bestens informiert.",
        "Follow us on Twitter and Facebook.",
        "Suivez-nous sur Facebook et Instagram",
        "Diese Website benutzt Cookies, um die Nutzung zu erleichtern.",
        "Preise inkl. MwSt. zzgl. Versandkosten",
    ],
)
def test_a_line_that_speaks_of_the_visit_goes(line: str) -> None:
    assert without_visits(f"{PROSE}\n{line}\n{PROSE}") == f"{PROSE}\n{PROSE}"


@pytest.mark.parametrize(
    "line",
    [
        "Mehr als 2000 Menschen folgen der Müllerin auf Instagram.",
        "Read more books, said the miller, and then he went to bed.",
        "Melden Sie sich bis zum 1. März im Rathaus an.",
        "Anzeige gegen den Müller erstattete am Montag eine Nachbarin.",
        "Kommentare zur Satzung nimmt die Gemeinde bis Mai entgegen.",
        "The newsletter of the mill has 300 readers, most of them millers.",
        "Um diese Karte zu erstellen, wurden 300 Luftbilder ausgewertet.",
        "Rate this effect on a scale from one to five, the subjects were told.",
        "Lust auf mehr Freizeit haben vor allem die Jungen, zeigt die Umfrage.",
        '"Was this page helpful?" is what nearly every help page asks, and few answer.',
        "War diese Information für die Polizei nützlich? Das Gericht verneinte es.",
        "Über dieses Thema berichtete er auch in seinem zweiten Buch.",
        "Already a member of parliament at 24, she never lost an election.",
        "Your browser does not send the cookie to other hosts, so the session ends there.",
        "Sie sind Besucher in einem Land, das sie nicht kennen.",
        "Visitor numbers rose by 12 percent in 2023.",
        "Best viewed in autumn, the valley turns red within a week.",
        "Who is online at three in the morning? Mostly nurses and bakers.",
        "Damit werden personenbezogene Daten verarbeitet, und das Gesetz ist anzuwenden.",
        "Dalsza część artykułu opisuje metodę pomiaru.",
        "Il vous reste deux chapitres à lire avant l'examen.",
        "Stand 2019 lebten dort 300 Menschen.",
        "Published in 1852, the novel made her famous.",
        "Protesters used WhatsApp to get others to join them.",
        "Facebook makes people like me unhappy, she says.",
        "Millions of people follow Trump on Twitter.",
        "El usuario recibe un mensaje en WhatsApp con el código.",
        "Wer Instagram nicht nutzt, verpasst viel, glauben Jugendliche.",
        "Auf Twitter meldet sich der Minister am Abend zu Wort.",
        "Auf Instagram laden sie Bilder ihrer Katzen hoch.",
        "Según apunta el diario en Facebook, hubo tres heridos.",
        "Er abonniert den Newsletter seit Jahren.",
        "WhatsApp informiert sie nicht über neue Geräte, klagen Nutzer.",
        "The number of people who sign up for Facebook has fallen.",
        "On Facebook you can find them in the list of groups.",
        "„Weiterlesen!“",
        '"Read more," said the teacher.',
        "Vous recevez un message sur WhatsApp avec le code.",
    ],
)
def test_a_sentence_about_a_subject_stays(line: str) -> None:
    text = f"{PROSE}\n{line}\n{PROSE}"
    assert without_visits(text) == text


def test_what_readers_wrote_below_a_text_goes_with_its_label_and_a_thread_stays() -> None:
    long = "\n".join([PROSE] * 9)
    assert without_visits(f"{long}\nKommentare\nSchön!") == long
    assert "Schön" in without_visits(f"{PROSE}\nKommentare\nSchön ist sie, die alte Mühle.\nUnd laut ist sie auch.")


def test_a_page_about_cookies_says_what_its_site_does_with_them() -> None:
    text = "\n".join(["Diese Website verwendet Cookies.", *["Cookies sind kleine Dateien."] * 5])
    assert without_visits(text) == text


def test_a_text_of_nothing_else_is_left() -> None:
    assert without_visits("Read more") == "Read more"


def test_a_box_that_asks_for_an_address_goes_and_what_stands_beside_it_stays() -> None:
    sentence = "Jeden Monat erfahren Sie kostenlos das Neueste von der Mühle."
    asks = f'<div><h2>Der Mühlenbrief</h2><p>{sentence}</p><form><input name="mail"></form></div>'
    beside = "<div><p>Kommen Sie uns besuchen! Samstags mahlen wir.</p></div>"
    prose = f"<h1>Mühle</h1><p>{' '.join([PROSE] * 9)}</p>"
    page = f"<html><body><article>{prose}<div>{beside}{asks}</div></article></body></html>"
    text = extract_page(page.encode(), "https://muehle.example/", None)["text"]
    assert "Kommen Sie uns besuchen" in text
    assert "Mühlenbrief" not in text
    assert "kostenlos" not in text


def test_a_section_on_comments_and_what_follows_an_author_at_length_stay() -> None:
    long = "\n".join([PROSE] * 90)
    manual = "Comments begin with a hash sign and are read by nobody.\nA comment ends where its line ends."
    assert without_visits(f"{long}\nComments\n{manual}").endswith(f"\n{manual}")
    review = "\n".join(["About the author", *[PROSE] * 18])
    assert without_visits(f"{long}\n{review}") == f"{long}\n{review}"
    assert without_visits(f"{long}\nAbout the author\n{PROSE}") == long


def test_an_entry_of_a_list_of_other_things_stays() -> None:
    parts = "- Variables\n- Comments\n- Functions"
    assert without_visits(f"{PROSE}\n{parts}\n{PROSE}") == f"{PROSE}\n{parts}\n{PROSE}"
    assert without_visits(f"{PROSE}\n- Teilen\n- Drucken\n{PROSE}") == f"{PROSE}\n{PROSE}"
