"""The Python examples of the README and the guide run as they stand, each page from top to bottom."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *(str(page.relative_to(REPOSITORY)) for page in sorted(REPOSITORY.glob("docs/guide/*.md")))]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    # A file, not exec: loads of the user's own are cached by the file that holds them.
    blocks = re.findall(
        r"^```python\n(.*?)^```", (REPOSITORY / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert blocks, f"{page} has no Python example"
    script = tmp_path / "example.py"
    script.write_text("\n\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(script.read_text(encoding="utf-8"), script, "exec"), {"__name__": "example", "__file__": str(script)})
