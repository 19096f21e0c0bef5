"""Networks to simulate, as people name them on the command line."""

from pathlib import Path

from siena.errors import SienaError
from siena.sim.architecture import Architecture
from siena.sim.topologies.gt_itm import parse_gt_itm
from siena.sim.topologies.json_form import Plan, parse_plan
from siena.sim.topologies.text import parse_shape, parse_topology

HELP = (
    "chain:N, star:N, ring:N, tree:BxD, random-tree:N, waxman:N, barabasi-albert:N, "
    "transit-stub, or a file."
)
SEED_HELP = "The seed of a network that is drawn at random."


def read_plan(name: str, architecture: Architecture | None, *, seed: int) -> Plan:
    """The network of a name, or of a file in JSON, text or GT-ITM's form.

    What the architecture does not allow is refused here where that is a line of a file;
    ``None`` allows everything.
    """
    path = Path(name)
    if not path.is_file():
        if path.suffix or len(path.parts) > 1:
            raise SienaError(f"there is no file {name!r}")
        return Plan(parse_shape(name, seed=seed), {})
    acyclic = architecture in {"acyclic", "hierarchical"}
    try:
        return _read(path.read_text(encoding="utf-8-sig"), acyclic=acyclic)
    except UnicodeDecodeError:
        raise SienaError(f"{name} is not a text in UTF-8") from None
    except SienaError as error:
        context = f"{name}, {error.context}" if error.context else name
        raise error.about(context) from None


def _read(text: str, *, acyclic: bool) -> Plan:
    if text.lstrip().startswith(("{", "[")):
        return parse_plan(text, acyclic=acyclic)
    if text.split()[:1] == ["ts"]:
        request = parse_gt_itm(text)
        return Plan(request.plan.draw(seed=request.seed), {})
    return Plan(parse_topology(text, acyclic=acyclic), {})
