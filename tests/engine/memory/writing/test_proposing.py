"""What the rules of both languages see in a sentence, and in which they see nothing."""

from datetime import date

import pytest

from engine.memory.writing.frames import speaks_for_themselves
from engine.memory.writing.own_words import own_sentences
from engine.memory.writing.proposing import RuleProposer

MONDAY = date(2026, 11, 30)


def proposed(message):
    return RuleProposer().propose(own_sentences(message), MONDAY)


@pytest.mark.parametrize(
    ("message", "kind", "slot"),
    [
        ("I live in Bergen.", "fact", "home"),
        ("We moved to Oslo last month.", "fact", "home"),
        ("By the way, I work at Telenor now.", "fact", "employer"),
        ("I'm a nurse.", "fact", "job"),
        ("I changed jobs.", "fact", "employer"),
        ("Call me Max.", "fact", "name"),
        ("I'm 34 years old.", "fact", "age"),
        ("My birthday is on 12 May.", "fact", "birthday"),
        ("I'm allergic to peanuts.", "fact", "allergy:peanut"),
        ("I'm vegan now.", "preference", "diet"),
        ("I prefer tea over coffee.", "preference", "liking:tea"),
        ("I can't stand coriander.", "preference", "liking:coriander"),
        ("My favourite colour is teal.", "preference", "favourite:colour"),
        ("My wife's name is Kari.", "relation", "partner"),
        ("My sister Anna studies medicine.", "relation", ""),
        ("We have two cats.", "relation", ""),
        ("I have a dentist appointment next Friday.", "plan", ""),
        ("I'm saving up for a boat.", "plan", ""),
        ("Please always answer in Norwegian.", "instruction", "answer_language"),
        ("Keep your answers short.", "instruction", "answer_length"),
        ("From now on use metric units.", "instruction", "units"),
        ("Never call me sir.", "instruction", ""),
        ("I'm moving to Berlin in March.", "plan", ""),
        ("My flight to Tokyo is on December 14.", "plan", ""),
        ("I'd like to learn how to play chess.", "plan", ""),
        ("I was diagnosed with ADHD last year.", "fact", ""),
        ("I don't like horror movies but my girlfriend does.", "preference", "liking:horror mov"),
        ("I'm not a morning person.", "preference", ""),
        ("I like my answers without bullet points.", "instruction", ""),
        ("I weigh 80 kg.", "fact", ""),
        ("We just had a baby girl.", "relation", ""),
        ("I run every Sunday.", "fact", ""),
        ("I speak French.", "fact", ""),
        ("Remember that the spare key is under the pot.", "fact", ""),
        ("Remember to buy milk.", "plan", ""),
        ("我住在北京。", "fact", "home"),
        ("我上个月搬到上海了。", "fact", "home"),
        ("我在小米上班。", "fact", "employer"),
        ("我是一名护士。", "fact", "job"),
        ("我换工作了。", "fact", "employer"),
        ("我叫李明。", "fact", "name"),
        ("我今年三十二岁。", "fact", "age"),
        ("我生日是5月12号。", "fact", "birthday"),
        ("我对花生过敏。", "fact", "allergy:花生"),
        ("我吃素。", "preference", "diet"),
        ("我更喜欢喝茶。", "preference", "liking:喝茶"),
        ("我受不了香菜。", "preference", "liking:香菜"),
        ("我最喜欢的颜色是青色。", "preference", "favourite:颜色"),
        ("我老婆叫小芳。", "relation", "partner"),
        ("我妹妹在广州读大学。", "relation", ""),
        ("我养了一只猫。", "relation", ""),
        ("下周五我要去看牙医。", "plan", ""),
        ("我打算明年去日本旅游。", "plan", ""),
        ("以后请用中文回答我。", "instruction", "answer_language"),
        ("回答简短一点。", "instruction", "answer_length"),
        ("三月份我要搬到杭州去。", "plan", ""),
        ("我老公对海鲜过敏。", "relation", ""),
        ("我上夜班。", "fact", ""),
        ("我每周日跑步。", "fact", ""),
        ("记住备用钥匙在花盆下面。", "fact", ""),
    ],
)
def test_one_memory_is_proposed(message, kind, slot):
    (proposal,) = proposed(message)
    assert (proposal.kind, proposal.slot) == (kind, slot)
    assert proposal.evidence == message


