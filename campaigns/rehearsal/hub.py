"""A hub on this machine, as huggingface_hub and datasets ask one.

It tells what a revision holds (`/api/...`), gives small files itself, and sends the client to another host for weights, as the
hub does. A branch moves when something is put there.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field

from helpers.data.almanac import Almanac
from local_server import Served

API = re.compile(r"/api/(?:models|datasets)/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+)(/.+)?)?")  # name, question, revision, folder
FILE = re.compile(r"/(?:datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)")  # name, revision, file


@dataclass
class Hub(Served):
    """What the hub holds: the files of each commit, and where the branches are."""

    commits: dict = field(default_factory=dict)  # (name, commit): file: bytes
    branches: dict = field(default_factory=dict)  # (name, branch): commit
    asked: list = field(default_factory=list)  # paths

    def put(self, name, revision, files):
        """Add a commit; a revision that is no hash is a branch that moves to it. The commit."""
        commit = revision if re.fullmatch("[0-9a-f]{40}", revision) else _sha1(name.encode() + b"".join(files.values()))
        self.commits[name, commit] = files
        self.branches[name, revision] = commit
        return commit

    def find(self, path):
        """What the hub answers."""
        self.asked.append(path)
        if path.startswith("/weights/"):
            return super().find(path)
        api, file = API.fullmatch(path), FILE.fullmatch(path)
        name, revision = (api[1], api[3] or "main") if api else (file[1], file[2]) if file else ("", "")
        commit = revision if (name, revision) in self.commits else self.branches.get((name, revision))
        if commit is None:
            known = any(name == other for other, _ in self.commits)
            return 404, {"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"}, b"{}"
        held = self.commits[name, commit]
        if api and not api[4]:
            listed = [{"type": "file", "path": one, "size": len(content), "oid": _sha1(content)} for one, content in held.items()]
            told = {"id": name, "sha": commit, "private": False, "downloads": 0, "likes": 0, "tags": [],
                    "siblings": [{"rfilename": one["path"], "size": one["size"], "blobId": one["oid"]} for one in listed]}
            return 200, {"Content-Type": "application/json"}, json.dumps(listed if api[2] == "tree" else told).encode()
        if api or file[3] not in held:
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b"{}"
        content = held[file[3]]
        if file[3].endswith((".json", ".txt")):
            return 200, {"ETag": f'"{_sha1(content)}"', "X-Repo-Commit": commit}, content
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"/weights/{digest}"] = content
        return 302, {"X-Linked-ETag": f'"{digest}"', "X-Linked-Size": str(len(content)), "X-Repo-Commit": commit,
                     "Location": f"{self.url.replace('127.0.0.1', 'localhost')}/weights/{digest}"}, b""


def sentence_pairs() -> dict[str, bytes]:
    """The files of a dataset of sentence pairs: two splits of rows with sentence1, sentence2 and score (0 to 1)."""
    rows = [{"sentence1": row.sentence1, "sentence2": row.sentence2, "score": row.score / 5}
            for row in Almanac().similarity().itertuples()]
    return {f"{split}.jsonl": "".join(json.dumps(row) + "\n" for row in part).encode()
            for split, part in (("train", rows[:100]), ("test", rows[100:160]))}


def _sha1(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
