"""Chapters: their parameters and values, the profiles, a copy of one's own, what is allowed."""

import json

import nbformat
import pytest

from helpers import paths
from helpers.errors import BadInput
from helpers.pages import claims
from helpers.systems.recipe import LOSSES
from press import bounds, chapters, cli, execute
from press.chapters import Parameter
from press.names import OPENERS

# ---- parameters, profiles, commands ----

CHAPTERS = chapters.names()
PROFILES = sorted({file.stem for file in paths.PROFILES.glob("*.yaml")} - {"queue"})


def parameter(annotation, default=None):
    return Parameter("size", annotation, default, "how large")


@pytest.fixture
def template(tmp_path, monkeypatch):
    """Writes a template `fake` whose parameter cell is the given source."""
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)

    def write(source, tags=("parameters",)):
        cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "fake.ipynb")
    return write


@pytest.fixture
def profile(tmp_path, monkeypatch):
    """Writes a profile `fake`."""
    monkeypatch.setattr(paths, "PROFILES", tmp_path)
    return lambda text: (tmp_path / "fake.yaml").write_text(text)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_schema_of_every_chapter_parses(chapter):
    schema = chapters.schema(chapter)
    if chapter != "cost":  # which times random token ids
        assert schema["collection"].default.partition("/")[0] == "almanac"
    for name, parameter in schema.items():
        assert parameter.name == name
        assert parameter.meaning, f"{name} has no meaning"
        assert parameter.check(parameter.default) == parameter.default


def test_a_declaration_gives_name_type_default_and_meaning(template):
    template('k1: float = 0.9  # how # fast\nsplits: list[str] = ["a"]  # which')
    assert list(chapters.schema("fake").values()) == [
        Parameter("k1", "float", 0.9, "how # fast"), Parameter("splits", "list[str]", ["a"], "which")]


@pytest.mark.parametrize(("source", "tag", "said"), [
    *((line, "parameters", r"fake\.ipynb.*name: type = default") for line in (
        "x = 1  # untyped", "x: int = 1", "x: int  # no default", "print(1)  # no value")),
    ("x: int = 1  # size", "other", r"fake\.ipynb.*parameters"), ("x: int =", "parameters", "'x: int =' is no Python")])
def test_a_parameter_cell_that_declares_nothing_is_named(template, source, tag, said):
    template(f"{source}\ny: int = 1  # fine" if source[-1] != "=" else source, tags=[tag])
    with pytest.raises(BadInput, match=said):
        chapters.schema("fake")


@pytest.mark.parametrize(("annotation", "value", "checked"), [
    ("int", 3, 3), ("float", 1, 1.0), ("str", "1", "1"), ("bool", False, False), ("list[float]", [1, 2.5], [1.0, 2.5]),
    ("list[str]", [], [])])
def test_values_of_the_declared_type(annotation, value, checked):
    assert repr(parameter(annotation).check(value)) == repr(checked)


@pytest.mark.parametrize(("annotation", "value"), [
    ("int", 1.0), ("int", True), ("int", "1"), ("int", None), ("int", -5), ("float", "1"), ("float", True), ("float", -1),
    ("float", float("nan")), ("str", 1), ("str", "\udcff"), ("bool", 1), ("bool", "true"), ("list[float]", 1.0),
    ("list[float]", ["a"]), ("list[float]", [1.0, float("inf")]), ("list[str]", "a"), ("list[int]", [1.5])])
def test_a_wrong_type_is_told_the_type(annotation, value):
    with pytest.raises(BadInput) as error:
        parameter(annotation).check(value)
    assert "size" in str(error.value)
    assert annotation in str(error.value)


@pytest.mark.parametrize(("annotation", "text"), [
    ("int", "many"), ("int", "1.0"), ("int", "1e2"), ("int", ""), ("int", "__import__('os')"), ("bool", "1"), ("bool", "yes"),
    ("float", "1,5"), ("list[float]", "1"), ("list[str]", "a,b"), ("list[int]", "[1"), ("list[int]", "{[1]: 2}")])
def test_wrong_texts_of_the_command_line(annotation, text):
    with pytest.raises(BadInput, match="size"):
        parameter(annotation).parse(text)


@pytest.mark.parametrize("text", ["[bm25,/a/bi-encoder]", "[ 'bm25', '/a/bi-encoder' ]", '["bm25", "/a/bi-encoder"]'])
def test_a_list_of_words_needs_no_quotes(text):
    assert parameter("list[str]").parse(text) == ["bm25", "/a/bi-encoder"]


def test_defaults_give_way_to_the_profile_and_that_to_the_command_line(profile):
    profile("shared: {collection: a, queries: 10, backbone: x}\nchapters: {collection: {queries: 20, k1: 1}}")
    values = chapters.resolve("collection", "fake", {"depth": "150", "b": "1"})
    assert [values[name] for name in ("collection", "queries", "k1", "depth", "b")] == ["a", 20, 1.0, 150, 1.0]
    assert isinstance(values["k1"], float)
    assert chapters.resolve("collection", "fake", {"queries": "30"})["queries"] == 30
    other = chapters.resolve("does_it_work", "fake", {})
    assert (other["queries"], other["backbone"]) == (10, "x")  # which `collection` does not have
    assert list(values) == list(chapters.schema("collection"))


