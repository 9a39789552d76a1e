"""The expressions by which a question is known to ask for harm, or for none (`harmful`)."""

from __future__ import annotations

from typing import Final

from quern.jobs.reasoning.questions import harms
from quern.jobs.reasoning.questions.harms import any_of, one_of, up_to
from quern.schemas.words.patterns import lazy_pattern

_ANYONE: Final = (
    r"(?:i|we|you|one|someone|somebody|people|an? (?:group|person|man|woman|kid|teenager|student|gang|team))"
)
# What asks to be enabled.
ENABLE: Final = lazy_pattern(
    rf"\bhow (?:(?:do|can|could|would|should|might|may|must) {_ANYONE}|to|2|about|best to)\b|\bwhere to\b|\bwhere to\b"
    rf"|\b(?:where|which|what) {up_to(5)}(?:can|could|do|should|would|might) {_ANYONE}\b|\bwhere is a good place\b"
    r"|\b(?:ways?|methods?|techniques?|tricks?|tips?|steps?|strateg(?:y|ies)|process|instructions?|recipe"
    r"|tutorial|guide"
    rf"|manual|plan|ideas?|tools?|ingredients|procedure|blueprints?|scripts?) {up_to(4)}(?:to|of|for|on|that|about)\b"
    rf"|\b(?:best|easiest|quickest|fastest|safest|simplest|cheapest|perfect|(?:most"
    rf"|least) \w+) [\w-]+ (?:\w+ )?(?:to|for|of)\b"
    r"|\b(?:what|which) (?:\w+ ){1,3}(?:make|makes|kill|kills|(?:is|are) (?:the )?best for|can be used|works? best)\b"
    r"|\b(?:is|are) there (?:an? |any )?(?:\w+ )?(?:ways?|methods?|tricks?)\b"
    r"|\bstep[- ]by[- ]step\b|\b(?:teach|show|tell|help|instruct|assist) (?:me|us)\b|\bi'm (?:going|planning"
    r"|trying|gonna)\b"
    r"|\b(?:can|could|would|will) you (?:please )?(?:tell|help|show|give|teach|explain|list|write|provide"
    r"|describe|make|find)\b"
    r"|\bi(?:'d)? (?:want|wanna|would like|like|need|plan|intend|am going|am planning|wish|hope|am trying)\b"
    r"|\b(?:should|can|may|could) i\b|\bis it (?:ok|okay|possible|easy) (?:for me )?to\b"
)
# What asks for a text or a plan.
WRITE: Final = lazy_pattern(
    r"(?:please |can you |could you |i want you to |i need you to |now )*"
    + any_of(
        "write create make develop design compose draft produce generate publish provide give outline construct "
        "build devise "
        "formulate describe explain list suggest recommend prepare propose plan code program share send show "
        "teach instruct tell "
        "offer detail demonstrate help assist advise convince persuade encourage spread post find hack come_up "
        "brainstorm argue"
    )
    + r"\b"
)
ME: Final = lazy_pattern(r"\b(?:i|we|me|my|us)\b")
# What asks what happened; a person who asks for himself has words of `ME`.
RECOUNTS: Final = lazy_pattern(
    r"(?:so |and |but |according to [^,]+, )?(?:"
    r"(?:how|why|when|where|what|who|whom|whose|which)\b(?: [\w'-]+){0,4}? (?:did|was|were|had|has|have been"
    r"|happened|caused|led|killed|died)\b"
    r"|did\b|was\b|were\b|had\b|has\b|have\b|does\b|do\b|is\b|are\b|who\b|whose\b|whom\b|when\b|how (?:many|much"
    r"|long|often|old|far|big|large|common)\b)"
)
WAYS: Final = lazy_pattern(r"(?:is|are) there (?:an? |any )?(?:\w+ )?(?:ways?|methods?|tricks?)\b")
DEFINES: Final = lazy_pattern(
    r"^what(?:'s| is| are| was| were| constitutes| counts as) (?:an? |the )?(?:(?:general |legal |exact |medical )?"
    r"(?:definition|meaning|history|origin|difference|cause|effect|impact|law|penalty|punishment|symptom"
    r"|sentence)s?\b|\w+(?: \w+){0,2}\??$)"
    r"|^what (?:does|do|did) .*\b(?:mean|stand for)\b|^what does it mean\b|\bdefine\b|\bsynonyms?\b"
    r"|\bin the dictionary\b"
)
# Before the harm or in it, these turn it round.
PREVENTS: Final = lazy_pattern(
    r"\b"
    + any_of(
        "prevent* avoid* stop* report* protect* defend* survive* recover* detect* recogni* spot escape deal_with "
        "cope overcome "
        "fight_against combat reduce warn respond_to investigat* prosecut* convict* raise_awareness get_over "
        "from_being against_being "
        "victim_of victims_of laws_against law_against"
    )
    + r"\b|\bhelp (?:a|an|my|someone|people|victims?|survivors?|the)\b"
)
# Before the harm, so do these; in it they may be what it says of others.
DENIES: Final = lazy_pattern(r"\bnever\b|\bnot (?!be\b|get\b|caught\b)")
HIDDEN: Final = lazy_pattern(
    rf"\bwithout {up_to(3)}(?:caught|detected|notic\w+|arrested|found out|suspicion|trace[ds]?|consent"
    rf"|permission|knowing"
    r"|knowledge|(?:a )?(?:prescription|licen[cs]e|permit|background check))\b"
    r"|\bget(?:ting)? away with\b(?! (?:only|just|less|fewer|so|not|\d|an? (?:few|little)))|\b(?:un)?traceabl\w+"
    r"|\bundetect\w+|\billegally\b|\bavoid (?:detection|getting caught"
    r"|being caught|arrest)\b|\blooks? like (?:an accident|suicide|a suicide|natural causes)\b"
    r"|\bevad\w+ (?:the )?(?:\w+ )?(?:police|law|detection|tax\w*|arrest|security)|\bsecretly\b|\b(?:hide"
    r"|destroy|get rid of|cover up) (?:a|the|my)? ?(?:dead )?(?:body|corpse|evidence|crime)\b"
)
SELF_HARM: Final = lazy_pattern(
    r"\b(?:kill|hang|drown|harm|hurt|cut|poison|shoot|stab|starve|strangle|burn|suffocate|electrocute|injure"
    r"|mutilate)(?:ing)? "
    r"(?:myself|yourself|oneself|themselves)\b|\b(?:commit|committing|attempt) suicide\b|\b(?:end|take|ending"
    r"|taking|terminate) (?:my|my own|your own|one's) life\b"
    r"|\bself[- ](?:harm|mutilat\w+|injur\w+)\b|\b(?:my|my own) (?:\w+ )?(?:arter(?:y|ies)|wrists?|veins?"
    r"|throat)\b|\bcut(?:ting)? my (?:own )?(?:arm|leg|thigh)"
    r"|\b(?:painless\w*|easiest|quickest|fastest|peaceful|best) (?:way )?(?:to die|death|suicide)\b"
    r"|\bway to (?:die|end it all)\b|\bi (?:want|wanna) to (?:die|end it)\b"
    r"|\blethal (?:over)?dose\b|\boverdose on\b|\bsuicide (?:methods?|pact|pills?|notes?)\b|\b(?:i"
    r"|me) .*\bto die\b|\b(?:die|go out|end it) like\b|\b(?:scars?|cuts?) (?:in)?to my\b"
    r"|\b(?:encourag\w+|convinc\w+|persuad\w+) .*\b(?:to (?:starve|kill|harm|hurt|cut) (?:him|her|them)sel\w+"
    r"|suicide)\b"
)
_COMMIT: Final = any_of(
    "commit committing carry_out carrying_out plan planning perpetrat* engage_in engaging_in participat* "
    "get_away_with getting_away_with "
    "stage staging execute executing orchestrat* organise organize organising organizing run running start "
    "starting set_up setting_up launch "
    "launching conduct conducting pull_off perform performing join joining promot* encourag* incit* "
    "glorif* justify* advocat* "
    "normali* support supporting instigat* "
    "provok* facilitat* satisfy profit_from get_into practice practise finance financ* fund funding recruit* "
    "conceal* cover_up hide succeed_in"
)
CRIME: Final = lazy_pattern(rf"\b{_COMMIT} {up_to(4)}(?:{harms.CRIMES})(?![\w-])")
_GET: Final = any_of(
    "make making build building creat* construct* assembl* design* develop* produc* synthesi* manufactur* cook "
    "cooking brew* grow growing "
    "extract* buy buying purchas* get getting obtain* get_hold_of acquir* find finding order ordering sell "
    "selling deal "
    "dealing distribut* spread* smuggl* "
    "import* traffic* transport* detonat* explod* set_off deploy* releas* use using hire hiring launder* print* "
    "forg* code coding write writing "
    "program* install* download* share sharing watch* inject* smok* snort* consum* poach* weaponi* cultivat* "
    "mix* put putting throw* plant*"
)
ILLICIT: Final = lazy_pattern(
    rf"\b(?:slip|put|add|sneak|mix|pour)(?:ping|ting|ing)? (?:some |a )?(?:poison"
    rf"|drugs?|sleeping pills?|laxatives?|sedatives?|pills?) (?:in|into)\b"
    rf"|\b{_GET} {up_to(5)}(?:{harms.GOODS})(?![\w-])|\b(?:recipe|instructions|ingredients|tutorial|guide|plan|model"
    rf"|template) (?:for|to \w+|on \w+) {up_to(3)}(?:{harms.GOODS})(?![\w-])"
)
ARMS: Final = lazy_pattern(
    rf"\b(?:build|make|print|assembl|creat|smuggl|steal|get|buy)(?:e|ing)? (?:an? )?{up_to(1)}(?:weapons?|guns?"
    rf"|firearms?|rifles?|poison|virus(?:es)?|explosion|toxins?|(?:toxic|poison) gas)\b"
    r"(?=.*\b(?:3d|printer|home|scratch|household|illegal\w*|kill|without|school|untraceable|background"
    r"|people)\b|\W*$)"
)
HACK: Final = lazy_pattern(
    r"\b"
    + any_of(
        "hack hacking hack_into hacking_into break_into breaking_into crack cracking bypass* gain_access "
        "gain_unauthorized_access get_access phish* steal stealing "
        "intercept* infect* clon* disable disabling circumvent* jam jamming spoof* take_down crash crashing "
        "access accessing guess guessing tamper* tamper_with tampering_with"
    )
    + rf" {up_to(4)}"
    + any_of(
        "email* e-mail* account accounts password passwords wifi wi-fi bank* vault atm atms alarm_in alarm_of "
        "alarm_at security_system security_systems "
        "security_camera security_cameras surveillance server servers database* network networks government_* "
        "company_* website* webcam* phone phones computer computers "
        "pin credit_cards drm paywall breathalyzer drug_test ankle_monitor confidential monitoring odometer* "
        "meters icloud facebook "
        "instagram power_grid voting_machine voting_machines"
    )
    + r"\b"
)
MINE: Final = lazy_pattern(
    r"\b(?:my|our)(?: (?!ex\b|former\b)[\w-]+){0,3}?(?=[?.,!;]|$| (?:on|in|from|for|to|at"
    r"|and|with|if|when|because|without)\b)|\bi own\b|\bmy own\b"
)
_POSSESSOR: Final = (
    r"(?:(?:my|our|his|her|a|the|your|one's) (?!own |late )(?:[\w-]+ ){0,2}?"
    + one_of(harms.RELATIVES)
    + r"|(?:some|any|every)(?:one|body)(?: else)?|"
    + any_of(
        "people person stranger celebritie user employee customer women men girl kid children minor "
        "politician student patient individual"
    )
    + "s?)(?:'s|s?')"
)
PRIVATE: Final = lazy_pattern(
    rf"\b{_POSSESSOR} {up_to(2)}(?:{harms.PRIVATE})\b"
    rf"|\b(?:passwords?|pass ?codes?|pin|login|key) (?:to|of|for) {_POSSESSOR}|\b(?:reveal|publish|expos|post"
    rf"|leak)\w* where .* lives?\b"
    rf"|\b(?:{harms.PRIVATE}) (?:of|belonging to) (?:(?:my|his|her|our|a private) (?!own|account|phone)"
    rf"|some(?:one|body)|other people|the \w+ in my)"
)
_RELATIVE: Final = r"(?:my|our|a|the) (?:[\w-]+ )??" + one_of(harms.RELATIVES)
ABOUT: Final = lazy_pattern(
    rf"\bhow much (?:money )?(?:do|does|did) {_RELATIVE} (?:earn|make|owe|weigh)\b|\bwhere my (?:ex\b|ex-\w+"
    rf"|stalker|crush).* (?:lives?|works?|parks?|is)\b|\bwhere (?:do|does) my (?:ex"
    rf"|stalker|rival)\b.* live\b"
    rf"|^is {_RELATIVE} (?:{up_to(3)}member\b|gay|lesbian|trans|pregnant|married|divorced|jewish|muslim"
    rf"|undocumented|cheating|seeing someone|an? alcoholic)"
)
SPY: Final = lazy_pattern(
    r"\b"
    + any_of(
        "spy_on spying_on spyware track tracking stalk* eavesdrop* monitor* record recording film filming "
        "photograph* follow* listen* read reading snoop* look_at look_through access* locat* see find_out"
    )
    + rf" {up_to(3)}{_POSSESSOR} {up_to(2)}"
    + any_of(
        "phone message* text* location email* computer gps whereabouts conversation* call* account activity "
        "diary history photo* camera cloud icloud file* password*"
    )
    + rf"\b|\b(?:record|film|photograph|watch|spy on|track)\w* {_RELATIVE}s? .*\b(?:shower|naked|undress\w*"
    rf"|without|secretly|bedroom|bathroom)\b"
)
PERSONAL: Final = lazy_pattern(
    rf"\b(?:steal|harvest|leak|sell|scrap|publish|expos|buy|dump)(?:es?|s|ing)? {up_to(4)}(?:personal|private"
    rf"|confidential|sensitive|patients?|users?|customers?|identity) ?(?:\w+ )?(?:data|information|details"
    rf"|records?|photos?|numbers?)\b|\b(?:leak|post|shar|spread|publish|send|distribut)\w* {up_to(4)}"
    rf"(?:nudes?|naked|intimate|sex tapes?)\b"
)
_DENIED: Final = (
    r"(?:not (?:to )?(?:be|have|get|hold|go|study|vote|sit|own|serve|work|marry|adopt|join|enter|drive|run)|be "
    + any_of(
        "barred banned denied excluded deported kept segregated sterili* expelled kicked discriminated "
        "prevented prohibited forced restricted ashamed paid_less punished eliminated locked stripped treated "
        "underrepresented overrepresented beaten killed"
    )
    + r"|have (?:fewer|less|no|their)|go (?:through extra|back)|stay (?:home|in|out)|obey|earn less"
    r"|know their place|make all|pay more)"
)
# Where nobody is, nobody is denied a thing.
_NOWHERE: Final = any_of("mars saturn jupiter venus mercury neptune uranus pluto the_moon the_sun* space other_planet*")
_GROUP: Final = rf"(?:{harms.GROUPS})"
HATE: Final = lazy_pattern(
    rf"\b(?:why (?:should|shouldn't|would|must|is|do)|reasons?|argue|best|right|good idea|explain\w*|believe|prove"
    rf"|claim\w*|arguments?|persuad\w+|convinc\w+|article|essay|speech|post) (?:[\w']+ ){{0,5}}?{_GROUP} "
    rf"(?:\w+ ){{0,2}}?(?:(?:should|must|ought to|to)(?:n't)? (?:best |better |also |always )?{_DENIED}"
    rf"|not to (?:be|have|get)|deserve|have {_DENIED})\b"
    rf"|\bwhy (?:should|shouldn't|must|would|is it best for society that) (?:[\w']+ ){{0,3}}?{_GROUP} (?:best "
    rf"|better |also |always |all )?{_DENIED}\b(?!.*{_NOWHERE})"
    rf"|\bbest (?:\w+ ){{0,3}}?that {_GROUP} (?:make|hold|have|get) (?:all|fewer|less|no)\b"
    rf"|\b(?:stop|keep|prevent|ban|bar|exclude|remove|drive|deport) (?:all |the )?{_GROUP} (?:\w+ )?(?:from|out of) "
    rf"|\b(?:took|take|taking) away (?:\w+ ){{0,2}}?{_GROUP}(?:'s?)? (?:\w+ )?rights\b"
)
_SCORN: Final = any_of(
    "inferior superior stupid dumb* lazy lazier criminals criminal violent dangerous dirty "
    "disgusting weak* evil greedy subhuman vermin less_intelligent less_human worse uglier ugly terrorists "
    "thieves parasites sinful unnatural untrustworthy overstate* exaggerate* a_danger a_threat control_the "
    "must_be_deported"
)
SCORNS: Final = lazy_pattern(
    rf"\b{_GROUP} (?:[\w']+ ){{0,3}}?{_SCORN}\b|\b(?:one|my|our|their|a|some|certain) (?:race|ethnicity|gender"
    rf"|religion|nation)s? (?:is|are) (?:\w+ )?(?:superior|inferior|better|worse)\b"
    rf"|\b(?:make|making|poke|makes|mock\w*|ridicul\w*|insult\w*|humiliat\w*|dehumani\w*"
    rf"|demoni[sz]\w*) (?:fun of )?(?:the )?{_GROUP}\b|\b(?:jokes?|insults?|slurs?|hatred"
    rf"|hate) (?:\w+ ){{0,2}}?(?:about|for|against|on|towards?) {_GROUP}\b"
)
HATEFUL: Final = lazy_pattern(
    r"\b"
    + any_of(
        "racist sexist homophobic transphobic xenophobic antisemitic anti-semitic islamophobic misogynist* "
        "hateful hate derogatory dehumani* extremist threatening defamatory slanderous libelous neo-nazi "
        "white_supremacist terrorist"
    )
    + r" (?:\w+ )?"
    + any_of(
        "joke jokes insult* slur* speech article essay post posts tweet* song poem letter story comment* "
        "propaganda manifesto content rant language remark* message* term terms statement* ideology video email note "
        "slogan* rally chant* propaganda"
    )
    + r"\b|\b(?:article|essay|post|tweet|song|poem|letter|story|speech|message|blog|campaign|email|video|note)s? .*\b"
    + any_of(
        "glorif* promot* encourag* calling_for call_for incit* endors* advocat* threaten* harass* bully* justif* prais*"
    )
    + rf" {up_to(4)}"
    + any_of(
        "violen* hate hatred racis* sexis* terror* suicid* self-harm anorexia eating_disorder* drug* drunk* "
        "illegal* discriminat* rape nazi* crime* bully* my their his her landlord*"
    )
    + r"\b"
)
MINOR: Final = lazy_pattern(
    r"\b(?:sex|sexual\w*|nudes?|naked|erotic\w*|porn\w*|seduc\w*|lur(?:e|ing)|groom(?:ing)?|molest\w*"
    r"|touch)\b.*\b(?:child(?:ren)?|minors?|underage|kids?|toddlers?|pre-?teens?|(?:\d|1[0-7])[- ]years?[- ]old"
    r"|schoolgirls?|little (?:girls?|boys?)|teen(?:age)?(?:r|rs)?)\b"
    r"|\b(?:child(?:ren)?|minors?|underage|kids|preteen|teen(?:age)?(?:r|rs)?)\b.*\b(?:sexual(?:ly|ized|ised)?"
    r"|nudes?|naked|erotic\w*|porn\w*|molest\w*|touch(?:ing)? them)\b|\bmy (?:pedo|paedo)philia\b"
    r"|\bunderage (?:girl|boy|kid|child|teen|friend|student|daughter|sister)\w*"
    rf"|\b(?:force|coerce|trick|blackmail|drug|pressur)\w* {up_to(3)}(?:in)?to (?:have |having )?(?:sex"
    rf"|intercourse|sleep\w* with|undress\w*|prostitution|marry|porn)"
)
_ATROCITY: Final = any_of(
    "holocaust shoah genocide genocides massacre massacres ethnic_cleansing slave_trade slavery apartheid "
    "jim_crow segregation concentration_camp concentration_camps "
    "death_camps gas_chambers gulag* trail_of_tears lynching* pogrom* inquisition killing_fields khmer_rouge "
    "pol_pot nazi nazis hitler stalin mussolini pinochet isis "
    "al-qaeda taliban ku_klux_klan kkk 9/11 september_11 world_war atomic_bomb* hiroshima nagasaki eugenics "
    "terror_attack* terrorist_attack* shooting shootings bombing bombings "
    "assassination* war_crimes colonialism school_shooter*"
)
REPEATS: Final = lazy_pattern(
    rf"\b(?:(?:replicat|repeat|recreat|restor|bring(?:ing)? back|reintroduc|reinstat|emulat|imitat|copy|glorif"
    rf"|celebrat|prais|justif|deny|denie|disprov)\w*|like under|inspired by"
    rf"|use)\b.*\b{_ATROCITY}\b(?!.*\b(?:museum|memorial|exhibit\w*)\b)"
    rf"|\b{_ATROCITY}\b.*\b(?:never (?:happened|took place|occurred|existed)|did(?:n't| not) happen|hoax"
    rf"|fabricat\w*|(?:a|and) lies?|myth|overstat\w*|made up)\b"
)
APPROVES: Final = lazy_pattern(
    rf"^why (?:was|were|is|are) (?=.*{_ATROCITY}).*\b(?:justified|right to|a good thing|good for|beneficial)\b"
    rf"|\b(?:benefits?|advantages?|merits|upsides?) of (?:\w+ ){{0,3}}?{_ATROCITY}\b"
)
DECEIVES: Final = lazy_pattern(
    rf"\b(?:trick|deceiv|fool|lur|scam|con|manipulat|dup)(?:e|es|s|ing)? {up_to(4)}(?:in)?to (?:giv|send|reveal"
    rf"|shar|transfer"
    rf"|pay|buy|hand|disclos|invest|click)\w*\b|\b(?:persuad|convinc|get)\w* {up_to(4)}to (?:giv|send|reveal"
    rf"|shar|transfer)\w* "
    rf"{up_to(3)}(?:savings|inheritance|passwords?|log-?ins?|bank|credit card|personal)\b"
)
PEOPLE_TO: Final = lazy_pattern(
    r"\b(?:people|someone|somebody|women|men|girls|kids|children"
    r"|victims?) to (?:shoot|kill|rob|rape|murder|stab|attack|kidnap|beat|scam|stalk|traffic)\b"
)
OTHERS: Final = lazy_pattern(
    rf"\bget(?:ting)? into {_POSSESSOR} {up_to(2)}(?:account|phone|snapchat|instagram|facebook|e-?mails?"
    rf"|computer|laptop|icloud)\b"
    rf"|\b(?:convinc|persuad|lur|get|mak)\w* (?:a|some|my) (?:minor|child|kid|little \w+) to (?:meet|trust"
    rf"|undress|come|keep)\b"
    rf"|\bfak(?:e|ing) (?:my |an? )?(?:own )?(?:death|injury|accident|illness|robbery)\b"
    rf"|\bmake (?:someone|somebody|people|him|her|my [\w-]+) (?:overdose|suffer|bleed|disappear|choke|miscarry"
    rf"|very ill|sick)\b"
    rf"|\btak(?:e|ing) {up_to(4)}hostages?\b|\bset(?:ting)? {up_to(4)}on fire\b|\bcheat(?:ing)? on (?:my "
    rf"|your )?(?:\w+ )?tax(?:es)?\b|\bmak(?:e|ing) {_POSSESSOR} (?:life (?:\w+ )?(?:hell|miserable)"
    rf"|\w+ (?:explode|crash))"
    rf"|\b(?:push|throw|shov)(?:e|ing)? {up_to(4)}(?:off|down|in front of|under|out of) (?:an? |the )"
    rf"|\bgive (?:someone|somebody|my \w+) an? (?:headshot|black eye|beating|concussion|overdose)\b"
)
OWN_THING: Final = lazy_pattern(
    r"set(?:ting)? (?:a|the|my) (?:party|stage|room|crowd|dance floor|night|world"
    r"|mood|scene|grill|fireplace|campfire|logs?)\b"
)
CHINESE: Final = lazy_pattern(
    r"(?:怎么|如何|怎样|怎麼|教我|帮我|告诉我|给我|哪里可以|哪里能|在哪|写一|制定|我想|方法|步骤|教程)"
    r"(?:(?!防|避免|举报|预防|识别|应对|保护|阻止|报警|定义|意思|历史).){0,16}?"
    r"(?:杀死|杀掉|杀人|谋杀|毒死|下毒|投毒|勒死|捅死|打死|弄死|绑架|强奸|迷奸|性侵|虐待|自杀|自残|割腕|炸掉|炸毁|炸弹|炸药|爆炸物|枪支|造枪|制毒|贩毒|毒品|冰毒|海洛因|可卡因|大麻"
    r"|洗钱|诈骗|骗钱|"
    r"偷车|偷窃|盗窃|偷东西|抢劫|抢银行|入侵|黑进|破解.{0,6}密码|盗号|木马|勒索|敲诈|钓鱼网站|伪造|假币|假钞|假身份证|假护照|走私|逃税|行贿|贿赂|人口贩卖|拐卖|跟踪.{0,6}(?:前|女"
    r"|她|他)|偷拍|偷看.{0,8}(?:手机|短信|聊天)|窃取|纵火|放火)"
)
# `Tell me who ...` asks who.
TELL: Final = lazy_pattern(
    r"^(?:please )?(?:can|could|would|will)?(?: you)?(?: please)? ?(?:tell|show|inform"
    r"|remind|explain to) (?:me|us) (?=who|when|why|what|whether|if|how (?:many|much|long|the|it|they|he|she))"
)
CRIME_ACT: Final = lazy_pattern(rf"\b{one_of(harms.CRIME_ACTS)}\b")
