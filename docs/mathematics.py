"""Formulas as MathML, made when the pages are built: browsers show them without scripts, fonts or a network.

pymdownx.arithmatex finds the formulas and wraps them; this mkdocs hook puts MathML in place of what it wrapped.
"""

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<span class="arithmatex">\\\((?P<inline>.*?)\\\)</span>'
    r'|<div class="arithmatex">\s*\\\[(?P<block>.*?)\\\]\s*</div>',
    re.DOTALL,
)


def on_page_content(page_html: str, **_: object) -> str:
    """Put MathML for every formula of a page."""
    return FORMULA.sub(_mathml, page_html)


def _mathml(formula: re.Match[str]) -> str:
    display = "inline" if formula["inline"] is not None else "block"
    source = html.unescape(formula["inline"] or formula["block"]).strip()
    mathml = convert(source, display=display)
    # A command that the converter does not know comes out as it went in.
    if "\\" in mathml or "&#x0005C;" in mathml:
        raise ValueError(f"this formula has a command that cannot become MathML: {source}")
    return mathml