@pytest.mark.parametrize(("text", "expected"), [
    ("shared: {nonsense: 1}", "nonsense"), ("chapters: {nope: {}}", "does_it_work"),
    ("chapters: {collection: {nonsense: 1}}", r"'nonsense' \(.*fake\.yaml\).*tune_queries"), ("shared: {queries: many}", "int"),
    ("chapters: {collection: {k1_grid: 1}}", r"list\[float\]"), ("shared: [collection]", "fake.yaml"),
    ("- queries", "fake.yaml"), ("shared:\n  a: [\n", r"yaml:\d: no"), ("share: {queries: 3}", "fake.yaml"),
    ("shared:\n  queries: 1\n  queries: 2", r"fake\.yaml:3: no YAML: 'queries' stands twice")])
def test_a_mistake_in_a_profile_is_named(profile, text, expected):
    profile(text)
    with pytest.raises(BadInput, match=expected):
        chapters.resolve("collection", "fake", {})


@pytest.mark.parametrize(("file", "content"), [
    *(("fake.ipynb", content) for content in (b"", b"{\n\"cells\": [\n", b"[]", b"\xff", b"{}")),
    *(("_toc.yml", text) for text in (b"", b"parts: 3", b"parts:\n  - caption: x\n", b"parts: [{chapters: [{file: }]}]"))])
def test_a_notebook_or_contents_that_are_none_are_named(tmp_path, monkeypatch, file, content):
    for place in ("NOTEBOOKS", "BOOK"):
        monkeypatch.setattr(paths, place, tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(BadInput, match=rf"{file}:(\d:)? no (notebook|contents)"):
        chapters.schema("fake") if file == "fake.ipynb" else chapters.names()


def test_a_profile_may_be_a_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("shared: {queries: 7}")
    assert chapters.resolve("collection", str(file), {})["queries"] == 7
    with pytest.raises(BadInput, match="no profile '.*other.yaml'.*or give a YAML file"):
        chapters.resolve("collection", str(tmp_path / "other.yaml"), {})


RUNS = ("run.bm25.txt", "run.rm3.txt", "run.splade.txt", "run.tas-b.txt")


@pytest.mark.parametrize("there", [RUNS, RUNS[:2], ()])
def test_what_lies_in_a_profiles_folder_goes_with_the_folder(tmp_path, there):
    for name in there:
        (tmp_path / name).touch()
    values = chapters.resolve("fusion", "dl19", {"collection": str(tmp_path)})
    whole = len(there) == len(RUNS)
    assert values["stages"] == ([f"{tmp_path}/{name}" for name in RUNS] if whole else chapters.schema("fusion")["stages"].default)
    assert values["dense"] == (f"{tmp_path}/run.tas-b.txt" if whole else "repbert")
    assert values["tune_split"] == ""  # no file
    assert "dl19" not in str(values)


@pytest.mark.parametrize("given, first_stage", [
    ({"collection": "almanac"}, "bm25"), ({"collection": "irds:msmarco-passage"}, "bm25"),
    ({"collection": "almanac", "first_stage": "x.txt"}, "x.txt"), ({"queries": "3"}, "data/msmarco-dl19/run.bm25.txt")])
def test_a_profiles_folder_is_left_alone_where_the_command_line_names_another_collection(given, first_stage):
    assert chapters.resolve("does_it_work", "dl19", given)["first_stage"] == first_stage


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_shipped_profile_resolves_for_every_chapter(chapter, name):
    values = chapters.resolve(chapter, name, {})
    assert list(values) == list(chapters.schema(chapter))


@pytest.mark.parametrize("command", ["chapter", "explain", "open"])
@pytest.mark.parametrize(("arguments", "said"), [
    (["nope"], ["no chapter 'nope'"]), (["collection", "--profile", "nope"], ["no profile 'nope'", ", ".join(PROFILES)]),
    (["collection", "-p", "queries", "many"], ["parameter queries", "type int"]),
    (["seeds", "-p", "epochs", "0"], ["parameter epochs = 0 makes no sense. Mend: give 1 or more"]),
    (["does_it_work", "-p", "nonsense", "1"], ["no parameter 'nonsense'", *chapters.schema("does_it_work")])])
def test_every_command_refuses_a_mistake_alike_and_writes_nothing(command, arguments, said, tmp_path, capsys):
    to = ["--to", str(tmp_path)] if command == "open" else []
    assert cli.main([command, *arguments, *to]) == 2
    message = capsys.readouterr().err
    assert all(name in message for name in ("Mend: ", *said))
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_lists_parameters(capsys):
    assert cli.main(["parameters", "collection"]) == 0
    assert "k1: float = 0.9   " in capsys.readouterr().out
    assert cli.main(["parameters", "nope"]) == 2


# ---- a copy of one's own ----

@pytest.mark.parametrize("profile", ["almanac", "mini"])
@pytest.mark.parametrize("chapter", chapters.templates())
def test_a_copy_declares_the_profile_s_values_and_is_else_the_template(chapter, profile, tmp_path, monkeypatch):
    list(chapters.open_copies([chapter], profile, {}, tmp_path))
    values = chapters.resolve(chapter, profile, {})
    before, after = (nbformat.read(f, as_version=4).cells for f in (chapters.template(chapter), tmp_path / f"{chapter}.ipynb"))
    differ = [cell.metadata.get("tags") for cell, old in zip(after, before, strict=True) if cell != old]
    assert differ in ([], [["parameters"]])
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    known = chapters.schema(chapter)
    assert {name: parameter.default for name, parameter in known.items()} == values


def test_values_from_the_command_line_come_last(tmp_path):
    list(chapters.open_copies(["candidates"], "mini", {"depths": "[5]", "backbone": 'a "folder"'}, tmp_path))
    source = next("".join(cell["source"]) for cell in json.loads((tmp_path / "candidates.ipynb").read_text())["cells"]
                  if "parameters" in cell["metadata"].get("tags", []))
    assert "depths: list[int] = [5]  # numbers of candidates" in source
    assert """backbone: str = 'a "folder"'  # """ in source


def test_a_copy_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "seeds.ipynb").write_text("my work")
    with pytest.raises(BadInput, match="rename it"):
        list(chapters.open_copies(["seeds"], "mini", {}, tmp_path))
    assert (tmp_path / "seeds.ipynb").read_text() == "my work"