@pytest.mark.parametrize(
    "message",
    [
        "Thanks, that was great.",
        "I have a question about Python.",
        "I need a recipe for soup.",
        "I think the answer is wrong.",
        "I tried your code and it fails with an error.",
        "I want to know how to cook rice.",
        "I get a KeyError when I run the script.",
        "My code does not compile.",
        "My last message was too long.",
        "I have a list of numbers and want their sum.",
        "I love it when things work.",
        "I meant the other file.",
        "I am writing an email to my boss about a raise.",
        "The function should return an integer.",
        "Let me rephrase that for you.",
        "I need help with my homework.",
        "I think the second option is better.",
        "I don't understand the last step.",
        "I want to write a function that sorts a list.",
        "I pasted the log above.",
        "I see, thank you very much for the help.",
        "I changed the variable name but the bug is still there.",
        "My question is about recursion.",
        "I would like a recipe for pancakes.",
        "We are using version three of the library here.",
        "I asked for a table, not a list.",
        "I'll be back in five minutes.",
        "I'm tired.",
        "I guess you are right.",
        "Thanks, this is exactly what I was looking for.",
        "I have no idea.",
        "I am looking at the screen right now.",
        "我不太明白最后一步。",
        "我想问一下怎么安装。",
        "我把日志贴在上面了。",
        "谢谢你，我明白了。",
        "我要一个表格，不要列表。",
        "我等会儿再来。",
        "我现在很累。",
        "我试了你的方法，不行。",
        "我的问题是关于递归的。",
        "我有一组数字，想求和。",
        "刚才我试了一下，还是不行",
        "昨天我问的那个怎么样了",
        "上次我让你写的总结还在吗",
        "运行之后我看到一个空白页",
        "改完以后我再发给你",
        "前天我看了一部电影",
        "这里我想加一个判断",
        "在第三行后我加了一个循环",
        "等一下我去拿快递",
        "我看不懂这一段",
        "我先吃饭去了",
        "我们继续吧",
        "我同意",
        "好的，我知道了",
        "我再想想",
        "有时间我再来",
        "Then I clicked on save and nothing happened.",
        "After that I restarted the router.",
        "We can continue now.",
        "I will try it later.",
        "I just came back from lunch.",
        "Yesterday I asked you about tax.",
        "I used the wrong column.",
        "We decided to go with option B.",
        "I used your formula and it worked.",
        "I counted twelve rows.",
        "My guess is seven.",
        "My browser crashed.",
        "Our server is down.",
        "I wonder whether that is true.",
        "I live for days like this.",
        "I work around it by restarting.",
        "I love this answer.",
        "I like it.",
        "I prefer the second version.",
        "I hate this bug.",
        "I have two options.",
        "I have three files open.",
        "I never said that.",
        "I always get the same error.",
        "Remember this.",
        "谢谢，很有用。",
        "我有一个问题。",
        "我需要你帮我写一个脚本。",
        "我运行代码的时候报错了。",
        "我想知道怎么做红烧肉。",
        "我觉得第二个方案更好。",
        "我改了变量名，但是问题还在。",
        "我说的是另一个文件。",
        "我在给老板写一封加薪的邮件。",
        "这个函数应该返回整数。",
        "记住这个。",
    ],
)
def test_small_talk_and_tasks_tell_nothing(message):
    assert proposed(message) == ()


def test_two_things_in_one_sentence_are_two_memories():
    found = proposed("I live in Bergen and I work at Nordea.")
    assert [(one.text, one.slot) for one in found] == [("I live in Bergen", "home"), ("I work at Nordea", "employer")]
    assert {one.evidence for one in found} == {"I live in Bergen and I work at Nordea."}


