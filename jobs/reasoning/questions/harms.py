"""Words of harm, by what they say: acts, whom they are done to, goods and crimes; and what makes them harmless.

General English, collected by meaning (the acts of criminal codes, the protected characteristics of equality laws, the
personal data of data protection laws), not by any set of prompts. All entries are lower case; an act is given in its
base form and found in its other forms too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from quern.schemas.words.patterns import lazy_pattern


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text; `_` stands for a space."""
    return frozenset(w.replace("_", " ") for w in text.split())


def any_of(text: str) -> str:
    """The words of a list as one regular expression: `_` stands for a space, a final `*` for any ending."""
    return one_of(text.split())


def one_of(entries: Iterable[str]) -> str:
    """The entries as one regular expression, the longest first."""
    ordered = sorted(entries, key=lambda entry: (-len(entry), entry))
    return "(?:" + "|".join(re.escape(entry).replace("_", " ").replace(r"\*", r"[\w'-]*") for entry in ordered) + ")"


def up_to(count: int) -> str:
    """Up to so many words, as a regular expression."""
    return rf"(?:[\w'-]+ ){{0,{count}}}?"


def forms(verb: str) -> set[str]:
    """A verb with its -s, -ing, -ed and -er forms; of a phrase, the first word is the verb."""
    head, space, rest = verb.partition(" ")
    rest = space + rest
    stem = head[:-1] if head.endswith("e") and not head.endswith("ee") else head
    doubled = re.search(r"[^aeiou][aeiou][bdgklmnprt]$", head) and head not in _SINGLE
    stems = {stem, stem + head[-1]} if doubled else {stem}
    found = {head + rest, head + "s" + rest, head + "es" + rest}
    found |= {s + ending + rest for s in stems for ending in ("ing", "ed")}
    if head.endswith("y"):
        found |= {head[:-1] + "ied" + rest, head[:-1] + "ies" + rest}
    return found


_SINGLE: Final = words(
    "murder poison butcher slaughter threaten embezzle launder smuggle kidnap hammer batter sabotage"
)


def acts(text: str) -> frozenset[str]:
    """Every form of the verbs in `text`."""
    return frozenset(form for verb in words(text) for form in forms(verb))


