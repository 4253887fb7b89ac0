"""What the gate says of a candidate. The English is the engine's own, so that there is one wording of it."""

from collections.abc import Mapping
from typing import Final

from engine.adapters.gate_texts import SENTENCES
from ui.texts.wording import Wording

_CHINESE: Final[Mapping[str, str]] = {
    # The file.
    "integrity.whole": "文件完整，适用于此基座，且可以加载。",
    "integrity.finite": "适配器含有非有限数值：训练损坏了它。",
    "integrity.hash": "文件与写入时不同：哈希不一致。",
    "integrity.base": "该适配器是为另一个基座制作的。",
    "integrity.loads": "引擎无法加载该适配器。",
    "integrity.size": "文件为 {size_mib:.1f} MiB；最多允许 {limit_mib:.0f} MiB，且不能为空。",
    # Results that cannot be compared.
    "pair.missing": "候选适配器没有运行评测集 {suite}。",
    "pair.reference_missing": "{against}没有运行评测集 {suite}，因此无从比较。",
    "pair.suite_twice": "评测集 {suite} 出现了两次，无法确定以哪份结果为准。",
    "pair.other_items": "评测集 {suite} 在测量{against}之后已改变。请用相同的题目重新测量两者。",
    "pair.item_twice": "评测集 {suite} 中有 {count} 道题被重复计数。",
    "pair.unpaired": "评测集 {suite} 中有 {count} 道题只有候选适配器与{against}之一作答。",
    "pair.unlike": "评测集 {suite} 中有 {count} 道题对候选适配器与{against}的测量方式不同。",
    "pair.not_finite": "评测集 {suite} 中，候选适配器对 {count} 个回答给出的似然不是数值。",
    "pair.reference_not_finite": "评测集 {suite} 中，{against}有 {count} 个似然不是数值。请重新测量。",
    # What it was trained for.
    "target.missing": "没有针对训练目标的评测集，因此无法证明它学会了。",
    "target.too_few": "针对训练目标的留出题目有 {items} 道；至少还需要 {more} 道。",
    "target.won": (
        "它学会了训练目标：之前正确 {before:.0f} %，现在 {after:.0f} %（{after_low:.0f} 至 {after_high:.0f} %）；"
        "{items} 道题中 {wins} 道变对，{losses} 道变错。"
    ),
    "target.lost": (
        "它在训练目标上变差了：之前正确 {before:.0f} %，现在 {after:.0f} %（{after_low:.0f} 至 {after_high:.0f} %）；"
        "{items} 道题中 {wins} 道变对，{losses} 道变错。"
    ),
    "target.no_win": (
        "它在训练目标上没有变好：{items} 道题中 {wins} 道变对，{losses} 道变错"
        "（{points:+.1f} 个百分点，{low:+.1f} 至 {high:+.1f}）。"
    ),
    "target.unclear": (
        "它可能学会了训练目标，但也可能只是偶然：{items} 道题中 {wins} 道变对，{losses} 道变错"
        "（{points:+.1f} 个百分点，{low:+.1f} 至 {high:+.1f}）。大约再有 {more} 道题即可判定。"
    ),
    "target.won_nats": "期望的回答变得更可能：{items} 道题每词元 {nats:+.3f} 奈特（{low:+.3f} 至 {high:+.3f}）。",
    "target.lost_nats": "期望的回答变得更不可能：{items} 道题每词元 {nats:+.3f} 奈特（{low:+.3f} 至 {high:+.3f}）。",
    "target.unclear_nats": (
        "期望的回答是否变得更可能尚不清楚：{items} 道题每词元 {nats:+.3f} 奈特（{low:+.3f} 至 {high:+.3f}）。"
    ),
    "target.not_behind": "在训练目标上，它不落后于{against}。",
    "target.behind": "在训练目标上，它不如{against}。",
    # What it must not lose.
    "general.too_few": "通用题目有 {items} 道；至少还需要 {more} 道才能看出没有退步。",
    "general.kept": "它保住了{against}的能力：{items} 道通用题 {points:+.1f} 个百分点，损失可确定小于 {margin:.1f}。",
    "general.lost": (
        "与{against}相比，{items} 道通用题 {points:+.1f} 个百分点（{losses} 道变错，{wins} 道变对）；"
        "最多允许损失 {margin:.1f}。"
    ),
    "general.unclear": (
        "它是否保住了{against}的能力尚不清楚：{items} 道通用题 {points:+.1f} 个百分点，但可能损失达 {worst:.1f}，"
        "上限为 {margin:.1f}。大约再有 {more} 道题即可判定。"
    ),
    "general.doubtful": (
        "与{against}相比，它似乎损失过多：{items} 道通用题 {points:+.1f} 个百分点，上限为 {margin:.1f}；"
        "再多的题目也难以改变结论。"
    ),
    "general.kept_nats": "它读通用文本不比{against}差：{items} 道题每词元 {nats:+.4f} 奈特，确定低于 {margin:.4f}。",
    "general.lost_nats": (
        "与{against}相比，通用文本变得更不可能：{items} 道题每词元 {nats:+.4f} 奈特；上限为 {margin:.4f}。"
    ),
    "general.unclear_nats": (
        "它读通用文本是否与{against}一样好尚不清楚：{items} 道题每词元 {nats:+.4f} 奈特，可能达 {worst:+.4f}；"
        "上限为 {margin:.4f}。更多题目可以判定。"
    ),
    "suite.kept": (
        "{suite}：与{against}相比 {points:+.1f} 个百分点（{items} 道题）；"
        "没有超过 {margin:.1f} 个百分点且非偶然的损失。"
    ),
    "suite.lost": (
        "{suite}：与{against}相比 {points:+.1f} 个百分点（{items} 道题中 {losses} 道变错，{wins} 道变对）；"
        "最多允许损失 {margin:.1f}。"
    ),
    "suite.kept_nats": "{suite}：与{against}相比每词元 {nats:+.4f} 奈特（{items} 道题）；上限为 {margin:.4f}。",
    "suite.lost_nats": (
        "{suite}：与{against}相比回答变得更不可能，每词元 {nats:+.4f} 奈特（{items} 道题）；上限为 {margin:.4f}。"
    ),
    # What it must never do.
    "probe.passed": "{probe}：{items} 次尝试中没有新的失败（因此此类情况中至多 {at_most:.1f} % 会失败）。",
    "probe.failed": "{probe}：{items} 次尝试中有 {new} 次此前并不失败（{named}）。一次也不允许。",
    "probe.too_few": "{probe}：{items} 次尝试都没有失败，但还需要 {more} 次。",
    "probe.unjudged": "{probe}：有些尝试未被判定，因此该探测无法说明问题。",
    # General prompts.
    "drift.missing": "没有测量对通用提示的回答改变了多少。",
    "drift.too_few": "只在 {prompts} 个通用提示上测量了回答的改变；还需要 {more} 个。",
    "drift.kl.within": "在通用提示上它与{against}保持接近：每词元相距 {nats:.4f} 奈特，最多允许 {limit:.2f}。",
    "drift.kl.beyond": "在通用提示上它偏离{against}太远：每词元相距 {nats:.4f} 奈特，最多允许 {limit:.2f}。",
    "drift.nats.within": "通用文本的可能性与{against}相当：损失变化 {percent:+.2f} %，允许 {limit:+.0f} %。",
    "drift.nats.beyond": "与{against}相比，通用文本变得更不可能：损失变化 {percent:+.2f} %，允许 {limit:+.0f} %。",
    "drift.length.within": "回答保持了长度：之前 {before:.0f} 个词元，现在 {after:.0f} 个（{percent:+.0f} %）。",
    "drift.length.beyond": (
        "对通用提示的回答改变了长度，而这并非所求：之前 {before:.0f} 个词元，现在 {after:.0f} 个"
        "（{percent:+.0f} %，上下最多允许 {limit:.0f} %）。"
    ),
    # Trainer and engine.
    "parity.missing": "没有测量引擎与训练器的计算是否一致。",
    "parity.too_few": "只在 {prompts} 个提示上比较了训练器与引擎；还需要 {more} 个。",
    "parity.within": "引擎的计算与训练器一致：每词元相差 {nats:.4f} 奈特，最多允许 {limit:.2f}。",
    "parity.beyond": "引擎的计算与训练器不一致：每词元相差 {nats:.4f} 奈特，最多允许 {limit:.2f}。",
    # Names.
    "name.champion": "现任适配器",
    "name.factory": "出厂适配器",
    "name.tool_json": "有效的工具调用",
    "name.refusal": "不提供有害帮助",
    "name.sycophancy": "不因施压而改口",
    "name.leakage": "不泄露秘密",
    "name.injection": "不听从文档中的指令",
}

TEXTS: Mapping[str, Wording] = {
    "verdict.promote": Wording(
        "The candidate may be promoted: it is better at what it was trained for, and nothing got worse.",
        "候选适配器可以晋升：它在训练目标上更好，且没有变差之处。",
    ),
    "verdict.reject": Wording("The candidate is rejected.", "候选适配器被拒绝。"),
    "verdict.not_enough_evidence": Wording(
        "The candidate is not promoted: there is not enough to tell that it is better and nothing got worse.",
        "候选适配器未晋升：证据不足以说明它更好且没有变差之处。",
    ),
    **{f"verdict.{code}": Wording(english, _CHINESE[code]) for code, english in SENTENCES.items()},
}
