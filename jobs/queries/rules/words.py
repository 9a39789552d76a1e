"""Word lists of the rule generator of synthetic queries."""

from __future__ import annotations

_STOP = """
a able about after again all also always am an and any are around as at be because been before being best better bit
both but by called can can't can’t check come could day days definitely did do does doing don't done don’t down during
each enough even ever every everyone everything excited feel feeling few find first for forward free from fun further
get give going gonna good great guess had happy has have having he hear hello help her here hers hey hi him his hope
how i i'd i'll i'm i've idea if in including into is it it's its it’s i’ll i’m i’ve just keep keeping kind know known
later let let's let’s like little long look looking lot love make man many maybe me mean meet might mind more most
much must my myself need next nice no nor not now of off often oh ok okay on once only or other our out over own
people perfect please pretty quick quite ready really remember right said same say see several she should so some
something sometimes soon sounds still stuff such super sure take talk team tell than thank thanks that that's that’s
the their them then there these they thing things think this those though three through time times to today together
too totally tried try trying two under until up us used very wait want was way we week well were what when where which
while who whom why will with work works would yeah years yes yet you you're your yours you’re
"""
# English words that do not say what a text is about: function words and the small change of conversations.
STOP_WORDS = frozenset(_STOP.split())

_LABELS = """
a address answer author caution date email example note notes phone price q question source sources subject summary
time tip title warning website 作者 地址 日期 时间 来源 标题 注 注意 电话 答 问
"""
# Labels of lines that name no speaker.
NOT_SPEAKERS = frozenset(_LABELS.split())

_PERSONS = """
actor actress author bishop biker bowler boxer chef comedian cricketer cyclist dancer designer driver duke fighter
golfer governor historian judge jumper knight librarian mayor minister monk musician nun physician physicist pilot
player priest rapper rider rower runner scholar screenwriter senator skater skier soldier songwriter sprinter surgeon
swimmer wrestler
bishop coach composer daughter director emperor engineer footballer founder general king lawyer
leader manager member officer painter philosopher player poet president prince princess producer professor queen rapper
saint singer son teacher writer
"""
# What persons are called, beside words such as `politician`, `artist`, `playwright`, `woman`.
PERSONS = frozenset(_PERSONS.split())

_COMMANDS = """
Add Avoid Call Check Choose Click Consider Create Cut Ensure Enter Follow Go Heat Install Keep Let Make Mix Note Open
Place Press Put Read Remember Remove Run Select Send Start Stop Take Try Turn Use Visit Write
"""
# Verbs that begin an instruction.
COMMANDS = frozenset(_COMMANDS.split())

_PAST = """
became began built fought gave grew held led left lost made met ran sang took won wrote
"""
# Frequent past tenses that do not end in -ed.
PAST = frozenset(_PAST.split())
