"""The first use of each of the glossary's terms in a chapter leads there, and tells its meaning to whoever points at it."""

import re
from typing import Any

from docutils import nodes

GLOSSARY = "glossary"
CHAPTERS = "chapters/"
CLOSED = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.raw, nodes.strong, nodes.caption, nodes.math)


def meanings(glossary: nodes.document) -> dict[str, tuple[str, str]]:
    """Each term, in small letters, with its place in the glossary and its meaning."""
    known = {}
    for item in glossary.findall(nodes.definition_list_item):
        meaning = " ".join(part.astext() for part in item.findall(nodes.definition)).replace("\n", " ")
        for term in item.findall(nodes.term):
            known[term.astext().lower()] = (term["ids"][0], meaning)
    return known


def mark(chapter: nodes.document, known: dict[str, tuple[str, str]], address: str) -> None:
    """Turn the first use of each meaning in the chapter's paragraphs into a link to the glossary (in place)."""
    longest_first = sorted(known, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![\w@]){re.escape(term)}(?![\w@])" for term in longest_first), re.IGNORECASE)
    met = set[str]()
    for text in [text for paragraph in chapter.findall(nodes.paragraph) for text in paragraph.findall(nodes.Text)]:
        parent: Any = text.parent
        made, end = list[nodes.Node](), 0
        for found in () if enclosed(text) else pattern.finditer(text.astext()):
            place, meaning = known[found[0].lower()]
            if meaning in met:
                continue
            met.add(meaning)
            target = {"refuri": f"{address}#{place}", "reftitle": meaning, "internal": True, "classes": ["nr-term"]}
            made += [nodes.Text(text.astext()[end:found.start()]), nodes.reference("", found[0], **target)]
            end = found.end()
        if made:
            parent.replace(text, [*made, nodes.Text(text.astext()[end:])])


def enclosed(node: nodes.Node) -> bool:
    """Whether a text stands in a title, a link, code, or anything else that stays as it is."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, CLOSED):
            return True
    return False


def link(app: Any, doctree: nodes.document, docname: str) -> None:
    """Mark the terms of a chapter's page."""
    if docname.startswith(CHAPTERS) and GLOSSARY in app.env.found_docs:
        known = meanings(app.env.get_doctree(GLOSSARY))
        mark(doctree, known, app.builder.get_relative_uri(docname, GLOSSARY))


def setup(app: Any) -> dict[str, bool]:
    """After references are resolved, so that a link is known from text."""
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
