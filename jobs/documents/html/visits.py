"""Lines that speak of the visit, not of the subject: subscribe, follow us, read on, was this page helpful.

They stand between an article's paragraphs in the same markup as these, so that only their words tell them. Each rule
takes a whole short line: one that is nothing but such a label, one that begins as no sentence about a subject does,
and one that asks readers for something on a network or for a newsletter.

The words were read off pages of the article extraction benchmark and of layouts of our own, in the languages of the
pages that are read most; a sentence about a newsletter stays, since it asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from quern.jobs.documents.html.loose_text import is_sentence

# Patterns are in lower case and read lines in lower case: `re` compares letters of both cases in four times the time.
# Beyond this a line is a paragraph, which says something else too; so is a line about a picture or a date beyond less.
_LONGEST: Final = 250
_SHORT: Final = 80
# A line of nothing but one of these: what readers wrote, advertisements, what else to read, what to press.
_LABELS: Final = re.compile(
    r"comments?|kommentare|komentarze|commentaires|comentarios|commenti|комментарии|reacties|diskuse"
    r"|leave a (?:comment|reply)|(?:hinterlasse|schreibe?) (?:einen|deinen) kommentar|customer reviews"
    r"|anzeigen?|werbung|advertisement|sponsored|publicité|pubblicità|publicidad|advertentie|reklama"
    r"|(?:related|more|latest) (?:news|articles?|stories|posts?|topics)|most (?:read|popular)|explore further"
    r"|don['’]t miss|you (?:may|might) also (?:like|be interested in)|we found other products you might like"
    r"|recommended|read more|learn more|find out more|continue reading|show more|click to tweet|member-only story"
    r"|(?:ähnliche|weitere|verwandte) (?:artikel|beiträge|themen|nachrichten)|meistgelesen|weiterlesen"
    r"|das könnte (?:sie|dich|euch) auch interessieren|auch interessant|mehr zum thema|mehr (?:lesen|erfahren|anzeigen)"
    r"|lesen sie auch|(?:jetzt )?teilen|teilen mit|gefällt mir|drucken|kommentieren|nach oben|zum seitenanfang"
    r"|zurück zur (?:startseite|übersicht)|share(?: this)?(?: article| story| post)?|like this|loading|wird geladen"
    r"|(?:à |a )?lire (?:aussi|également|la suite)|voir aussi|vous aimerez aussi|sur le même (?:sujet|thème)|partager"
    r"|en savoir plus|la rédaction vous (?:conseille|recommande)|article réservé aux abonnés"
    r"|leggi anche|continua a leggere|(?:ti )?potrebbe(?: anche)? interessar(?:e|ti)(?: anche)?|riproduzione riservata"
    r"|(?:lee|lea|ver) también|te puede interesar|noticias relacionadas|compartir|leia (?:mais|também)"
    r"|lees (?:ook|meer|verder)|delen|læs også|läs (?:också|mer)|les også"
    r"|(?:zobacz|czytaj|przeczytaj|oglądaj) (?:też|także|również|więcej|dalej)|polecamy|udostępnij|podziel się"
    r"|další články|související články|čtěte také|ссылки по теме|читайте также|по теме|поделиться"
    r"|empfohlener (?:redaktioneller|externer) inhalt|externer inhalt|video wird geladen|newsletter"
)
# Behind a label of these at the end of a text stands nothing of it, unless several sentences there have its root.
_COMMENTS: Final = re.compile(r"comments|kommentare|komentarze|commentaires|comentarios|commenti|комментарии|reacties")
_AUTHOR: Final = re.compile(
    r"über (?:den autor|die autorin|die autoren)|about the authors?|à propos de l['’]auteure?|o autor(?:ze|ce)"
    r"|об авторе|sobre (?:el autor|la autora)|sull['’]autor[ei]|over de auteur"
)
_ROOT: Final = 5
_SEVERAL: Final = 2
# Characters of an author's life; behind more of them stands another part of the text.
_LONGEST_LIFE: Final = 1_000
_LAST_SHARE: Final = 0.3
# Behind a question stand at most the answers to press; other words are a text's.
_BUTTONS: Final = r"(?:\W*\b\w+){0,3}\W*$"
_BEGINNINGS: Final = re.compile(
    # what else there is to read, and where the text goes on
    r"(?:read (?:more|next|also)|see also|also read|don['’]t miss|most read|related(?: articles?| story| post)?|watch"
    r"|mehr zum thema|auch interessant|lesen sie (?:auch|hier|dazu auch|mehr)|(?:à |a )?lire (?:aussi|également)"
    r"|leggi anche"
    r"|lees ook|(?:lee|lea) también|leia também|(?:zobacz|czytaj|przeczytaj) (?:też|także|również)"
    r"|читайте также|čtěte také|läs också|les også|læs også)\s*[:：|]"
    r"|(?:article|story|text) continues (?:below|after)"
    r"|dalsz(?:y ciąg|a część) (?:materiału|artykułu|tekstu)\s*(?:$|po[dn]|znaj)"
    # what is shown with leave, or to those who pay
    r"|an dieser stelle (?:finden sie|befindet sich|steht) .*\bextern|empfohlener redaktioneller inhalt"
    r"|mit (?:ihrer|deiner) (?:zustimmung|einwilligung) (?:wird|werden) hier"
    r"|ich bin damit einverstanden, dass (?:mir )?extern"
    r"|damit (?:können|werden) (?:dabei )?personenbezogene daten .*(?:dritt|übermittelt)"
    r"|sie sehen gerade einen platzhalterinhalt"
    r"|um diese[ns]? (?:inhalt|video|karte)\w* (?:anzu(?:zeigen|sehen|schauen)|zu (?:sehen|laden|aktivieren))"
    r"|externen inhalt (?:laden|anzeigen)|inhalt entsperren"
    r"|dieser (?:artikel|beitrag|inhalt|text) gehört zum angebot"
    r"|la suite est réservée|il vous reste .*de cet article à lire"
    r"|suscríbete para|already a (?:subscriber|member)\s*(?:$|[?:|]|(?:log|sign) in)"
    r"|(?:click|tap) here to (?:subscribe|watch)"
    r"|this (?:article|post|story) is (?:only )?for (?:paying )?(?:subscribers|members)"
    r"|this slideshow requires|(?:bitte )?(?:aktivieren sie|please enable) javascript"
    r"|(?:ihr|dein|your) browser (?:unterstützt (?:leider |derzeit )?(?:kein|das |die |dies)"
    r"|(?:does not|doesn['’]t) (?:currently )?support (?:the |this |html5|iframe|javascript|embedded))"
    r"|inkl\. .{0,20}\bmwst|preise? inkl\."
    # what readers thought of it
    r"|war(?:en)? dies\w+ "
    r"(?:seite|artikel|beitrag|information|informationen|antwort|inhalt|text)\b[^?]*\b(?:hilfreich|nützlich)\b[^?]*"
    rf"(?:\?{_BUTTONS}|$)"
    rf"|was this (?:page|article|answer|information|content|review) (?:helpful|useful)[^?]{{0,20}}(?:\?{_BUTTONS}|$)"
    r"|was deze (?:pagina|informatie) nuttig"
    r"|cette (?:page|information|réponse) vous a-t-elle|(?:if you )?(?:liked?|enjoyed?) this (?:story|article|post)\b"
    r"|rate this (?:article|book|game|movie|page|poem|post|product|recipe|song|story|video)\b"
    r"|hat (?:ihnen|dir) (?:der|dieser) (?:artikel|beitrag)|hast du das rezept ausprobiert|dziękujemy, że przeczytał"
    r"|tell us what you think|lust auf (?:weitere|mehr) [^.!?]*\?"
    # who made and sent it
    r"|dieses thema im programm\b|über dieses thema berichtete .*(?:\bam \d|\d uhr)"
    r"|original-content von|(?:\w+\s*:\s*)?©\s*dpa"
    r"|\w*(?:bild|foto)\w*\s*:\s*©"
    # who is here
    r"|(?:wer ist|who(?:['’]s| is)) online\s*\??(?:$|\s*[:\d]|\s*mitglieder)|mitglieder in diesem forum\b"
    r"|users browsing this forum\b"
    r"|sie sind (?:der )?(?:besucher\s*(?:$|nr|nummer|[\d:#])|\d+\. besucher)"
    r"|(?:you are )?visitor (?:no\.?|number|#)\s*[:\d]"
    r"|best viewed (?:with|in|at) (?:.*(?:netscape|explorer|mozilla|firefox|chrome|opera|browser)|\d{3,4}\s*[x×*])"
    r"|optimiert für (?:netscape|internet)|this page is a member of|sign my guestbook"
)
# Short lines of how long the page takes to read, when it was made, since when its writer is one of a forum, and who
# took its picture.
_ABOUT_PAGE: Final = re.compile(
    r"(?:lesezeit|lesedauer|reading time|temps de lecture|tempo (?:de leitura|di lettura)|tiempo de lectura|leestijd"
    r"|czas czytania)\b.*\d"
    r"|(?:stand|(?:zuletzt )?aktualisiert(?: am)?|veröffentlicht(?: am)?|erstellt(?: am)?|(?:last )?updated(?: on| at)?"
    r"|published(?: on| at)?|publié le|mis à jour le|letzte (?:änderung|aktualisierung))\W+(?:\w+\W+)?\d"
    r"|(?:beiträge|posts|messages)\W+\d[\d.,]*$|joined (?:jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec)\w*\W+\d"
    r"|(?:registriert(?: seit)?|joined|mitglied seit|dabei seit)(?:\s*:.*|\W+)\d"
    r"|(?:bildquelle|bildnachweis|bildrechte|fotos?|photos?(?: by| credit)?|image credit|crédits? photos?|fot\.)\s*:"
)
# A page that speaks of cookies more often is about them.
_COOKIES: Final = re.compile(
    r"(?:(?:diese|unsere) (?:web)?(?:seite|site) (?:verwendet|benutzt|nutzt)|wir (?:verwenden|nutzen|setzen|benutzen)"
    r"|(?:we|this (?:web)?site|our (?:web)?site) uses?|(?:ce site|nous) utilis\w+|(?:ta strona|ten serwis|strona) \w+"
    r"|questo sito (?:utilizza|usa)|este sitio(?: web)? (?:utiliza|usa)|deze (?:web)?site \w+)\b.*\bcookies\b"
)
_FEW_COOKIES: Final = 4
_NETWORKS: Final = (
    *("newsletter", "facebook", "twitter", "instagram", "youtube", "whatsapp", "telegram", "tiktok", "linkedin"),
    *("flipboard", "google news", "podcast", "канал", "lettre d’information", "lettre d'information", "boletín"),
    *("boletim", "nieuwsbrief", "рассылк", "rss-feed", " app ", "-app", " app.", "aplikac"),
)
# What readers are asked. A verb that also tells of others ("they follow him on Twitter") asks at the head of a clause.
_HEAD: Final = r"(?:^|[^\w\s]\s*|\b(?:please|then|bitte|dann|jetzt|hier|und|et|por favor)\s+)"
_ASKING: Final = re.compile(
    r"(?<!\w )subscribe (?:to|now|today|for)|by subscribing|click here to (?:subscribe|get the)"
    r"|sign up (?:(?:for|to) (?:our|my)\b|here\b|now\b|today\b)|\b(?:follow|find) us\b"
    r"|\bdownload our\b|delivered to your"
    r"|(?:jetzt|hier) (?:anmelden|abonnieren|bestellen)|\bfolge(?:n sie|t)? (?:uns|mir)|\bfind(?:e|et|en sie) uns"
    r"|\bnewsletter\b.{0,40} informiert sie\b|bestens informiert|\bverpass(?:e|t|en sie) (?:kein|nichts)"
    r"|\b(?:nichts|keine?n?)\b.{0,40} (?:zu )?verpassen|(?:abonnez|inscrivez)[- ]vous|\bs[íi]gue(?:nos|me)"
    r"|suscr[íi]b(?:ete|ase|[íi]os)|\bap[úu]nt(?:ate|ese|aos)|segui(?:ci|mi)\b|iscriviti|siga-nos"
    r"|\bobserwuj\b|zapisz się"
    r"|posłuchaj|\bpobierz\b|subskrybuj|подпи(?:сывайтесь|шитесь|шись)|следите за|volg ons|sledujte"
    r"|odebírejte|følg oss?\b|\btilmeld\b|prenumerera på|följ oss"
    rf"|{_HEAD}(?:sign up\b|(?:follow|like|find|join) (?:us|me|him|her|them)\b|follow (?:@?[\w.'’-]+ ){{1,2}}on\b"
    r"|get (?:the|our|all)\b|download the\b|abonnier(?:e|en sie|t)\b|melden sie sich\b|melde dich\b|meldet euch\b"
    r"|laden sie\b|suivez|recevez|téléchargez|recibe\b|assine\b|polub\b|meld je\b|schrijf je\b)"
)
# What labels are set off with, and the number of comments behind one.
_MARKS: Final = " \t.:;,!?…–—-*_|[](){}<>»«›‹→"
# What is said in a text begins with one of these.
_QUOTES: Final = ('"', "'", "„", "“", "”", "‚", "‘", "’")
_ENTRY: Final = "- "
_COUNT: Final = re.compile(r"\s*\(\d+$")
_WORD_AT_END: Final = re.compile(r"[^\W\d_]{3}[.!?]$")


def without_visits(text: str) -> str:
    """`text` without lines that speak of the visit; as it is where nothing else is left."""
    small = text.lower()
    asked = [word for word in _NETWORKS if word in small]
    cookies = 0 < small.count("cookies") <= _FEW_COOKIES
    lines = _before_last(text.split("\n"), len(text))
    visits = [len(line) <= _LONGEST and _is_of_visit(line, asked, cookies=cookies) for line in lines]
    if any(visits):
        _keep_lists(lines, visits)
    return "\n".join(line for line, visit in zip(lines, visits, strict=True) if not visit) or text


def _keep_lists(lines: Sequence[str], visits: list[bool]) -> None:
    """An entry of a list is of the visit where half of the list is: `Comments` may be one of a program's parts."""
    at = 0
    for is_list, some in groupby(lines, lambda line: line.startswith(_ENTRY)):
        end = at + sum(1 for _ in some)
        if is_list and 2 * sum(visits[at:end]) < end - at:
            visits[at:end] = [False] * (end - at)
        at = end


