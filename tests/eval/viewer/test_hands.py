"""What waits for a page until it takes it: the newest of each kind, and every sentence once."""

import json
import threading

import numpy as np
import pytest

pytest.importorskip("viser", reason="needs viser, which brings websockets and Pillow: pip install 'mcrl[view]'")

from eval.viewer.app_hands import TAG_GOAL, Hands  # noqa: E402


def all_taken(hands: Hands) -> list[bytes | str]:
    return list(iter(hands._taken, None))


def test_a_goal_that_is_taken_away_takes_its_mask_along():
    hands = Hands()
    hands.show_goal(np.zeros((256, 256, 3), np.uint8), np.ones((256, 256), bool))
    hands.show_goal(None, None)
    assert all_taken(hands) == [bytes([TAG_GOAL])]


def test_a_sentence_that_is_taken_while_another_one_is_said_is_not_said_again(monkeypatch):
    hands, heard, dumps = Hands(), [], json.dumps
    hands.say("one")
    taking = threading.Thread(target=lambda: heard.append(hands._taken()))

    def dumps_while_taken(spoken):
        taking.start()
        taking.join(0.5)
        return dumps(spoken)

    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", dumps_while_taken)
        hands.say("two")
    taking.join()
    heard += all_taken(hands)
    assert [json.loads(said)["said"] for said in heard] == ["one", "two"]


def test_of_many_sentences_for_a_page_that_is_not_there_the_last_ones_are_kept():
    hands = Hands()
    for number in range(40):
        hands.say(str(number))
    assert [json.loads(said)["said"] for said in all_taken(hands)] == [str(number) for number in range(24, 40)]
