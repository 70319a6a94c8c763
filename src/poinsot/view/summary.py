"""The summary of a run in a few lines: what was simulated, with what, at what cost, and how exactly."""

from collections.abc import Mapping, Sequence
from typing import Any


def facts(
    title: str,
    n_bodies: int,
    n_joints: int,
    end: float,
    complete: bool,
    settings: Mapping[str, Any],
    stats: Mapping[str, Any],
    errors: Mapping[str, float],
) -> list[tuple[str, str]]:
    """Pairs of a label and a text, in the order in which a reader asks."""
    return [
        ("model", _model(title, n_bodies, n_joints, settings)),
        ("motion", _motion(end, complete, settings)),
        ("time", _cost(stats)),
        ("work", _work(stats)),
        ("energy", _energy(errors["energy_drift"], settings)),
        (
            "joints",
            f"largest residual {errors['position_error']:.1e} (m or rad), of rates {errors['velocity_error']:.1e}",
        ),
        ("rotations", f"orthogonal to {errors['rotation_error']:.1e}"),
    ]


def as_text(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs as plain lines, the texts aligned."""
    width = max(len(label) for label, _ in pairs)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in pairs)


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
    return ", ".join(words)


def _cost(stats: Mapping[str, Any]) -> str:
    if stats["compile_seconds"] < 0.5:
        return f"{duration(stats['seconds'])}, kernels ready from an earlier run"
    return f"{duration(stats['seconds'])}, after {duration(stats['compile_seconds'])} of compiling kernels (once only)"


def _work(stats: Mapping[str, Any]) -> str:
    words = [counted(stats["steps"], "step"), counted(stats["evaluations"], "evaluation")]
    words.append(f"{stats['rejected']:,} rejected")
    for name, noun in (("iterations", "iteration"), ("factorizations", "factorization")):
        if stats[name]:
            words.append(counted(stats[name], noun))
    return ", ".join(words)


def _energy(drift: float, settings: Mapping[str, Any]) -> str:
    if settings.get("conservative", True):
        return f"drift {drift:.1e} of the largest kinetic energy"
    return f"changes by {drift:.2g} of the largest kinetic energy: loads or drives do work"