def _before_last(lines: list[str], length: int) -> list[str]:
    """`lines` of a text of so many characters up to a label behind which its readers or authors stand."""
    behind = 0
    for i in range(len(lines) - 1, 0, -1):
        line = lines[i]
        if len(line) <= _SHORT and not line.startswith((_ENTRY, *_QUOTES)):
            label = _bare(line)
            about_author = _AUTHOR.fullmatch(label) is not None and behind <= _LONGEST_LIFE
            if about_author or (_COMMENTS.fullmatch(label) and not _is_about(label, lines[i + 1 :])):
                return lines[:i]
        behind += len(line)
        if behind > _LAST_SHARE * length:
            break
    return lines


def _is_about(label: str, behind: Sequence[str]) -> bool:
    """Whether several sentences behind a label speak of it: it heads a section on comments, as manuals have."""
    root = label[:_ROOT]
    return sum(root in line.lower() and is_sentence(line) for line in behind) >= _SEVERAL


def _bare(line: str) -> str:
    """A line in lower case without the marks around it, and without the number behind a label."""
    bare = line.strip(_MARKS).lower()
    return _COUNT.sub("", bare) if bare[-1:].isdigit() else bare


def _is_of_visit(line: str, asked: Sequence[str], *, cookies: bool) -> bool:
    if line.startswith(_QUOTES):
        return False
    small = line.lower()
    if _BEGINNINGS.match(small.lstrip(_MARKS)):
        return True
    bare = _bare(line)
    if len(line) <= _SHORT and (_LABELS.fullmatch(bare) or (_ABOUT_PAGE.match(bare) and not _tells(line))):
        return True
    if cookies and _COOKIES.match(bare):
        return True
    return any(word in small for word in asked) and _ASKING.search(small) is not None


def _tells(line: str) -> bool:
    """Whether a line with a date is a sentence: it ends with a word, and sets off no label."""
    return ":" not in line and is_sentence(line) and _WORD_AT_END.search(line) is not None
