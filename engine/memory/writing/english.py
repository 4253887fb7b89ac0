"""What an English clause tells about its speaker, by the forms of words that people use for it. Pure.

A clause that fits no form tells nothing: it is better to miss a fact than to make one up. Slots are where one thing
holds at a time, so that "I moved to Oslo" takes the place of where one lived before.
"""

import re
from typing import Final

from engine.memory.values import MemoryKind
from engine.memory.writing.patterns import any_of
from engine.memory.writing.rules import Rule

_ADVERBS: Final = (
    r"(?: (?:also|now|just|currently|recently|really|still|already|usually|finally|mostly|actually|absolutely|only|both"
    r"|generally|personally|simply|do|quite|rather|always|often|normally|kind of|sort of|totally|truly|definitely"
    r"|officially|very much|especially|particularly|secretly|all))*"
)
_I: Final = rf"\b(?:I|we)(?:'m| am|'ve| have|'re| are)?{_ADVERBS}"
_END: Final = (
    r"(?=$|[,.;!?]| (?:because|since|but|and|when|while|so|as|though|although|every|these|any ?more|any longer|at all"
    r"|very much|too|as well|over|to|rather|than|more than|(?:\w+ )?\w+ ago|last|this|yesterday|today|for (?:good"
    r"|ever|now))\b)"
)
_IT: Final = rf"(?P<it>[^.,;!?]+?){_END}"
_OVER: Final = rf"(?P<over>[^.,;!?]+?){_END}"
_WORK: Final = (
    "engineer|teacher|nurse|doctor|lawyer|designer|developer|programmer|accountant|chef|cook|journalist|electrician"
    "|architect|manager|scientist|writer|artist|musician|pilot|driver|plumber|carpenter|researcher|professor|consultant"
    "|analyst|paramedic|librarian|pharmacist|dentist|vet|farmer|baker|translator|photographer|freelancer|firefighter"
    "|officer|technician|therapist|psychologist|physiotherapist|barista|waiter|waitress|mechanic|editor|producer"
    "|director|surgeon|midwife|biologist|chemist|physicist|mathematician|economist|banker|broker|salesperson|cashier"
    "|secretary|administrator|assistant|intern|apprentice|founder|entrepreneur|tailor|gardener|hairdresser"
    "|welder|geologist|historian|curator|lecturer|tutor|trainer|coach|soldier|judge|notary|interpreter|animator"
)
_SPOUSE: Final = "wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?"
_RELATIVE: Final = (
    "wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mother|father|mom|mum|dad|parents|sister"
    "|brother|siblings|twin|son|daughter|kids?|children|child|baby|grandmother|grandfather|grandma|grandpa|aunt|uncle"
    "|cousin|niece|nephew|mother-in-law|father-in-law|sister-in-law|brother-in-law|best friend|friend|roommate"
    "|flatmate|neighbou?r|boss|manager|supervisor|colleague|coworker|landlord|landlady|doctor|dentist|therapist|teacher"
    "|ex"
)
_PET: Final = (
    "dog|cat|puppy|kitten|hamster|rabbit|parrot|bird|fish|goldfish|tortoise|turtle|horse|pony|pet|snake|lizard"
)
_TIMES: Final = (
    r"every (?:other )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|monday"
    r"|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)|(?:on )?(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays"
    r"|sundays|weekends|weekdays)|(?:once|twice|\w+ times) (?:a|per) (?:day|week|month|year)|daily|weekly|in the"
    r" (?:mornings?|evenings?)|before (?:bed|work|breakfast)|after (?:work|dinner|lunch)"
)
_MEETING: Final = (
    "appointment|meeting|exam|test|interview|flight|dentist|deadline|wedding|concert|party|presentation|check-?up"
    "|surgery|operation|trip|holiday|vacation|conference|lecture|defen[cs]e|ceremony|reservation|date|class|course|race"
    "|marathon|match|game|audition|viewing|train"
)
_NOT_OWNED: Final = (
    r"(?:question|problem|issue|idea|feeling|meeting|thought|doubt|look|point|favou?r|request|hard time|good time"
    r"|minute|moment|bug|error|task|list|file|lot|few|couple|bit|chance|choice|plan|to\b|been|no\b|not\b|never|had|seen"
    r"|heard|read|tried|noticed|found|written|done|finished|decided|got to|gotta|text|sentence|code|function|script)"
)
_NOT_LASTING: Final = (
    r"(?:are|need|want|try|think|thought|guess|mean|meant|hope|wonder|see|saw|understand|get|got|ask|have|had|am|was"
    r"|were"
    r"|can|could|will|would|should|must|may|might|do|did|don't|didn't|know|knew|say|said|tell|told|believe|feel|felt"
    r"|agree|appreciate|forgot|heard|read|found|look|write|wrote|made|ran|sent|just|swear|bet|doubt|wish|promise"
    r"|already|apologi[sz]e|suggest|recommend|disagree|remember|miss|check|went|go|came|come|owe|still|live|work|like|love|hate"
    r"|prefer|enjoy|put|set|took|gave|left|kept|let|cut|chose|wait|assume|notice|expect|suppose|count|fix|use"
    r"|(?!adopted|studied|graduated|retired|joined|converted|emigrated|immigrated|inherited|married|started|served"
    r"|trained|qualified|moved|learned|volunteered)\w+ed)\b"
)
OF_A_TASK: Final = any_of(
    r"\b(?:you|your|yours|code|errors?|bugs?|files?|functions?|scripts?|answers?|questions?|outputs?|inputs?|tables?"
    r"|sentences?|paragraphs?|texts?|messages?|e-?mails?|prompts?|apps?|screen|buttons?|pages?|website|links?|versions?"
    r"|tests?|above|below|following|here|examples?|problems?|issues?|help|options?|columns?|rows?|lines?|steps?"
    r"|results?"
    r"|formula|servers?|browser|guess|wrong|solutions?|approach|draft|title|words?|numbers?|loop|data|logs?|methods?"
    r"|model|windows? (?!seat)|tabs?|lists?|variables?|class(?! of)|plan [a-z]|option [a-z])\b",
    r"\b(?:this|that|these|those)\b(?! (?:year|summer|winter|spring|autumn|fall|month))",
    r"\bthe (?:same|first|second|third|last|latest|other|previous|next|new|old)\b",
    r"\b(?:today|yesterday|just now|this morning|tonight|right now|then|after that|later|again and again)\b",
)
"""Words of what is being worked on, which tell of no one."""
_LIKE: Final = (
    r"(?:like|love|enjoy|prefer|adore|hate|dislike|detest|loathe|fancy|can(?:no|')t stand|can't bear|don't like"
    r"|do not like|don't enjoy|don't love|don't care for|'d rather have|would rather have)"
)


