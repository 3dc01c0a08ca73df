"""Charts as inline SVG: matplotlib draws, the page's own colours are put in, so that dark and light both fit."""

from __future__ import annotations

import io
import re
from collections import defaultdict

from markupsafe import Markup

from benchmark.results import Figure
from benchmark.summary import Side

INKS = {
    "#010101": "var(--ink)",
    "#020202": "var(--dim)",
    "#030303": "var(--line)",
    "#040404": "var(--bad)",
    "#050505": "var(--page)",
}
"""Colours that matplotlib is given, and what the page makes of them."""

NEAR = 6.0
"""Percentage points within which points are drawn as one: their numbers could not be told apart."""

INK, DIM, LINE, BAD, PAGE = INKS


def extra_against_unresolved(side: Side) -> Markup:
    """A point for each boundary: share of judged cells with extra effects against those that leave the user unsure.

    Who retries everything is far right, who stops at everything far up: equally far from the corner where both are 0.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing
    from matplotlib.patches import Arc

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bench", "font.family": "sans-serif", "font.size": 10}):
        drawing = Drawing(figsize=(5.2, 4.9))
        axes = drawing.add_axes((0.13, 0.12, 0.83, 0.84))
        for radius in (25, 50, 75, 100):
            axes.add_patch(Arc((0, 0), 2 * radius, 2 * radius, theta2=90, color=LINE, linewidth=0.8, linestyle=(0, (4, 3))))
        for (x, y), numbers in _points(side).items():
            axes.plot([x], [y], "o", color=BAD if x or y else INK, markersize=7, clip_on=False, zorder=3)
            axes.annotate(
                ", ".join(numbers),
                (x, y),
                (7, 6) if x <= 60 else (-6, 8),
                textcoords="offset points",
                ha="left" if x <= 60 else "right",
                color=INK,
                weight="bold",
                annotation_clip=False,
            )
        axes.set_xlim(-5, 108)
        axes.set_ylim(-5, 108)
        axes.set_xlabel("cells with extra effects, %   (100: retries everything)", color=INK)
        axes.set_ylabel("cells left unresolved, %   (100: stops at everything)", color=INK)
        axes.tick_params(colors=DIM, length=3)
        for name, spine in axes.spines.items():
            spine.set_visible(name in ("left", "bottom"))
            spine.set_color(DIM)
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), _spoken(side))


def _points(side: Side) -> dict[tuple[float, float], list[str]]:
    """(extra %, unresolved %) → numbers of the boundaries that stand there; the control is left out."""
    found: defaultdict[tuple[float, float], list[str]] = defaultdict(list)
    for row in side.boundaries:
        if row.number != 0 and row.counts.judged:
            share = 100 / row.counts.judged
            place = (
                round(row.counts.figure(Figure.EXTRA) * share, 1),
                round(row.counts.figure(Figure.UNRESOLVED) * share, 1),
            )
            near = next((one for one in found if abs(one[0] - place[0]) + abs(one[1] - place[1]) <= NEAR), place)
            found[near].append(str(row.number if row.number is not None else "?"))
    return found


def _spoken(side: Side) -> str:
    points = [f"boundary {', '.join(names)}: extra {x:g} %, unresolved {y:g} %" for (x, y), names in _points(side).items()]
    return "Extra against unresolved. " + "; ".join(points)


def _inline(svg: str, label: str) -> Markup:
    """The ``<svg>`` element alone, in the page's colours, with a text for screen readers."""
    body = svg[svg.index("<svg") :]
    for given, wanted in INKS.items():
        body = body.replace(given, wanted)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img" class="chart">', body, count=1)
    start = body.index(">") + 1
    return Markup(body[:start]) + Markup("<title>{}</title>").format(label) + Markup(body[start:])
