"""Whatever an evaluation's folder holds as text is text on every page, and no part of the page."""

import dataclasses
from html.parser import HTMLParser

from eval.reports.episode_sections import EmbeddedVideo, ShownEpisodes, ShownFailure
from eval.reports.overview import overview_page
from eval.reports.report import summarise
from eval.reports.report_html import Plot, page
from tests.eval.made_episodes import ORIGIN, make_episode

HOSTILE = """'"><img src=x onerror=alert(1)>"""
NUM_TASKS = 24  # enough for curves


def _hostile_summary():
    origin = dataclasses.replace(
        ORIGIN,
        **{name: HOSTILE for name in ("command", "commit", "date", "split", "suite", "suite_claim", "suite_sha256")},
        hardware={HOSTILE: HOSTILE},
        row_sources={HOSTILE: HOSTILE},
        row_wall_s={HOSTILE: 1.0},
        training_wall_s={HOSTILE: 1.0},
        config={HOSTILE: [HOSTILE]},
    )
    episodes = []
    for row in (HOSTILE, "shuffled goal", "expert", "random"):
        for number in range(NUM_TASKS):
            outcome = "success" if number % 3 == 0 or row == HOSTILE else "time_limit"
            for skill, first in (("approach", 0), (HOSTILE, 100)):
                made = make_episode(row, first + number, outcome, skill=skill, band=HOSTILE)
                episodes.append(dataclasses.replace(made, view_angle_deg=float(number), biome=HOSTILE))
    return summarise(episodes, origin)


def _attributes(text: str) -> set[str]:
    """Return the names of all attributes of a page."""
    names: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            names.update(name for name, _ in attrs)

    Reader().feed(text)
    return names


def test_text_of_an_evaluation_is_never_a_part_of_its_page():
    video = EmbeddedVideo(caption=HOSTILE, is_success=True, goal_uri="", video_uri="", poster_uri="")
    pictures = dict.fromkeys(("start_uri", "goal_uri", "last_uri", "map_svg"), "")
    failure = ShownFailure(heading=HOSTILE, cause="lost", story=HOSTILE, side_blocks=9, **pictures)
    shown = ShownEpisodes(videos=[video], video_note=HOSTILE, failures=[failure], failure_note=HOSTILE)
    plot = Plot(title=HOSTILE, svg="<svg></svg>", note=HOSTILE)
    summary = _hostile_summary()
    assert summary.curves
    assert summary.claims
    text = page(summary, title=HOSTILE, plots=[plot], shown=shown, schema_text=HOSTILE)
    assert text.count("&lt;img src=x") > 50
    assert "<img src=x" not in text
    assert "onerror" not in _attributes(text)  # nor does it end the attribute that it stands in


def test_text_of_several_suites_is_never_a_part_of_their_overview():
    text = overview_page({HOSTILE: _hostile_summary()}, {HOSTILE: f"{HOSTILE}/report.html"})
    assert text.count("&lt;img src=x") > 10
    assert "<img src=x" not in text
    assert "onerror" not in _attributes(text)
