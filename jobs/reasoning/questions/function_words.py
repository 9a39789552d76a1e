"""Function words of languages beside English: what no question is misspelled by, and by which its language shows.

Closed classes only: articles, pronouns, prepositions, conjunctions, auxiliaries, words of asking. Written as they are
searched: in lower case and without diacritics.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from quern.schemas.words.terms import STOP_WORDS, search_terms

_WORDS: Final = {
    "de": (
        "der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass daß ob wenn "
        "als wie wer was wo wann warum wieso weshalb wozu womit wofür woher wohin welche welcher welches "
        "welchen welchem wem wen wessen ich du er sie es wir ihr ihnen ihm ihn mir mich dir dich uns euch "
        "mein dein sein unser euer kein keine keinen nicht auch nur noch schon sehr mehr ist sind war waren "
        "bin bist wird werden wurde wurden worden hat haben hatte hatten kann können konnte muss müssen soll "
        "sollen darf will in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter durch für "
        "gegen ohne um bis seit zwischen während wegen es gibt gab viel viele wieviel"
    ),
    "fr": (
        "le la les un une des du de au aux et ou mais donc car que qui quoi quel quelle quels quelles quand "
        "comment pourquoi combien où dont je tu il elle on nous vous ils elles mon ton son ma ta sa mes tes "
        "ses notre votre leur leurs ce cet cette ces ne pas plus est sont était étaient être a ont avait "
        "avoir dans en sur sous avec sans pour par entre chez vers depuis pendant y se si est-ce"
    ),
    "es": (
        "el la los las un una unos unas del de al y o pero que quien quién qué cual cuál cuáles cuando cuándo "
        "como cómo donde dónde cuanto cuánto cuántos cuántas porque por para con sin sobre entre hasta desde "
        "en yo tú él ella nosotros ellos ellas mi tu su sus nuestro este esta estos estas ese esa es son era "
        "eran fue fueron ser está están ha han había hay no más se lo le les"
    ),
    "it": (
        "il lo la i gli le un uno una del della dei delle dello di da dal dalla nel nella al alla e o ma che "
        "chi cosa quale quali quando come dove quanto quanti quante perché io tu lui lei noi voi loro mio tuo "
        "suo questo questa quello è sono era erano essere ha hanno aveva con senza per su tra fra non più si "
        "ci"
    ),
    "pt": (
        "o a os as um uma uns umas do da dos das de no na nos nas ao e ou mas que quem qual quais quando como "
        "onde quanto quantos quantas porque por para com sem sobre entre até desde em eu ele ela nós eles "
        "elas meu seu sua este esta isso é são era eram foi foram ser está tem têm havia não mais se"
    ),
    "nl": (
        "de het een en of maar want dat die wat wie waar wanneer waarom hoe welke hoeveel ik jij hij zij wij "
        "jullie ze mijn jouw zijn haar ons onze dit deze niet geen ook nog is was waren ben bent wordt worden "
        "werd werden heeft hebben had kan kunnen moet in op aan bij met naar van voor uit over onder door "
        "tegen zonder om tot sinds tussen er te"
    ),
    "sv": (
        "en ett den det de och eller men att som vad vem var när varför hur vilken vilket vilka jag du han "
        "hon vi ni dem min din sin vår inte är var vara har hade kan ska i på av till från med för om under "
        "över utan mellan"
    ),
    "da": (
        "en et den det de og eller men at som hvad hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke "
        "jeg du han hun vi dem min din sin vores ikke er var være har havde kan skal i på af til fra med for "
        "om under over uden mellem"
    ),
    "pl": (
        "i oraz lub ale że co kto gdzie kiedy dlaczego jak ile jaki jaka jakie który która które ja ty on ona "
        "my wy oni nie jest są był była było były ma mają w we na z ze do od dla po przez przy pod nad bez o "
        "u się to ten ta"
    ),
}
_OF: Final = {tag: frozenset(search_terms(words).split()) for tag, words in _WORDS.items()}
FUNCTION_WORDS: Final = frozenset().union(*_OF.values())
_FEWEST: Final = 2


def foreign_words(words: Collection[str]) -> frozenset[str]:
    """The function words by which `words` are of another language than English; none where they are not.

    Two that English has not, and more than English has small words.
    """
    said = frozenset(words)
    own = said & STOP_WORDS
    most = max((said & of for of in _OF.values()), key=len)
    return most if len(most - STOP_WORDS) >= _FEWEST and len(most) > len(own) else frozenset()
