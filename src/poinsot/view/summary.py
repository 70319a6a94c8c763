"""Text for people: the summary of a run in a few lines, tables, and numbers as they are read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Joints with redundant equations that the summary names.
MOST_NAMED = 3


def facts(
    title: str,
    n_bodies: int,
    n_joints: int,
    end: float,
    complete: bool,
    settings: Mapping[str, Any],
    stats: Mapping[str, Any],
    errors: Mapping[str, float],
    events: Sequence[tuple[str, float]] = (),
) -> list[tuple[str, str]]:
    """Pairs of a label and a text, in the order in which a reader asks."""
    return [
        ("model", _model(title, n_bodies, n_joints, settings)),
        ("motion", _motion(end, complete, settings)),
        *([("events", _events(events, settings))] if "events" in settings else []),
        ("time", _cost(stats)),
        ("work", _work(stats)),
        ("energy", _energy(errors["energy_drift"], settings)),
        ("joints", _joints(errors["position_error"], errors["velocity_error"])),
        *([("reactions", _reactions(settings["redundant"]))] if settings.get("redundant") else []),
        ("rotations", f"orthogonal to {small(errors['rotation_error'])}"),
    ]


def as_text(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs as plain lines, the texts aligned."""
    width = max(len(label) for label, _ in pairs)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in pairs)


def aligned(heads: Sequence[str], rows: Iterable[Sequence[str]], right: bool = False) -> str:
    """A table as plain lines, its columns aligned at the left or at the right."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    side = str.rjust if right else str.ljust
    return "\n".join(
        "  ".join(side(text, width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def duration(seconds: float) -> str:
    """A wall-clock time in the unit that a person would choose."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    if seconds < 0.9995:
        return f"{1e3 * seconds:.3g} ms"
    if seconds < 99.95:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 body, 2 bodies, 12,000 steps."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def small(number: float) -> str:
    """An error to two digits, and plain 0 where there is none."""
    return f"{number:.1e}" if number else "0"


def _model(title: str, n_bodies: int, n_joints: int, settings: Mapping[str, Any]) -> str:
    parts = [counted(n_bodies, "body", "bodies"), counted(n_joints, "joint")]
    if (freedoms := settings.get("degrees_of_freedom")) is not None:
        parts.append(counted(freedoms, "degree of freedom", "degrees of freedom"))
    return f"{title}: {', '.join(parts)}"


def _motion(end: float, complete: bool, settings: Mapping[str, Any]) -> str:
    length = f"{end:g} s" if complete else f"stopped at {end:g} s of {settings['t_end']:g} s"
    words = [length, f"{settings.get('formulation')} with {settings.get('method')}"]
    if settings.get("step") is not None:
        words.append(f"step {settings['step']:g} s")
    if settings.get("rtol") is not None:
        words.append(f"relative tolerance {settings['rtol']:g}")
    if settings.get("atol") is not None:
        words.append(f"absolute {settings['atol']:g}")
    if settings.get("stabilize", "projection") != "projection":
        words.append(f"stabilize {settings['stabilize']}")
    words += [f"{name} {_word(value)}" for name, value in settings.get("options", {}).items()]
    return ", ".join(words)


def _word(value: Any) -> str:
    """An option's value as it is given on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _events(events: Sequence[tuple[str, float]], settings: Mapping[str, Any]) -> str:
    names = [name for name, _ in events]
    words = ", ".join(f'{names.count(watched) or "none"} of "{watched}"' for watched in settings["events"])
    if not (ended_by := settings.get("ended_by")):
        return words
    by = " and ".join(f'"{name}"' for name in ended_by)
    return f"{words}; ended by {by} at t = {events[-1][1]:.9g} s"


def _cost(stats: Mapping[str, Any]) -> str:
    # Loading kernels that were compiled before takes a fraction of a second, compiling them many seconds.
    doing = "compiling kernels, once on this machine" if stats["compile_seconds"] > 2.0 else "loading kernels"
    return f"{duration(stats['seconds'])}, after {duration(stats['compile_seconds'])} of {doing}"


def _work(stats: Mapping[str, Any]) -> str:
    words = [counted(stats["steps"], "step"), counted(stats["evaluations"], "evaluation")]
    words.append(f"{stats['rejected']:,} rejected")
    for name, noun in (("iterations", "iteration"), ("factorizations", "factorization")):
        if stats[name]:
            words.append(counted(stats[name], noun))
    if stats.get("newton_steps"):
        words.append(f"Newton's in {counted(stats['newton_steps'], 'step')}")
    return ", ".join(words)


def _energy(drift: float, settings: Mapping[str, Any]) -> str:
    if settings.get("conservative", True):
        return f"drift {small(drift)} of the largest kinetic energy"
    return f"changes by {drift:.2g} of the largest kinetic energy: loads or drives do work"


def _reactions(redundant: Sequence[Mapping[str, str]]) -> str:
    """How many equations are redundant, the first of them by joint, and what that means for reactions."""
    by_joint: dict[str, list[str]] = {}
    for equation in redundant:
        by_joint.setdefault(equation["joint"], []).append(equation["direction"])
    named = [f'"{joint}" ({", ".join(directions)})' for joint, directions in by_joint.items()]
    shown = ", ".join(named[:MOST_NAMED]) + (f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else "")
    return f"{counted(len(redundant), 'redundant equation')}, in {shown}: the least reactions, not all are unique"


def _joints(position_error: float, velocity_error: float) -> str:
    return f"largest residual {small(position_error)} (m or rad), of rates {small(velocity_error)}"
