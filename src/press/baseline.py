"""The baseline page that a variant is compared with."""

from helpers import paths
from press import execute, variants
from press.explain import plan


def make_if_free(page: str, profile: str) -> str:
    """Execute the baseline page of a variant if it is not there and needs no step computed; what was done, in a sentence.

    A page that is there stays as it is, even if it is out of date or of another profile: a variant never touches it, and the
    comparison says of what commit and profile both are. A page that is not there costs a minute or less where every step is
    stored or recorded, and is then worth having; where steps are missing it could cost hours that nobody asked for, so the
    variant stands alone, and its comparison page says by which command to get one.

    Args:
        page: the name of a page; nothing is done for a baseline page itself.
        profile: the profile's name.
    """
    chapter = variants.chapter_of(page)
    if page == chapter or (paths.CHAPTERS / f"{chapter}.ipynb").exists():
        return ""
    costs = plan.plan(chapter, profile, {})
    if not costs.is_free:
        return (f"{chapter}: the baseline page has not been executed, and would compute {len(costs.expected)} steps or more "
                f"(expected: {costs.time()}); `make chapter NAME={chapter} PROFILE={profile}` makes it and the comparison")
    execute.run(chapter, profile, {})
    return f"{chapter}: run, as the baseline; all its steps were there"
