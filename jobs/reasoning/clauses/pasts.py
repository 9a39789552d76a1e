"""Past tenses and participles of English that no ending tells, and words that only look like them."""

from __future__ import annotations

from typing import Final

# Simple pasts that do not end in -ed and are no other word that is as common.
IRREGULAR: Final = frozenset(
    "arose ate awoke became began bent bet bit bled blew bound bought bred broke brought built burnt burst came caught "
    "chose clung crept dealt dove drank drew drove dug fed fell felt fled flew flung forbade foresaw forgave forgot "
    "fought found froze gave got grew ground hung heard held hid hit hurt kept knelt knew laid leant leapt led left "
    "lent lit lost made meant met mistook oversaw overtook overthrew paid proved put quit ran rang rebuilt rode rose "
    "said sang sank sat saw sent set shone shook shot shrank shut slept slid sold sought spent split spoke sprang "
    "spread sprung spun stole stood strove struck stuck stung swam swept swore swung taught thought threw told took "
    "tore undertook underwent understood upheld wept went withdrew withstood woke won wore wove wrote".split()
)
# The same form is a noun or a present as often: a past only after a subject of one of these kinds.
DOUBTFUL: Final = frozenset("bet bound cut ground hit hurt left lit put quit saw set shot shut split spread".split())
# Also what tells how one feels.
NOT_PAST: Final = frozenset(
    "hundred red bed need speed seed feed indeed exceed succeed proceed embed shed sled united limited weed breed deed "
    "greed heed reed steed agreed-upon unprecedented aged beloved biased crowded detailed dedicated experienced "
    "gifted interested learned naked rugged sacred skilled so-called supposed talented tired used wicked wretched "
    "related based located excited thrilled pleased delighted bored worried scared amazed stoked concerned committed "
    "prepared blessed relaxed".split()
)
PARTICIPLES: Final = (
    r"(?:\w+ed|been|become|begun|bound|bought|born|broken|brought|built|burnt|caught|chosen|come|cut|dealt|done|drawn|"
    r"driven|drunk|dug|eaten|fallen|fed|felt|fought|found|flown|forced|forgotten|frozen|given|gone|got|grown|heard|"
    r"held|hidden|hit|hurt|kept|known|laid|led|left|lent|lit|lost|made|met|paid|put|rebuilt|ridden|risen|run|said|seen|"
    r"sent|set|shaken|shot|shown|shut|sold|sought|spent|split|spoken|spread|stolen|struck|stuck|sung|sunk|swept|sworn|"
    r"taken|taught|thrown|told|torn|understood|undergone|won|withdrawn|worn|written)"
)
