"""Whether rows are of the code as it is now: a page says so where they are not."""

from collections.abc import Iterable

from siena.research.studies.framework.results import Result
from siena.research.studies.framework.sources import code_version
from siena.research.studies.framework.study import Study


def is_older(study: Study, result: Result) -> bool:
    """Whether anything that the rows may depend on has changed since."""
    return result.code != code_version(study.run.__module__)


def age(study: Study, result: Result) -> str:
    """A sentence about one study, where its rows are of older code; or nothing."""
    if not is_older(study, result):
        return ""
    now = code_version(study.run.__module__)
    return (
        f"Something that these rows may depend on has changed since: it is {now} now, "
        "and a run would compute them again."
    )


def ages(done: Iterable[tuple[Study, Result]]) -> str:
    """The same of all studies of a page."""
    older = [study.name for study, result in done if is_older(study, result)]
    if not older:
        return "All rows are of the code that wrote this page."
    return (
        "Claims and figures are of the code that wrote this page. Rows are kept until "
        "they are computed again; something that they may depend on has changed since "
        f"for {', '.join(older)}, and the end of each section says of which code they "
        "are."
    )