def _rule(
    kind: MemoryKind,
    form: str,
    slot: str = "",
    takes_over: tuple[str, ...] = (),
    *,
    needs_day: bool = False,
    is_loose: bool = False,
    flags: re.RegexFlag = re.IGNORECASE,
) -> Rule:
    return Rule(kind, re.compile(form, flags), slot, takes_over, needs_day, is_loose)


ENDINGS: Final = (
    _rule(
        "fact",
        rf"{_I} (?:changed|switched|changing|switching) (?:my )?(?:job|jobs|employer|company|career)s?\b",
        "employer",
        ("job",),
    ),
    _rule(
        "fact",
        rf"{_I} (?:quit|left|lost|resigned from|quitting|leaving) (?:my|the) (?:\w+ )?(?:job|position|company)\b",
        "employer",
        ("job",),
    ),
    _rule("fact", rf"{_I} (?:got|was|were|been) (?:fired|laid off|made redundant)\b", "employer", ("job",)),
    _rule("fact", rf"{_I} (?:retired|unemployed|out of work|between jobs)\b", "employer", ("job",)),
    _rule(
        "fact",
        rf"{_I} (?:got |getting )?(?:divorced|separated|widowed)\b|\bwe (?:broke|split) up\b|{_I} (?:broke"
        rf"|split) up with\b|{_I} single\b",
        "marriage",
        ("partner",),
    ),
    _rule("fact", rf"{_I} no longer (?:live|living|based|reside) (?:in|at) {_OVER}", "home"),
    _rule("fact", rf"{_I} no longer (?:work|working|employed) (?:at|for|with|in|as) {_OVER}", "employer", ("job",)),
    _rule("fact", r"\b(?:I|we)(?:'m| am|'re| are) no longer (?:an? )?" + _OVER),
    _rule(
        "fact", r"\b(?:I|we)(?:'m| am|'re| are)(?: not|n't)(?: an?)? (?P<over>[^.,;!?]+?) (?:any ?more|any longer)\b"
    ),
    _rule("preference", r"\b(?:I|we) no longer " + _OVER),
    _rule(
        "preference",
        r"\b(?:I|we) (?:don't|do not|can't|cannot|won't|never) (?P<over>[^.,;!?]+?) (?:any ?more|any longer)\b",
    ),
    _rule(
        "preference",
        rf"{_I} (?:stopped|quit|given up|gave up|giving up|done with|cut out|sworn off|off|over with|went off"
        rf"|gone off) (?:going to )?{_OVER}",
    ),
    _rule(
        "fact",
        rf"{_I} (?:sold|gave away|got rid of|lost|cancelled|canceled|returned|threw away) (?:my|our|the) {_OVER}",
    ),
    _rule(
        "relation",
        rf"\b(?:my|our) (?P<over>(?:{_PET}|{_RELATIVE})(?:,? \w+,?)?) (?:died|passed away|has died|has passed away)\b",
    ),
    _rule(
        "relation",
        r"\b(?P<over>(?!My\b|Our\b|The\b|He\b|She\b|It\b)[A-Z]\w+) (?:died|passed away|has died)\b",
        flags=re.RegexFlag(0),
    ),
    _rule("fact", rf"{_I} (?:switched|changed|moved|went) from (?P<over>[^.,;!?]+?) to\b"),
)
"""What holds no longer."""