# Done to a person, each of these harms; most have meanings that harm nobody where the object is something else.
VIOLENCE: Final = acts(
    "kill murder assassinate stab shoot strangle choke suffocate smother drown hang behead decapitate execute "
    "torture rape "
    "molest kidnap abduct poison lynch mutilate dismember butcher slaughter massacre maim bludgeon beat beat_up "
    "punch hit "
    "kick slap hurt harm injure wound attack assault ambush batter burn crush bomb snipe slay gut eviscerate "
    "electrocute "
    "exterminate eradicate annihilate obliterate decimate eliminate terminate liquidate wipe_out take_out "
    "do_away_with "
    "get_rid_of knock_out knock_off finish_off bump_off run_over hunt hunt_down trap drug sedate roofie incapacitate "
    "overpower subdue capture enslave imprison whip starve euthanize saw chop chop_up cut_up throttle smash destroy "
    "traffic exploit groom sexually_assault sexually_abuse abuse blow_up set_fire_to axe tackle hammer pierce "
    "dispose_of "
    "destroy ruin humiliate blackmail extort threaten intimidate terrorize terrorise bully cyberbully harass stalk "
    "cyberstalk dox doxx swat gaslight manipulate catfish impersonate brainwash coerce frame defame persecute "
    "scam defraud con swindle rob mug burgle spy_on eavesdrop_on track_down discriminate_against"
) | words("shot hung beaten slain stole hunting cut hit hurt")
# Of these the acts that can be meant of nothing harmless, whatever the object.
GRAVE: Final = acts(
    "murder assassinate rape molest kidnap abduct lynch mutilate dismember massacre behead decapitate torture "
    "enslave "
    "stalk cyberstalk blackmail extort dox doxx sexually_assault sexually_abuse cyberbully terrorize roofie"
)
# Acts that are no figure of speech, whatever stands beside them.
LITERAL: Final = GRAVE | acts("poison strangle stab drug suffocate electrocute")
# Done to what belongs to others, or to places of the public.
DAMAGE: Final = acts(
    "steal rob burgle burglarize bomb vandalize vandalise slash smash destroy break_into break_in sneak_into "
    "burn burn_down "
    "torch blow_up explode bomb set_on_fire set_fire_to sabotage demolish loot hijack carjack hotwire hack "
    "hack_into wreck trash "
    "deface poison contaminate derail shoot_up attack raid ransack infiltrate tamper_with forge break crash "
    "disable key "
    "wiretap hold_up siphon obliterate annihilate wipe_out decimate level flatten drug spike lace pick "
    "sneak_into damage rig contaminate "
    "intercept tap clone jam ruin fake manipulate"
) | words("stole stolen blown_up broken_into")
# Crimes whose verb alone says it.
CRIME_ACTS: Final = acts(
    "shoplift embezzle launder counterfeit smuggle pickpocket phish skimming bribe blackmail extort carjack hotwire "
    "evade_taxes evade_tax perjure commit_suicide kill_myself money_laundering traffic_drugs deal_drugs "
    "sell_drugs smuggle_drugs rig_an_election rig_the_election rig_elections stuff_ballot_boxes hire_a_hitman "
    "make_a_bomb join_isis overthrow_the_government cheat_on_my_taxes cheat_on_taxes ddos pick_pockets buy_votes "
    "drive_drunk drink_and_drive incite radicalize radicalise groom_children groom_minors"
)
# Crimes and harms as nouns: harmful to commit, plan or promote, harmless to ask about.
CRIMES: Final = (
    r"murders?|homicides?|manslaughter|assassinations?|terrorism|(?:terror(?:ist)?|terrorism) (?:attacks?|acts?"
    r"|plots?|cells?)"
    r"|mass (?:shootings?|murders?|killings?|suicides?|violence)|school shootings?|shooting spree|massacres?"
    r"|genocides?|ethnic cleansing"
    r"|suicide|self[- ]harm|rapes?|date[- ]rape|sexual (?:assaults?|abuse|exploitation|violence|harassment)"
    r"|paedophilia|pedophilia"
    r"|child (?:abuse|porn(?:ography)?|exploitation|labou?r|trafficking|marriage)|incest|bestiality|necrophilia"
    r"|(?:armed |bank )?robber(?:y|ies)|burglar(?:y|ies)|theft|identity theft|(?:grand )?larceny|shoplifting"
    r"|arson|kidnappings?|abductions?"
    r"|(?:human|sex|drug|organ|arms|weapons?|wildlife|people) (?:trafficking|smuggling)|drug (?:deals?|dealing"
    r"|operation|ring|lab|cartel)"
    r"|money[- ]laundering|(?:\w+ ){0,2}frauds?|embezzlement|extortion|blackmail|bribery|forgery|perjury"
    r"|tax evasion|insider trading"
    r"|(?:ponzi|pyramid|phishing|pump[- ]and[- ]dump|fraud) schemes?|(?:phishing|romance|investment|insurance"
    r"|internet|online|phone) scams?|scams?"
    r"|(?:violent|physical|aggravated) assaults?|assault|domestic (?:violence|abuse)|animal (?:cruelty|abuse)"
    r"|dog ?fighting|cannibalism|human sacrifice"
    r"|hate crimes?|hate speech|lynchings?|honou?r killings?|slavery|torture|sabotage|vandalism|treason"
    r"|(?:violent )?coup|insurrection"
    r"|cyber[- ]?attacks?|cyber[- ]?bullying|cyber[- ]?crimes?|ddos attacks?|hacking|carding|doxx?ing|swatting"
    r"|stalking|voter (?:fraud|suppression)|election (?:fraud|rigging)"
    r"|vehicular homicide|riots?|shootings?|(?:someone|somebody|people)'s (?:death|murder|suicide)"
    r"|terrorist (?:group|organi[sz]ation|network)s?|drunk driving|hit[- ]and[- ]run|heists?|(?:acid|arson|bomb"
    r"|bombing|knife|chemical|biological|sarin|anthrax|stadium|car) (?:attacks?|explosions?|bombings?)"
    r"|(?:illegal|unlawful|criminal|violent|dangerous) (?:activit(?:y|ies)|acts?|behaviou?rs?|drugs?|weapons?"
    r"|challenge)|crimes?|perfect murder"
)
# What is harmful to make, buy, sell, use or spread.
GOODS: Final = (
    r"(?<!bath )(?<!seed )(?<!photo )(?<!stink )(?<!smoke )(?:pipe |nail |car |dirty |nuclear |fertili[sz]er "
    r"|home-?made |time |suicide |petrol |atomic |letter |pressure cooker |chemical )?bombs?|bombing"
    r"|bomb[- ]making|explosives|explosive (?:device|vest|belt)s?"
    r"|ieds?|molotov(?: cocktail)?s?|(?:hand )?grenades?|napalm|thermite|c-?4|tnt|dynamite|chloroform|semtex"
    r"|gunpowder|arsenic|strychnine|polonium|landmines?|detonators?"
    r"|nerve (?:agent|gas)s?|sarin|ricin|anthrax|cyanide|vx gas|mustard gas|(?:chemical|biological|nuclear"
    r"|radiological|bio) ?weapons?|bioweapons?|weapons? of mass destruction"
    r"|(?:deadly|lethal|untraceable|dangerous) (?:poison|virus|pathogen|toxin|drug|weapon|gas|chemical|disease)s?"
    r"|ghost guns?|(?:3d[- ]printed |illegal |unregistered |untraceable |stolen |automatic |unlicensed "
    r"|home-?made )(?:guns?|weapons?|firearms?|rifles?)|silencers?"
    r"|meth(?:amphetamine)?s?|crystal meth|(?:crack )?cocaine|coke powder|heroin|fentanyl|lsd|mdma"
    r"|ecstasy(?: pills?)?|ghb|rohypnol|ketamine|pcp|crack cocaine|magic mushrooms|(?:illegal|hard|party|street"
    r"|date[- ]rape|illicit) drugs?"
    r"|(?:a gram|some|an ounce|a line|an eighth|a bag|grams|a kilo) (?:of )?(?:coke|crack|weed|pot|speed|dope"
    r"|smack|hash|acid|marijuana|cannabis|molly)|oxycontin|marijuana|marihuana|cannabis|hashish|crack(?= (?:at"
    r"|in|from|on)\b|\W*$)"
    r"|malware|ransomware|spyware|key ?loggers?|trojans?|botnets?|rootkits?|computer (?:virus(?:es)?|worms?)"
    r"|(?:virus|worm) that|malicious (?:code|software|program|script|app|link)s?|phishing (?:e-?mails?|sites?"
    r"|websites?|pages?|messages?|kits?|campaigns?|attacks?)|backdoors?|exploits? for|zero-?days?"
    r"|fake (?:\w+ ){0,2}(?:cards?|certificates?|charit(?:y|ies)|licen[cs]es?)|counterfeit (?:money|currency"
    r"|bills?|cash|notes|goods|documents?)|fake (?:an? |my )?(?:injur(?:y|ies)"
    r"|accident|illness|robbery|kidnapping|sick note)|fake (?:ids?|i\.d\.?s?|passports?|driver'?s? licen[cs]es?"
    r"|prescriptions?|money|currency|bills|documents?|identit(?:y|ies)|vaccine|medical|degrees?|diplomas?"
    r"|reviews?|charit(?:y|ies)|certificates?|evidence)|false (?:identit(?:y|ies)|documents?|alibi)"
    r"|stolen (?:credit cards?|goods|identit(?:y|ies)|data|cars?|phones?|art|information|property|items?)"
    r"|(?:credit|debit) card (?:numbers|dumps|skimm\w+)|cloned cards?"
    r"|child porn(?:ography)?|csam|revenge porn|deep ?fake (?:porn|nudes?)|upskirt\w*|snuff (?:films?|videos?)"
    r"|human (?:organs?|remains)|(?:elephant )?ivory|rhino horns?|slaves?|hit ?m[ae]n|contract killers?|prostitutes?"
)
# Groups that equality laws protect: religion, origin, race, sex, orientation, disability, age, station.
GROUPS: Final = (
    r"(?:black|white|brown|asian|african|latin[oax]?|hispanic|arab|jewish|muslim|islamic|hindu|christian"
    r"|catholic|sikh|buddhist|roma|gypsy|romani|indigenous|native|aboriginal|indian|chinese|mexican"
    r"|african[- ]american"
    r"|gay|lesbian|bisexual|trans|transgender|non-?binary|queer|asexual|lgbtq?\+?|homosexual|disabled|autistic"
    r"|deaf|blind|divorced|single|pregnant|pregrant|elderly|old|homeless|poor|overweight|fat|obese|immigrant"
    r"|foreign|mentally ill|jobless|unemployed|female|male) "
    r"(?:people|persons?|folks?|men|women|man|woman|kids|children|mothers|parents|couples?|citizens?|workers"
    r"|individuals|students|population|community|communities|families|immigrants|americans?)"
    r"|jews|muslims|hindus|christians|catholics|sikhs|buddhists|atheists|roma|gypsies|arabs|blacks|whites|asians"
    r"|africans|latinos|latinas|hispanics|mexicans|chinese|indians|immigrants|migrants|refugees|foreigners"
    r"|asylum seekers|gays|lesbians|homosexuals|transsexuals|women|men|girls|females|males|the (?:disabled"
    r"|homeless|poor|elderly|unemployed|handicapped)|minorities|ethnic minorities|(?:certain|other|different"
    r"|a (?:certain|specific|particular)|an?) (?:\w+ )?(?:race|races|ethnicity|ethnicities|religion|gender"
    r"|ethnic group|minority)"
    r"|people (?:on benefits|with (?:disabilities|autism|aids|hiv|down syndrome|mental illness(?:es)?)"
    r"|of colou?r|from \w+)|single mothers|the elderly|old people|older people|lgbtq?\+?"
)
RELATIVES: Final = words(
    "wife husband spouse partner girlfriend boyfriend fiance fiancee lover ex ex-wife ex-husband ex-girlfriend "
    "ex-boyfriend friend mate bestie "
    "neighbor neighbour boss manager supervisor coworker co-worker colleague employee employer intern teacher "
    "professor tutor student pupil classmate "
    "parent parents mother father mom mum dad stepmother stepfather grandparent grandparents grandmother "
    "grandfather grandma grandpa brother sister sibling "
    "son daughter kid kids child children baby uncle aunt cousin nephew niece family roommate flatmate housemate "
    "landlord landlady tenant date crush match "
    "cleaner babysitter nanny gardener roofer plumber therapist doctor nurse dentist lawyer accountant trainer "
    "coach servant maid barber driver client "
    "customer patient mentee mentor rival officer secretary assistant competitor pastor priest in-laws "
    "mother-in-law father-in-law stalker bully "
    "caretaker chef hairdresser nemesis enemy"
)
PEOPLE: Final = RELATIVES | words(
    "someone somebody anyone anybody everyone everybody person persons people human humans man men woman women "
    "toddler infant newborn teen teenager teens "
    "teenagers girl girls boy boys minor minors adult adults guy guys stranger strangers victim victims "
    "politician politicians president senator congressman "
    "governor mayor minister king? judge judges cop cops policeman policemen police officer officers soldier "
    "soldiers journalist journalists reporter activist "
    "activists celebrity celebrities immigrant immigrants refugee refugees pedestrian pedestrians passenger "
    "passengers tourist tourists citizen citizens civilian "
    "civilians guard guards prisoner inmate myself yourself himself herself themselves oneself him them humanity "
    "mankind population crowd crowds villagers "
    "individual individuals students classmates coworkers colleagues neighbors neighbours friends women's elders "
    "nurses doctors teachers ceo billionaire "
    "protesters voters christians muslims jews hindus gays lesbians blacks whites asians arabs mexicans "
    "foreigners migrants homosexuals roma minorities "
    "hostage hostages witness witnesses suspect juror jurors scientist scientists engineer nurse waiter waitress "
    "cashier clerk secretary guest guests visitor visitors"
    " commuter commuters cyclist runner jogger jogger's trespasser hitchhiker homosexual infidel infidels granny "
    "deputy sheriff ranger postman mailman pilot "
    "farmer vendor referee actor actress singer king queen prince princess pope ambassador diplomat official officials "
    "rabbi imam monk nun bishop preacher worker workers shopkeeper bartender hiker camper swimmer teammate teammates "
    "passerby bystander bystanders informant whistleblower protester bouncer widow orphan orphans homeless "
    "corpse corpses employees relatives sisters brothers sons daughters wives "
    "husbands parents body dead_body"
)
BODY: Final = words(
    "head skull face neck throat arm arms wrist wrists leg legs finger fingers eye eyes spine sternum rib ribs "
    "kidney kidneys liver heart chest stomach artery arteries vein veins "
    "bone bones nose jaw knee knees back hand hands foot feet skin brain lungs tongue teeth genitals "
    "body life"
)
# What belongs to somebody and can be taken, broken or read.
BELONGINGS: Final = words(
    "wallet purse car cars bike bicycle motorbike motorcycle truck house home apartment flat tires tyres window "
    "windows phone laptop computer bag money "
    "cash package packages mail dog cat pet property garden business email account accounts identity passport "
    "keys wifi wi-fi router network documents data "
    "life reputation career marriage credit card reputation drink food password passwords bank inheritance "
    "savings playstation xbox console jewellery jewelry watch painting "
    "art tv lunch dinner breakfast food soup brakes signature prescription door lock drinks meal files "
    "photos icloud tea bicycle bikes boat gun "
    "diary medication credentials webcam camera camera snapchat instagram facebook whatsapp server website"
)
PLACES: Final = words(
    "bank banks vault casino hospital school schools church mosque synagogue temple airport airplane plane train "
    "subway station embassy stadium concert store shop "
    "supermarket mall museum house houses home homes building buildings city town village government military "
    "army_base barracks bridge village machine machines evidence bridges bus factory warehouse pipeline dam "
    "powerplant "
    "plant grid infrastructure office jail prison courthouse atm atms car cars vehicle bike shop pharmacy "
    "gallery capitol parliament website websites server servers database "
    "network networks account accounts computer computers webcam webcams system systems cameras forest monument "
    "statue crowd election elections "
    "reservoir water airlines satellite drone traffic infrastructure hotel nightclub restaurant clinic mailbox "
    "packages electricity university satellites iphone facebook instagram"
)
# Places that are not one's own, whoever says `my`.
PUBLIC: Final = words(
    "school office church mosque synagogue temple hospital university college workplace city town village bank"
)
# Personal data in the sense of data protection laws, the sensitive kinds included.
PRIVATE: Final = (
    r"social security (?:number|card)|ssn|credit (?:card|score|history|report)|debit card|bank (?:account"
    r"|details|statements?|balance)|account (?:number|details|password)|passwords?|pass ?codes?|pin(?: code"
    r"| number)?|log-?ins?|credentials"
    r"|(?:home |private |personal |physical |residential |current |exact )?addresse?s?|where(?:abouts)?|(?:live "
    r"|current |real-time |exact )?locations?|(?:cell |mobile |home |private |personal )?(?:phone"
    r"|telephone) numbers?|(?:cell|mobile) numbers?"
    r"|(?:private |personal )?e-?mails?(?: address(?:es)?)?|(?:text |private |direct )?messages|texts|chats?|dms"
    r"|call (?:history|logs?)|(?:internet |web )?(?:browsing|search|browser) history|private (?:photos?"
    r"|pictures?|life|information|messages|documents)|nudes?|naked (?:photos?|pictures?)"
    r"|medical (?:records?|history|conditions?)|health (?:records?|history|information|data)"
    r"|mental health(?: history| records?)?|diagnos[ie]s|prescriptions?|hiv status|therapy (?:notes|sessions)"
    r"|passport(?: number)?|driver'?s'? licen[cs]e(?: number)?|birth certificates?|date of birth|birth ?date"
    r"|licen[cs]e plates?(?: number)?|national id|tax (?:records?|returns?|information)|salary|income|net worth"
    r"|earnings|pay"
    r"|criminal (?:history|records?)|arrest records?|immigration status|citizenship status|visa status"
    r"|sexual orientation|sexuality|sex life|religious (?:beliefs?|affiliation)|religion"
    r"|political (?:affiliation|views?|beliefs?|opinions?)|marital status|relationship status"
    r"|union membership|personal (?:information|data|details)|(?:facebook|instagram|snapchat|tinder|whatsapp"
    r"|gmail|google|icloud|iphone|twitter|tiktok|email|social media|bank|online banking|netflix"
    r"|dating)(?: account| password| login| log-?in| messages| pin)+|dna|fingerprints?|diary"
)
# What makes of an act a move in a game, a scene or a figure of speech.
FICTION: Final = lazy_pattern(
    r"\b(?:video ?games?|board games?|card games?|games?|gaming|role-?play(?:ing)? game|rpg|fps|mmo|novels?"
    r"|fiction(?:al)?|short stor(?:y|ies)|stor(?:y|ies|yline)|screenplays?|scripts? for (?:a|my|the) (?:film"
    r"|movie|play|show)|films\b|(?:an?|the|my|our|this|in|action|horror|short) films?|movies?|tv (?:show|series)|sitcom"
    r"|theat(?:re|er)|stage play|in a play|my play|musical|opera|comics?|manga|anime|cartoons?|books?|chapter"
    r"|characters?|plot (?:for|of|twist)|villains?|protagonists?|dungeons? (?:and|&) dragons|d&d|cosplay|halloween"
    r"|larp|paintball|laser tag|airsoft|nerf"
    r"|chess|checkers|draughts|poker|backgammon|monopoly|scrabble|(?:a|the) shooting range|archery|judo|karate"
    r"|jiu-?jitsu|bjj|boxing|mma|ufc|wrestling|fencing|taekwondo|sparring|martial arts?|(?:base|basket|foot"
    r"|volley|hand)ball|soccer|rugby|hockey|tennis|cricket|golf|badminton|squash|sports?|racing|marathon"
    r"|minecraft|fortnite|gta|grand theft auto|call of duty|counter[- ]strike|battlefield|skyrim|zelda|mario"
    r"|pok[eé]mon|fallout|halo|doom|overwatch|valorant|league of legends|dota|the sims|roblox|assassin's creed"
    r"|hitman game|witcher|elden ring|dark souls|red dead|far cry|resident evil|starcraft|warcraft|among us|rust"
    r"|pubg|apex legends|cyberpunk|terraria|age of empires"
    r"|for a (?:film|movie|show|scene)|(?:fight|action|film|stunt) scene|rehearsal|magic trick|debate club)\b"
)
FIGURES: Final = lazy_pattern(
    r"\b(?:heart|hearts|attention|the show|the spotlight|thunder|laughter|laugh|happiness|joy|dinner|lunch"
    r"|a date|coffee|a drink|drinks|the movies|photos?|pictures?|selfies?|portraits?|video of|kisses|kindness"
    r"|compliments?|"
    r"surprise|gift|presents?|expectations|curiosity|procrastination|boredom|trivia|quiz|interview|exam|test"
    r"|presentation|argument|debate|competition|record|high score|to school|to work)\b"
)

