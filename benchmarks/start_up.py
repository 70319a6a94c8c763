"""How long a user waits: `import poinsot`, the first run on a machine, and later runs, each in a process of its own.

python benchmarks/start_up.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = ("double-pendulum", "dual-spin-satellite")


def seconds(command: list[str], environment: dict[str, str], folder: str) -> float:
    """The wall time of one process."""
    began = time.perf_counter()
    subprocess.run(
        command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - began


def main() -> None:
    """Print one line per kind of start."""
    program = str(Path(sys.executable).with_name("poinsot"))
    with tempfile.TemporaryDirectory() as folder:
        warm = dict(os.environ)
        nothing = min(seconds([sys.executable, "-c", ""], warm, folder) for _ in range(5))
        alone = min(seconds([sys.executable, "-c", "import poinsot"], warm, folder) for _ in range(5))
        print(f"import poinsot: {alone - nothing:.3f} s beyond Python's own {nothing:.3f} s (asked: below 0.3)")
        for case in CASES:
            with tempfile.TemporaryDirectory() as kernels:
                fresh = warm | {"NUMBA_CACHE_DIR": kernels}
                first = seconds([program, "run", case], fresh, folder)
                later = min(seconds([program, "run", case], fresh, folder) for _ in range(3))
            print(f"poinsot run {case}: first {first:.1f} s (asked: below 25), later {later:.2f} s (asked: below 2)")


if __name__ == "__main__":
    main()