TELLINGS: Final = (
    # Who they are
    _rule(
        "fact",
        r"\b(?:[Mm]y (?:full |first |last )?name is|[Cc]all me|I go by"
        r"|I'm called) (?P<it>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)",
        "name",
        flags=re.RegexFlag(0),
    ),
    _rule(
        "plan",
        rf"{_I} (?:(?:going|planning|about|will|hoping|have) (?:to )?)?(?:moving|relocating|move"
        rf"|relocate) (?:back )?(?:to|into)\b",
    ),
    _rule(
        "fact",
        rf"{_I} (?:live|living|reside|residing|based|moved|moving|relocated|relocating|settled"
        rf"|staying) (?:permanently )?(?:back )?(?:(?:in|at|near|outside|to|into|with|down|up"
        rf"|over)\b)+(?! (?:the )?(?:next|bed|tears|step|fear|hope|peace|denial|a hurry|trouble|love"
        rf"|another (?:topic|question)|a lie|meeting|calendar))",
        "home",
    ),
    _rule(
        "fact",
        rf"\bmy (?:home )?address is\b|{_I} (?:bought|rented|renting|got) (?:a|an|my|our) (?:\w+ )?(?:house|flat"
        rf"|apartment|place) (?:in|at|near|on)\b",
        "home",
    ),
    _rule(
        "fact",
        rf"{_I} (?:from|come from|originally from|born in|grew up in|raised in"
        rf"|come originally from)\b(?! (?:the )?(?:work|school|home|gym|a meeting|there))",
        "origin",
    ),
    _rule(
        "fact",
        rf"{_I} (?:work|working|worked|started|starting|employed)(?: (?:full.time|part.time|remotely|freelance|out"
        rf"|working|a (?:new )?job))* as (?:an?|the)\b",
        "job",
    ),
    _rule("fact", rf"\b(?:I|we)(?:'m| am){_ADVERBS} (?:an? )?(?:[\w-]+ ){{0,3}}(?:{_WORK})\b(?! (?:of|to) )", "job"),
    _rule(
        "fact",
        rf"{_I} (?:work|working|started working|started|starting|got hired|hired|employed|got a (?:new )?job"
        rf"|have a new job|got a new position|joined|joining|took a job|accepted an offer)(?: (?:full.time|part.time"
        rf"|remotely|as an? [\w ]+?))* (?:at|for|with|by|from)\b(?! (?:the )?(?:home|night|noon|least|fun|now|once"
        rf"|a while|hours|years|\d))",
        "employer",
    ),
    _rule("fact", rf"\bmy (?:new |current )?(?:employer|company) is\b|{_I} joined (?=[A-Z])", "employer"),
    _rule(
        "fact",
        r"\bmy (?:new |current )?(?:job|profession|occupation|line of work) is\b|\bI (?:teach|practi[cs]e) \w+ (?:at"
        r"|in|for)\b|\bI run (?:a|my own|an) (?:\w+ )?(?:business|shop|store|cafe|café|bakery|company|studio"
        r"|restaurant|practice)\b|\bI(?:'m| am) self-employed\b|\bI work (?:in|on) \w+",
        "job",
    ),
    _rule(
        "fact",
        r"\bI(?:'m| am) (?:turning |now |already )*\d{1,3} years old\b|\bI (?:just )?turned \d{2}\b|\bI(?:'m"
        r"| am) \d{2}\b(?=$|[.,!]| and| now)",
        "age",
    ),
    _rule("fact", r"\bmy birthday is\b|\bmy birthday(?:'s| falls)\b|\bI was born on\b", "birthday"),
    _rule("fact", rf"{_I} (?:married|engaged|got married|got engaged|getting married)\b", "marriage"),
    _rule(
        "fact",
        r"\bmy (?P<it>e-?mail(?: address)?|phone(?: number)?|mobile(?: number)?|postcode|zip code|time ?zone|blood type"
        r"|shoe size|shirt size|height|star sign|nationality|native language|mother tongue) is\b",
        "{it}",
    ),
    _rule("fact", r"\bI weigh \d|\bI(?:'m| am) (?:\d'\d+|\d+ ?(?:cm|feet|foot)\b)"),
    # Health and food
    _rule("fact", rf"{_I} (?:severely |badly |mildly |highly )?allergic to {_IT}", "allergy:{it}"),
    _rule(
        "fact",
        rf"\bI have (?:an? )?(?:\w+ )?(?:allergy to|intolerance to) {_IT}|\bI have an? (?P<kind>[\w ]+?) (?:allergy"
        rf"|intolerance)\b|{_I} (?:\w+) intolerant\b",
    ),
    _rule(
        "preference",
        rf"\b(?:I|we)(?:'m| am|'re| are)?{_ADVERBS} (?:become |turned |went |gone |been )?(?:an? )?(?:vegetarian"
        rf"|vegan|pescatarian|flexitarian|on a (?:\w+ ){{0,2}}diet)\b|\bI (?:eat|keep) (?:only )?(?:halal|kosher"
        rf"|vegan|vegetarian|gluten.free)\b|\bI eat (?:meat|fish) again\b",
        "diet",
    ),
    _rule(
        "preference",
        rf"\b(?:I|we) (?:don't|do not|never|can't|cannot) (?:eat|drink|have|take|touch|tolerate|digest) {_IT}",
        "liking:{it}",
    ),
    _rule(
        "fact",
        rf"{_I} (?:(?:was |been )?diagnosed with|suffer(?:ing)? from|being treated for|recovering from)\b"
        rf"|\bI have (?:an? "
        rf"|type [12] |high |low |chronic |severe |mild |bad |really )*(?:diabetes|asthma|migraines?|arthritis"
        rf"|epilepsy|adhd|hypertension|blood pressure|eczema|celiac|coeliac|back pain|knee|insomnia|anxiety"
        rf"|depression|tinnitus|hay ?fever|vertigo|condition|disability|bad \w+)\b|\bI (?:broke|sprained|injured|tore"
        rf"|hurt) my\b",
    ),
    _rule("fact", rf"\bI take (?P<it>(?:\d+ ?mg (?:of )?)?[\w ]+?) (?:for|against|{_TIMES})"),
    # How they want things done
    _rule(
        "instruction",
        r"^(?:please,? )?(?:always |from now on,? |in (?:the )?future,? |going forward,? )*(?:please )?(?:answer"
        r"|reply|respond|write|talk|speak)(?: back)?(?: to me)?(?: (?:only|always))? in (?:[A-Z]\w+|my language|both)",
        "answer_language",
    ),
    _rule(
        "instruction",
        r"\b(?:answers?|repl(?:y|ies)|responses?|it|things)\b[^.]{0,30}\b(?:short|brief|concise|long|detailed"
        r"|to the point|under \d+|one (?:line|sentence))\b(?<!in the long)|^(?:please )?(?:be|keep it) (?:brief"
        r"|concise|short)\b|\bI (?:prefer|like|want) (?:\w+ )?(?:short|brief|concise|long|detailed) (?:answers"
        r"|replies|responses|explanations)",
        "answer_length",
    ),
    _rule(
        "instruction",
        r"\b(?:use|want|prefer|give me)\b[^.]{0,30}\b(?:metric|imperial|celsius|fahrenheit|kilomet(?:er|re)s|miles"
        r"|kilograms|pounds)\b",
        "units",
    ),
    _rule(
        "instruction",
        r"^(?:please,? )?(?:always(?! (?:an?|the|so|good|nice|great|fun|happy|glad)\b)|never(?! (?:mind|better|ever)\b)"
        r"|from now on|in (?:the )?future|going forward|henceforth|do not ever|don't ever|every time|whenever)\b",
    ),
    _rule(
        "instruction",
        r"\bI(?:'d| would)? (?:want|like|need|prefer|expect) (?:you|your answers?|your replies|it if you) (?:to|not"
        r"|always|never|are|be|would|short|in)\b|\b(?:please )?(?:don't|do not|stop) (?:use|using|call|calling|add"
        r"|adding|send|sending|write|writing|put|putting|give|giving|start|starting|end|ending)\b[^.]* (?:me|emojis?"
        r"|answers?|replies|lists?|bullet|tables?|jokes?|to me)\b",
    ),
    _rule("instruction", r"\bI (?:like|want|prefer|need) (?:my|the|all) (?:answers?|replies|responses|explanations)\b"),
    # What is to come
    _rule(
        "plan",
        rf"\b(?:I|we)(?: have|'ve got| got|'ve booked| booked|'ve scheduled| scheduled| made|'ve made)? (?:an?|my|our"
        rf"|the) (?:[\w'-]+ ){{0,4}}(?:{_MEETING})\b",
        needs_day=True,
    ),
    _rule(
        "plan",
        rf"\b(?:my|our) (?:[\w'-]+ ){{0,4}}(?:{_MEETING})(?: [\w'-]+){{0,3}} (?:is|starts|begins|takes place|got moved"
        rf"|was moved|has been moved)\b",
        needs_day=True,
    ),
    _rule(
        "plan",
        rf"{_I} (?:going|flying|travelling|traveling|visiting|meeting|getting|starting|moving|leaving|seeing|having"
        rf"|taking|driving|heading|running|returning|playing|giving|attending|will|plan to|planning to|need to"
        rf"|have to|must|want to|intend to|supposed to|due)\b",
        needs_day=True,
    ),
    _rule(
        "plan",
        rf"{_I} (?:training for|saving (?:up )?(?:for|to)|hoping to|planning to|planning (?:a|an|my|our)|aiming to"
        rf"|working towards|preparing for|learning (?:to|how to)|want to learn|'d like to learn|'d love to learn"
        rf"|would like to learn|plan to|going to learn"
        rf"|looking for a (?:new )?(?:job|flat|apartment|house|car))\b|\bmy (?:goal|dream|plan"
        rf"|new year's resolution) is\b|\bI(?:'d| would) (?:like|love) to (?:learn|visit|see|become|travel)\b",
    ),
    # Who is who
    _rule(
        "relation",
        rf"\b(?:my|our) (?:{_SPOUSE})(?:'s name is| is called| is named)\b",
        "partner",
    ),
    _rule(
        "relation",
        rf"\b(?:[Mm]y|[Oo]ur) (?P<it>(?:[a-z]+ )?(?:{_RELATIVE}|{_PET}))(?:'s name is| is called| is named| goes by)\b",
        "name of {it}",
        flags=re.RegexFlag(0),
    ),
    _rule(
        "relation",
        r"^(?!.*\b(?:writ\w+|letter|e-?mail|gift|present)\b).*"
        rf"\b(?:my|our) (?:\w+ )?(?:{_RELATIVE})s?\b(?! (?:says|said|thinks|told|asked|wrote))",
    ),
    _rule(
        "relation",
        rf"\b(?:my|our) (?:\w+ )?(?:{_PET})s?\b|\b(?:I|we)(?: just)?(?: have| own|'ve got| got| had| adopted"
        rf"| adopt)(?: just)? (?:an?|two|three|four|a new|\d+) (?:\w+ ){{0,3}}(?:{_PET}|{_RELATIVE})s?\b",
    ),
    # What they like
    _rule(
        "preference",
        r"\bmy (?:all.time |absolute )?favou?rite (?P<it>[\w -]+?) (?:is|are|has to be|would be|was|remains)\b",
        "favourite:{it}",
    ),
    _rule(
        "preference",
        r"\bI(?:'m| am) (?:not )?(?:an? )?(?:\w+ ){0,2}(?:person|lover|enthusiast|fanatic|addict|freak|owl"
        r"|early bird)\b",
    ),
    _rule("preference", rf"\b(?:I|we){_ADVERBS} {_LIKE} {_IT}", "liking:{it}", is_loose=True),
    _rule(
        "preference",
        rf"\b(?:I|we)(?:'m| am|'re| are)(?: not| n't)?{_ADVERBS} (?:a (?:\w+ )?fan of|fond of|into|keen on"
        rf"|crazy about|mad about|addicted to|obsessed with|interested in|afraid of|scared of|terrified of) {_IT}",
        "liking:{it}",
        is_loose=True,
    ),
    _rule(
        "preference",
        r"\b(?:I|we)(?:'d)? (?:usually|always|never|rarely|often|normally|mostly|hardly ever|regularly|tend to"
        r"|try to|typically|only) (?!said|told|been|mind|thought|knew|wanted|forget)\w+",
        is_loose=True,
    ),
    _rule("fact", rf"\b(?:I|we) (?!need|want|have to|had)\w+\b[^.]*\b(?:{_TIMES})\b", is_loose=True),
    _rule(
        "preference",
        r"\b(?:I|we)\b[^.,;]* again$|\b(?:I|we)(?:'ve| have)? (?:started|begun|began|taken up|took up) \w+ing\b",
    ),
    # What they have and can
    _rule("fact", rf"{_I} (?:live|living) (?:on|alone|with|together|next)\b"),
    _rule(
        "fact",
        rf"\b(?:I|we){_ADVERBS} (?:speak|play|study|studied|know how to|can (?:speak|play|read|cook|code|drive|swim)"
        rf"|learned to|program in|code in|collect|volunteer|coach|teach|sing|paint|draw|knit|sew|climb|dance|ski|surf"
        rf"|sail|run|cycle|swim|hike|garden|drive|ride|use|own|wear|graduated|majored|grow|brew|bake|build"
        rf"|restore)\b(?! (?:it|this|that|the following|out|into|these|those)\b)",
        is_loose=True,
    ),
    _rule(
        "fact",
        rf"{_I} (?:learning|studying|taking|practi[cs]ing|majoring|teaching myself|raising|pregnant"
        rf"|expecting|left-handed|right-handed|colou?r.?blind|deaf|blind|dyslexic|autistic|short-sighted|nearsighted"
        rf"|religious|catholic|muslim|jewish|hindu|buddhist|atheist|\d+ (?:cm|kg|feet|lbs))\b(?! (?:about|a look|this"
        rf"|that|it|the)\b)",
        is_loose=True,
    ),
    _rule(
        "fact",
        rf"\b(?:I|we)(?: have| own|'ve got| bought| got|'ve bought|'ve just bought| just bought"
        rf"| just got)(?: just)? (?:an?|two|three|my own|\d+)(?! (?:\w+ )?{_NOT_OWNED}) \w+",
        is_loose=True,
    ),
    # Anything else about themselves
    _rule(
        "fact",
        rf"^(?:I|we) (?!{_NOT_LASTING})(?:(?:also|always|never|still|only|once|often|just) )*"
        rf"[a-z]+(?! (?:it|this|that|these|those|you|them|him|her|so|me)\b)(?: [^\s,;]+){{2,}}",
        is_loose=True,
    ),
    _rule(
        "fact",
        r"^(?:my|our) (?!(?:last|first|previous|next|only|main)\b)[\w' -]+? (?:is|are|was|were|has"
        r"|have|lives?|works?|likes?|loves?|hates?|comes?|complains?|hurts?) ",
        is_loose=True,
    ),
    _rule(
        "fact",
        r"^I(?:'ve| have) been [a-z]+ing (?!(?:to|about|for (?:hours|minutes|a while)|with) )",
        is_loose=True,
    ),
)
"""What holds from now on, the narrower forms first."""

