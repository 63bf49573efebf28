"""The discussion of a chapter: written by hand, and shown only beside the verdicts that it was written for.

`published/discussions.yaml` has the paragraphs of each chapter, each with the verdicts that it rests on.
"""

import yaml

from helpers import paths
from helpers.pages import claims, page
from helpers.pages.fragments import Fragment

OTHERWISE = "A paragraph of the discussion is not shown: it was written for another outcome of {}."


def discussion(chapter: str, judged: Fragment) -> Fragment:
    """The paragraphs whose verdicts are those of `claims.judge`'s table; of the others, what they rest on."""
    verdicts = {line["claim"]: line["verdict"] for line in judged.data["claims"]}
    parts = []
    for paragraph in paragraphs()[chapter]:
        moved = [claims.load()[claim].claim for claim, verdict in paragraph["rests_on"].items() if verdicts[claim] != verdict]
        parts.append(OTHERWISE.format("; ".join(f"*{claim}*" for claim in moved)) if moved else paragraph["text"].strip())
    return page.prose("\n\n".join(parts))


def paragraphs() -> dict[str, list[dict]]:
    """What is written, by chapter."""
    return yaml.safe_load((paths.PUBLISHED / "discussions.yaml").read_text(encoding="utf-8"))