# ---- what is allowed ----

NONSENSE = [
    ("seeds", "epochs", "0"), ("seeds", "candidates", "0"), ("collection", "k1", "-1"), ("collection", "b", "2"),
    ("collection", "depth", "50"), ("collection", "recall_depths", "[1, 200]"), ("seeds", "learning_rate", "nan"),
    ("seeds", "learning_rate", "0"), ("seeds", "aggregation", "median"), ("seeds", "seeds", "[]"), ("seeds", "seeds", "[1, 1]"),
    ("seeds", "seeds", '["a"]'), ("seeds", "seeds", "[5000000000]"), ("collection", "queries", "-5"), ("seeds", "unit", "book"),
    ("encoders", "poolings", '["mean", "median"]'), ("recipe", "losses", '["hinge"]'), ("recipe", "negatives", '["none"]'),
    ("candidates", "depths", "[]"), ("long_inputs", "attention_window", "31"), ("parameters", "dropout", "1"),
    ("collection", "queries", "10000000000"), ("nearest_neighbours", "target", "1.5"), ("cost", "devices", '["tpu"]')]


@pytest.mark.parametrize(("chapter", "name", "text"), NONSENSE)
def test_nonsense_is_refused_with_the_name_the_value_and_what_is_allowed(chapter, name, text):
    with pytest.raises(BadInput, match=rf"parameter {name} = .*Mend: (give|choose)") as error:
        chapters.resolve(chapter, "almanac", {name: text})
    assert text.strip('[]"') in str(error.value).replace("'", '"') or text == "[1, 1]"


@pytest.mark.parametrize(("chapter", "name", "text"), [
    ("collection", "b", "1"), ("collection", "queries", "0"), ("depth", "depths", "[]"), ("cost", "devices", "[]"),
    ("seeds", "seeds", "[0]"), ("does_it_work", "warm_up", "0"), ("explorer", "depth", "3"), ("speed", "unit", ""),
    ("search_application", "paired", "[]")])
def test_ends_of_what_is_allowed(chapter, name, text):
    chapters.resolve(chapter, "almanac", {name: text})


def test_the_table_has_every_name_once_and_none_that_no_chapter_has():
    known = {name for chapter in chapters.templates() for key in chapters.schema(chapter) for name in (key, f"{chapter}.{key}")}
    ranges = [name for names in bounds.RANGES.values() for name in names.split()]
    assert len(set(ranges)) == len(ranges)
    assert {*ranges, *bounds.CHOICES, *bounds.MAY_BE_EMPTY, *bounds.EVEN, *bounds.NOT_ABOVE, *OPENERS} - known == set()


def test_a_loss_that_is_registered_may_be_chosen(monkeypatch):
    monkeypatch.setitem(LOSSES, "hinge", {"hinge": 1.0})
    chapters.resolve("recipe", "almanac", {"losses": '["hinge"]'})


def test_every_line_of_the_queue_is_a_page_that_differs_and_decides_claims():
    known = {claim.declared: claim.chapter for claim in claims.load().values()}
    for line in paths.listed(paths.PROFILES / "queue.yaml"):
        judging = {known[claim] for claim in line["claims"]}
        assert line.get("chapter") not in known.values() or judging == {line["chapter"]}, line["what"]
        if "lacks" not in line:
            given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in line["given"].items()}
            assert execute.request(line["chapter"], "almanac", given).changed and line["seconds"] > 0, line["what"]