ASKED_FOR: Final = re.compile(
    r"^(?:please,? |can you |could you |also,? )*(?:remember|note|keep in mind|bear in mind|don't forget"
    r"|do not forget|make a note|take note"
    r"|memori[sz]e|save (?:this|that|it)|for (?:the|your|future) (?:record|reference))(?: (?:that|this|of this|for me"
    r"|down|for later|for next time|the following))*[,:]?\s+(?P<said>.+)$",
    re.IGNORECASE,
)
OF_ANOTHER: Final = re.compile(rf"^(?:my|our) (?:[\w-]+ )?(?:{_RELATIVE}|{_PET})\b", re.IGNORECASE)
"""A clause of which somebody else is the subject, who stays it in one after it that names none."""
TO_DO: Final = re.compile(r"^to \w+", re.IGNORECASE)
"""What follows "remember" when it is a thing to do."""
LEAD_IN: Final = re.compile(
    r"^(?:(?:by the way|btw|also|oh|well|so|anyway|fyi|just so you know|for your information|to be honest|honestly"
    r"|actually|in fact"
    r"|as you know|and|but|yes|yeah|no|ok|okay|thanks|thank you|hi|hello|hey|sure|right|great|update|news|good news"
    r"|correction)\b[,:!]?\s+|"
    r"(?:i think|i guess|i believe|i should mention|i should say|you should know|i want you to know|i have to say"
    r"|it turns out|turns out)(?: that)?,?\s+)+",
    re.IGNORECASE,
)
CLAUSES: Final = re.compile(
    r"(?:,?\s+(?:and|but|so|while|though|although|because)\s+|[,;:]\s+|\s+[–—-]\s+)"
    r"(?=(?:I|I'm|I've|I'd|we|we're|we've|my|our|please|always|never)\b)",
    re.IGNORECASE,
)
"""Between clauses with a subject of their own."""
NAME: Final = re.compile(r"\b[A-Z][\w'’-]+")
