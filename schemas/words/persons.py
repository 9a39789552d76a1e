"""Which nouns name a person by a role."""

from __future__ import annotations

from typing import Final

from quern.schemas.words.patterns import lazy_pattern

_PERSONS: Final = lazy_pattern(
    r"(?:person|people|child|kid|lad|lass|boy|girl|vet|president|king|queen|chief|mate|architect|nurse|guide|cook|head|chair|judge|"
    r"pupil|student|fellow|guy|bloke|expert|official|pilot|coach|mother|father|brother|sister|daughter|son|uncle|aunt|"
    r"friend|guest|wife|husband|clerk|poet|captain|priest|bishop|registrar|warden|executive|secretary|trustee|scholar|curate|vicar|monk|nun|surgeon|medic|deputy|colleague|neighbour|"
    r"relative|hero|\w*(?:man|woman|boy|girl|child|keeper|wright|smith)|\w{2,}(?:er|or|ist|ian|eer|(?<!n)ess|ant)|"
    r"(?:employ|refer|train|trust|refug|nomin|absent|licens)ee)",
)
# Things whose names end as those of persons do.
_NO_PERSONS: Final = frozenset(
    "answer banner border centre center chapter character color colour committee computer corner cover dinner "
    "employer error factor fever flavor flavour flower harbor layer letter liquor manner matter meter "
    "mirror monitor motor newspaper number order paper plant poster power printer quarter restaurant river "
    "sector sensor shelter soccer suffer summer sweater theater timer tower tractor trailer transmitter tree water "
    "weather "
    "taller longer older bigger higher wider deeper heavier faster larger smaller shorter newer younger earlier later "
    "greater cheaper closer nearer further lower fewer other another former latter major minor rather either neither "
    "cluster ladder timber chamber cylinder container filter heater boiler reactor generator conveyor transponder "
    "receiver elevator outer inner upper finger shoulder powder gutter butter spider oyster lobster otter "
    "rudder anchor armor interior exterior vapour labour "
    "trawler dredger freighter steamer liner cutter cruiser tanker schooner hopper freezer cooler charger scanner "
    "roller digger excavator carrier burner bumper sampler locker cooker mixer tiller floor door corridor "
    "vector tensor razor tremor terror horror odor odour ardor parlor parlour favor favour honor honour "
    "winter coffee fee reminder offer business address process success access dress press illness element".split()
)


def is_person(noun: str) -> bool:
    """Whether a noun in the singular and in lower case names a person by its role, as far as its form tells."""
    return noun not in _NO_PERSONS and _PERSONS.fullmatch(noun) is not None
