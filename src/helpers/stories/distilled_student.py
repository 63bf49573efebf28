"""The chapter *Encoders*: a student that was distilled and not cut, where the study has DistilBERT (Sanh et al. 2019)."""

from collections.abc import Sequence
from dataclasses import replace

from helpers.networks import backbone as backbones
from helpers.pages import encoders, page, plots, training
from helpers.pages.compare import above, differences_table
from helpers.pages.encoders import BEFORE, POOLINGS, label
from helpers.pages.fragments import Fragment
from helpers.pages.numbers import count, seconds
from helpers.stories.encoders import MEASURE
from helpers.systems.bi_encoder import BiEncoder
from helpers.systems.distilled_encoder import DistilledEncoder
from helpers.systems.evaluated import Evaluation, Systems, evaluate_values
from helpers.systems.testbed import Testbed

CUT, TEACHER = label("packaged:0,1,2"), label("packaged")  # beside which the book's student stands
STUDENT = f"{TEACHER} distilled"
LEFT_OUT = "This run leaves the student out: `-p student packaged:0,2,5` teaches one with these layers."


def student_of(base: BiEncoder, layers: str) -> DistilledEncoder | None:
    """The student of these layers, taught on the texts that the encoders are trained on; none without layers."""
    return DistilledEncoder(layers, base.collection, base.unit) if layers else None


def name_of(student: DistilledEncoder) -> str:
    """How the tables call it: by its teacher's name."""
    return f"{label(backbones.resolve(student.backbone).whole().spec)} distilled"


def models(base: BiEncoder, student: DistilledEncoder | None, poolings: Sequence[str]) -> dict[str, BiEncoder]:
    """The student with every pooling, trained as the others are, and named as `encoders.models` names them."""
    if student is None:
        return {}
    made = encoders.models(student.of(base), [student.backbone], poolings)
    return {f"{name_of(student)} / {name.split(' / ')[1]}": model for name, model in made.items()}


def losses(student: DistilledEncoder | None) -> Fragment:
    """The student's loss on held-out texts over the steps, the first before any."""
    if student is None:
        return page.prose(LEFT_OUT)
    return plots.curves({name_of(student): training.curve(student.log.value(), "eval_loss")}, "optimiser steps", "squared error",
                        "How far the student's states are from its teacher's, on texts held out.")


def table(student: DistilledEncoder | None) -> Fragment:
    """What it was taught on, and how far its states are from its teacher's before and after; nothing without one."""
    if student is None:
        return page.prose()
    log = student.log.value()
    error, spent = training.curve(log, "eval_loss"), training.took(student.log)
    return page.records_table("The student", [{
        "encoder": name_of(student), "layers": ", ".join(map(str, backbones.resolve(student.backbone).layers or ())),
        "parameters": count(log["parameters"]), "its teacher's": count(log["teacher_parameters"]), "texts": count(log["texts"]),
        "held out": count(log["evaluation_texts"]), "optimiser steps": count(log["steps"]),
        "squared error": training.change(error), "remains": f"{error.iloc[-1] / error.iloc[0]:.0%}", "training": seconds(spent)}])


def untaught(base: BiEncoder, student: DistilledEncoder | None, poolings: Sequence[str], bed: Testbed,
             depth: int) -> dict[str, Evaluation]:
    """The student's own layers before it was taught, zero-shot with each pooling, under its names: the teaching's control."""
    if student is None:
        return {}
    made = {name: replace(model, start=None).zero_shot() for name, model in models(base, student, poolings).items()}
    return {name: evaluate_values(f"{name}, untaught", model.run(bed, depth), bed, [MEASURE]) for name, model in made.items()}


def comparison(before: Systems, after: Systems, untaught: Systems) -> Fragment:
    """The student less its own layers untaught, and less the layers that were cut; nothing of what is not run."""
    pairs = {f"{name}, {BEFORE}, and its layers untaught": (before[name], own) for name, own in untaught.items()}
    for name in (name for name in after if name.startswith(STUDENT) and cut_as(name) in after):
        pairs |= {f"{name}, {state}, and {CUT}": (systems[name], systems[cut_as(name)])
                  for state, systems in ((BEFORE, before), ("fine-tuned", after))}
    return differences_table("What was taught, and what was cut (first less second)", pairs, MEASURE) if pairs else page.prose()


def cut_as(name: str) -> str:
    """The cut layers with the pooling of one of the student's names."""
    return name.replace(STUDENT, CUT)


def signs(before: Systems, after: Systems, untaught: Systems) -> dict[str, bool]:
    """What the discussion rests on, all but one of vectors that are means, as its teacher's were in the training of others;
    nothing of what is not run."""
    student, teacher = (f"{name} / {POOLINGS['mean']}" for name in (STUDENT, TEACHER))
    cut, higher = cut_as(student), dict[str, tuple[Evaluation, Evaluation]]()
    if student in untaught:
        higher |= {"the distilled student surely ranks above its own layers untaught": (before[student], untaught[student])}
    largest = f"{STUDENT} / {POOLINGS['max']}"
    if largest in untaught:
        higher |= {"the teaching surely lifts the student's maximum": (before[largest], untaught[largest])}
    if student in untaught and cut in before:
        higher |= {"the student's own layers, untaught, surely rank above the cut layers": (untaught[student], before[cut])}
    if {student, cut} <= set(after):
        higher |= {"the distilled student, fine-tuned, surely ranks above the cut layers": (after[student], after[cut])}
    if {student, teacher} <= set(after):
        higher |= {"the distilled student surely ranks below its teacher zero-shot": (before[teacher], before[student]),
                   "the distilled student, fine-tuned, surely ranks below its teacher": (after[teacher], after[student])}
    return {sign: above(first, second, MEASURE) for sign, (first, second) in higher.items()}
