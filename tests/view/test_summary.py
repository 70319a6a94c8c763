"""Numbers as people read them."""

import pytest

from poinsot.view.summary import counted, duration, small


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2e-6, "2 µs"), (0.0123, "12.3 ms"), (0.9999, "1 s"), (2.346, "2.35 s"), (61.2, "61.2 s"), (200.4, "3 min 20 s")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_counted():
    assert counted(1, "body", "bodies") == "1 body"
    assert counted(2, "body", "bodies") == "2 bodies"
    assert counted(12000, "step") == "12,000 steps"


def test_small():
    assert (small(0.0), small(2.34e-12)) == ("0", "2.3e-12")
