"""The chapter *Condenser*, on: a head's share in search, and how small a share could be seen. Where a head does not use [CLS]
nothing is read off its share.
"""

from helpers.pages import compare, page
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import joined, plain, signed
from helpers.stories.condenser import USES, Branches, Logs, exchange, uses_cls
from helpers.stories.gao_tables import printed_lead
from helpers.stories.power import explained, needed, seen, spent
from helpers.systems.evaluated import Evaluation, Systems
from helpers.systems.starting_points import BRANCHES, CONDENSER, MLM


def shares(systems: Systems) -> dict[str, tuple[Evaluation, Evaluation]]:
    """Each head's share: the search by [CLS] of a branch with a head, and of the branch without one."""
    by_cls = {name: systems[f"{name}, [CLS]"] for name in BRANCHES if f"{name}, [CLS]" in systems}
    return {name: (own, by_cls[MLM]) for name, own in by_cls.items() if name != MLM and MLM in by_cls}


def not_read(systems: Systems, logs: Logs) -> Fragment:
    """The heads off whose shares nothing is read, with what another text's [CLS] costs them: the page stops there for them."""
    least = {name: min(exchange(log).iloc[-1] for log in logs[name]) for name in shares(systems) if not uses_cls(logs[name])}
    if not least:
        return page.prose()
    heads = joined([f"*{name}* ({plain(abs(rise))})" for name, rise in least.items()])
    return page.prose(f"No verdict is given on {heads}. Another text's [CLS] costs each of these heads less than {USES} nats "
                      "(in parentheses, the least over seeds), which this page calls too little to use. Where the cost is zero, "
                      "nothing that the branch gains or loses in a search can have come through [CLS]; where it is small, hardly "
                      "anything. So the page stops here for them.")


def share_table(systems: Systems, logs: Logs) -> Fragment:
    """The shares of the heads that use [CLS], over pre-training seeds and queries together."""
    pairs = {name: pair for name, pair in shares(systems).items() if uses_cls(logs[name])}
    if not pairs:
        return page.prose("No head of this run can be shown to use [CLS], so there is no share to read.")
    return compare.differences_table("What a head that uses [CLS] adds to search by it: its branch (first), masked words alone "
                                     "(second)", pairs, "RR@10")


def power(systems: Systems, trained: Branches) -> Fragment:
    """What share this design could see, beside the study's after fine-tuning, and what it would take to see that."""
    if CONDENSER not in shares(systems):
        return page.prose("Without both branches there is no share of the head to look for.")
    first, second = shares(systems)[CONDENSER]
    share = first.against(second, "RR@10")
    printed = [printed_lead("4", column) for column in ("MRR@10 / 1K", "MRR@10 / FULL")]
    both = [one for name in (CONDENSER, MLM) for one in trained[name]]
    took = spent([one.model for one in both], [one.log for one in both])
    more = needed(share.detectable, min(printed), took, len(trained[CONDENSER]), "queries")
    fine = "A fine-tuning of each comes on top, which the chapter [](fine_tuning_sizes.ipynb) counts."
    return page.prose(*explained([
        "What follows is about the study's head, had it used [CLS].",
        seen(share, f"the seeds and queries of *{CONDENSER}* and *{MLM}*"),
        f"The study's whole lead over BERT, after fine-tuning, is {signed(printed[0])} with the fewest queries of MS MARCO and "
        f"{signed(printed[1])} with all.", more, fine if took.whole and "CPU hours" in more else ""]))
