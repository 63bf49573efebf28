"""What other services read of the rendered book: CodeMeta, an RO-Crate of the chapters and their runs, a sitemap.

| file | who reads it |
|---|---|
| `codemeta.json` | archives and registries of software (CodeMeta 2.0), from CITATION.cff |
| `ro-crate-metadata.json` | archives of data (RO-Crate 1.1): each page, the notebook that made it, its parameters, its date |
| `sitemap.xml` | search engines; where the book has a public address |
"""

import json
from typing import Any
from xml.sax.saxutils import escape

from helpers import paths
from press import chapters, cite, execute

CODE, TEXT = "https://spdx.org/licenses/MIT", "https://spdx.org/licenses/CC-BY-4.0"
CRATE = "ro-crate-metadata.json"


def write() -> None:
    """Write the files beside the rendered pages; without a public address no sitemap."""
    place = cite.repository()
    code, address = ("", "") if place.is_placeholder else (place.url, place.pages)
    for name, content in (("codemeta.json", codemeta(code)), (CRATE, crate(code))):
        (paths.HTML / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (paths.HTML / "sitemap.xml").unlink(missing_ok=True)
    if address:
        (paths.HTML / "sitemap.xml").write_text(sitemap(address), encoding="utf-8")


def codemeta(code: str) -> dict[str, Any]:
    """The book as software: what CITATION.cff says, in CodeMeta's words; `code` is the repository's address, if it has one."""
    about = cite.citation()
    return {"@context": "https://doi.org/10.5063/schema/codemeta-2.0", "@type": "SoftwareSourceCode", "name": about["title"],
            "description": about.get("abstract", ""), "version": str(about["version"]),
            "dateModified": str(about["date-released"]), "license": CODE, "keywords": about.get("keywords", []),
            "author": [{"@type": "Organization", "name": one["name"]} for one in about["authors"]],
            "programmingLanguage": "Python"} | ({"codeRepository": code} if code else {})


def crate(code: str) -> dict[str, Any]:
    """The rendered book as a crate: a page a chapter, and the run that made it, with its notebook and parameters."""
    about, graph = cite.citation(), list[dict[str, Any]]()
    for name in chapters.names():
        run = execute.run_of(file) if (file := paths.CHAPTERS / f"{name}.ipynb").exists() else {}
        if not run:
            continue
        page, notebook = f"chapters/{name}.html", f"{code or '.'}/notebooks/{name}.ipynb"
        values = [{"@id": f"#{name}-{parameter}", "@type": "PropertyValue", "name": parameter,
                   "value": json.dumps(value, ensure_ascii=False)} for parameter, value in run["parameters"].items()]
        graph += [{"@id": page, "@type": "File", "name": chapters.chapter(name).title, "encodingFormat": "text/html",
                   "license": {"@id": TEXT}},
                  {"@id": notebook, "@type": "SoftwareSourceCode", "name": f"notebooks/{name}.ipynb", "license": {"@id": CODE},
                   "programmingLanguage": "Python", "version": run["commit"]},
                  {"@id": f"#run-{name}", "@type": "CreateAction", "name": f"{name}, profile {run['profile']}",
                   "endTime": run.get("date", ""), "instrument": {"@id": notebook}, "result": {"@id": page},
                   "object": [{"@id": value["@id"]} for value in values]}, *values]
    root = {"@id": "./", "@type": "Dataset", "name": about["title"], "description": about.get("abstract", ""),
            "datePublished": str(about["date-released"]), "license": {"@id": TEXT},
            "hasPart": [{"@id": one["@id"]} for one in graph if one["@type"] == "File"],
            "mentions": [{"@id": one["@id"]} for one in graph if one["@type"] == "CreateAction"]}
    descriptor = {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"},
                  "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}}
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [descriptor, root, *graph]}


def sitemap(address: str) -> str:
    """All rendered pages under the book's address."""
    pages = sorted(str(page.relative_to(paths.HTML)) for page in paths.HTML.rglob("*.html"))
    urls = "".join(f"<url><loc>{escape(address + page)}</loc></url>\n" for page in pages if not page.startswith("_"))
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{urls}</urlset>\n")
