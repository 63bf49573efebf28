"""`ro-crate-metadata.json` beside the rendered pages, for archives of data (RO-Crate 1.1): each page, the notebook that made it,
its parameters, its date. The book as software is described by CITATION.cff alone.
"""

import json
from typing import Any

from helpers import paths
from press import chapters, cite, execute

CODE, TEXT = "https://spdx.org/licenses/MIT", "https://spdx.org/licenses/CC-BY-4.0"
CRATE = "ro-crate-metadata.json"


def write() -> None:
    """Write the file beside the rendered pages."""
    (paths.HTML / CRATE).write_text(json.dumps(crate(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def crate() -> dict[str, Any]:
    """The rendered book as a crate: a page a chapter, and the run that made it, with its notebook and parameters."""
    about, graph, place = cite.citation(), list[dict[str, Any]](), cite.repository()
    for name in chapters.names():
        run = execute.run_of(file) if (file := paths.CHAPTERS / f"{name}.ipynb").exists() else {}
        if not run:
            continue
        page, notebook = f"chapters/{name}.html", f"{'.' if place.is_placeholder else place.url}/notebooks/{name}.ipynb"
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
