"""G-5: stories, parts that are played, and guests at the keyboard tell nothing about the user."""

import pytest

from engine.memory.writing.frames import speaks_for_themselves


@pytest.mark.parametrize(
    "message",
    [
        "Write a story in which I live on Mars.",
        "Tell me a joke about me, I am a plumber.",
        "Let's role-play: I am a dragon.",
        "Pretend that I am your landlord.",
        "You are now a pirate. I am your captain.",
        "In my novel I am called Elara.",
        "写一个故事，我住在火星上。",
        "我们来角色扮演，我是一条龙。",
        "小说里的主角住在巴黎，我是他。",
        "I'm using Tom's computer. I live in Rome.",
        "Hi, I'm Anna, Tom's sister. I love opera.",
        "This is just a guest. I like beer.",
        "My friend is typing this. I hate tea.",
        "我在用小王的电脑，我住在罗马。",
        "我不是机主，我喜欢啤酒。",
    ],
)
def test_is_not_taken_for_the_users_own(message):
    assert not speaks_for_themselves(message)


@pytest.mark.parametrize(
    "message",
    [
        "I live in Oslo.",
        "I read stories before I sleep.",
        "My sister writes novels for a living.",
        "I bought a new computer.",
        "我住在北京。",
        "我喜欢看小说。",
        "我买了新电脑。",
        "My friend Tom lives in Rome.",
    ],
)
def test_is_the_users_own(message):
    assert speaks_for_themselves(message)


@pytest.mark.parametrize(
    ("earlier", "message", "own"),
    [
        (["Let's role-play."], "I am the queen of Elfland.", False),
        (["Let's role-play.", "I am a queen."], "Out of character: I live in Oslo.", True),
        (["我们来角色扮演吧"], "我住在魔法森林。", False),
        (["我们来角色扮演吧", "故事结束"], "我住在北京。", True),
        (["Write a story about a dragon."], "I live in Oslo.", True),
        (["I'm using Tom's laptop."], "I love opera.", False),
        (["I'm using Tom's laptop.", "I'm back."], "I love tea.", True),
        (["我借用一下他的电脑"], "我喜欢歌剧。", False),
        (["我借用一下他的电脑", "我回来了"], "我喜欢茶。", True),
    ],
)
def test_a_frame_holds_until_it_is_closed(earlier, message, own):
    assert speaks_for_themselves(message, earlier) is own
