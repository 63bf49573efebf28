"""The rule by which articles are joined to long documents: of one domain and one split, in their order, three to five at a time.

    joined(articles, splits, seed=1)

Sizes and leads are drawn with the seed. Sizes that would leave too short a rest are drawn anew.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

PARTS = (3, 4, 5)  # articles of a document
FEWEST, MOST = 1_670, 2_940  # its words: with any neighbours of the Almanac they make 2,000 to 4,000 word pieces
MIXED = "mixed"  # the domain of documents that are made of what the domains leave over

Article = dict[str, Any]  # doc_id, domain, title, sections of heading and text


class Joined(NamedTuple):
    """A document: its articles in their order, and which of them is the lead."""

    doc_id: str
    domain: str
    parts: list[Article]
    lead: int

    def with_lead_first(self) -> "Joined":
        """The same articles, the lead in front of the others."""
        first, others = self.parts[self.lead], self.parts[:self.lead] + self.parts[self.lead + 1:]
        return self._replace(parts=[first, *others], lead=0)


def joined(articles: list[Article], splits: dict[str, str], seed: int) -> list[Joined]:
    """The documents that articles make, by domain and first article, numbered within the domain.

    What a domain cannot join (too few are left, or they are too long together) is joined across domains, still within its split;
    what remains then, mostly an article or two, is left out.

    Args:
        articles: by rising id.
        splits: of each article; one that is missing here is left out.
        seed: draws how many articles each document takes, and its lead. Of the documents of one split and one number of parts
            no place has two leads more than another.
    """
    groups: dict[tuple[str, str], list[Article]] = defaultdict(list)
    for article in articles:
        if article["doc_id"] in splits:
            groups[article["domain"], splits[article["doc_id"]]].append(article)
    rests: dict[tuple[str, str], list[Article]] = defaultdict(list)
    runs: list[tuple[str, str, list[Article]]] = []
    for (domain, split), group in groups.items():
        cuts, rest = runs_of(group, Random(f"{seed} {domain} {split}"))
        runs += [(domain, split, run) for run in cuts]
        rests[MIXED, split] += rest
    for (domain, split), group in rests.items():
        runs += [(domain, split, run) for run in runs_of(group, Random(f"{seed} {domain} {split}"))[0]]
    runs.sort(key=lambda run: (run[0], run[2][0]["doc_id"]))  # so that a document's number does not tell its split
    leads = {(split, parts): places(parts, Random(f"{seed} {split} {parts}")) for split in splits.values() for parts in PARTS}
    counts: dict[str, int] = defaultdict(int)
    found = []
    for domain, split, run in runs:
        counts[domain] += 1
        found.append(Joined(f"long-{domain}-{counts[domain]:02}", domain, run, next(leads[split, len(run)])))
    return found


def runs_of(articles: list[Article], random: Random) -> tuple[list[list[Article]], list[Article]]:
    """The longest beginning of the articles that can be cut into documents, cut; and the rest."""
    words = [words_of(article) for article in articles]
    end, cuts = next((end, cuts) for end in range(len(words), -1, -1) if (cuts := sizes(words[:end], random)) is not None)
    return [articles[stop - size:stop] for size, stop in zip(cuts, accumulate(cuts), strict=True)], articles[end:]


def words_of(article: Article) -> int:
    """The words of title, headings and texts."""
    return len(" ".join([article["title"], *(text for section in article["sections"] for text in section.values())]).split())


def sizes(words: list[int], random: Random) -> list[int] | None:
    """How many articles each document takes, drawn anew where they leave a rest; None if there is no way to leave none.

    Args:
        words: of each article.
    """
    if not words:
        return []
    for size in random.sample(PARTS, len(PARTS)):
        if size <= len(words) and FEWEST <= sum(words[:size]) <= MOST and (rest := sizes(words[size:], random)) is not None:
            return [size, *rest]
    return None


def places(parts: int, random: Random) -> Iterator[int]:
    """Places of leads without end: each once, in an order that is drawn, then each once again."""
    while True:
        yield from random.sample(range(parts), parts)