# Done to a part of somebody's body; done to anything else, these are the work of kitchens and workshops.
BODILY: Final = VIOLENCE | acts(
    "break break_open crack crack_open shatter fracture rip_off tear_off cut_off chop_off slice slice_off sever "
    "smash_in gouge_out stomp_on bite_off twist "
    "snap dislocate rupture puncture slit pierce carve peel knock_out hammer hammer_in"
)
# Cruel to an animal that lives with people.
CRUELTY: Final = acts(
    "torture abuse torment hurt poison drown kick beat strangle burn mutilate starve stab shoot set_fire_to skin_alive"
)
PETS: Final = words(
    "animal animals cat cats dog dogs kitten kittens puppy puppies pet pets horse horses hamster "
    "hamsters pigeon pigeons swan swans"
)
# What may be stolen without a loss to anybody.
NOT_STOLEN: Final = words(
    "base bases second third home show scene spotlight heart hearts thunder glance glances "
    "kiss kisses look idea ideas time sleep ball possession attention"
)


# Acts by their first word that harm nobody.
HARMLESS: Final = acts(
    "drown_out hit_on hit_up beat_eggs run_over_time shoot_for shoot_hoops cut_down kill_time abuse_of"
) | words("shot of")
THEFT: Final = acts("steal shoplift rob burgle loot pickpocket") | words("stole stolen")
ACTS: Final = VIOLENCE | DAMAGE | BODILY | CRUELTY | THEFT