def test_two_things_in_one_chinese_sentence_are_two_memories():
    found = proposed("我上个月搬到上海了，现在在一家医院当护士。")
    assert [one.slot for one in found] == ["home", "job"]


def test_a_clause_that_goes_on_belongs_to_the_one_before_it():
    (proposal,) = proposed("我对花生过敏，吃了会起疹子。")
    assert proposal.text == "我对花生过敏，吃了会起疹子"


@pytest.mark.parametrize(
    ("message", "ends"),
    [
        ("I no longer drink coffee.", {"coffe"}),
        ("I don't eat meat anymore.", {"meat"}),
        ("I quit smoking two years ago.", {"smok"}),
        ("I'm not vegetarian anymore.", {"vegetarian"}),
        ("I sold my car.", {"car"}),
        ("I stopped going to the gym.", {"gym"}),
        ("我不再喝咖啡了。", {"咖啡"}),
        ("我戒烟了。", {"烟"}),
        ("我把车卖了。", {"车"}),
        ("我不吃素了。", {"素"}),
    ],
)
def test_what_holds_no_longer_is_named(message, ends):
    (proposal,) = proposed(message)
    assert proposal.ends == ends


def test_a_changed_job_takes_over_from_employer_and_job():
    (proposal,) = proposed("我换工作了。")
    assert set(proposal.takes_over) == {"employer", "job"}


@pytest.mark.parametrize(
    ("message", "day"),
    [
        ("I'm flying to Lisbon on 3 December.", "2026-12-03"),
        ("We're going to Rome in May.", ""),
        ("明天我要去体检。", "2026-12-01"),
    ],
)
def test_a_plan_has_its_day(message, day):
    (proposal,) = proposed(message)
    assert (proposal.kind, proposal.due_on) == ("plan", day)


def test_what_the_user_asks_to_be_remembered_is_marked():
    (asked,) = proposed("Please remember that I hate jazz.")
    (told,) = proposed("I hate jazz.")
    assert (asked.text, asked.is_asked_for, told.is_asked_for) == ("I hate jazz", True, False)


HOSTILE = [
    "I " * 140,
    "I am also " * 28,
    "I " + "really " * 40 + "x",
    "I have a " + "big " * 60,
    "I prefer " + "a b " * 60,
    "我" * 290,
    "我" + "，我" * 140,
    "well, " * 45,
    "from: " * 600,
    "On " + "x" * 3900,
    '"' * 3900,
    "`" * 3900,
    "translate " * 390,
    ": " * 1900,
]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("message", HOSTILE, ids=range(len(HOSTILE)))
def test_reading_a_message_comes_to_an_end(message):
    proposed(message)
    speaks_for_themselves(message)


@pytest.mark.parametrize(
    ("message", "text", "kind"),
    [
        pytest.param("我老婆叫林悦，是小学老师。", "我老婆叫林悦，是小学老师", "relation", id="zh"),
        pytest.param(
            "我妹妹在深圳，在华为上班，住在南山。", "我妹妹在深圳，在华为上班，住在南山", "relation", id="two"
        ),
    ],
)
def test_what_goes_on_about_another_is_not_taken_for_the_user(message, text, kind):
    (proposal,) = proposed(message)
    assert (proposal.text, proposal.kind) == (text, kind)
    assert proposal.slot not in ("job", "employer", "home")


def test_after_another_the_user_may_go_on_about_themselves():
    assert [proposal.slot for proposal in proposed("我老婆叫林悦，我住在杭州。")] == ["partner", "home"]


@pytest.mark.parametrize(
    "message",
    [
        "Never mind, I found it.",
        "Always a pleasure.",
        "I already installed it twice.",
        "我已经装了两次了。",
        "我的意思是先删掉。",
        "I live in hope that this compiles.",
        "我换了个写法，还是一样。",
    ],
)
def test_what_is_said_by_the_way_is_no_instruction_and_no_fact(message):
    assert proposed(message) == ()
