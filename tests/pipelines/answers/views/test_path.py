"""Which nodes of a path are shown."""

from quern.pipelines.answers.views.path import strongest
from tests.pipelines.answers.views.test_terminal import HIT, node


def test_the_strongest_nodes_come_with_those_they_were_reached_through():
    path = [node("far", 0.9, 1, "near"), node("near", 0.1), *(node(f"n{i}", 0.5) for i in range(9))]
    shown = strongest(path, [HIT], limit=3)
    assert set(shown.nodes) == {"far", "near", "n0"}
    assert len(shown.hidden) == 8


def test_nodes_that_led_to_a_hit_come_before_stronger_ones_that_did_not():
    shown = strongest([node("aside", 0.9, chunk="other-0"), node("led", 0.2)], [HIT], limit=1)
    assert list(shown.nodes) == ["led"]


def test_a_pair_that_several_nodes_hold_is_shown_once_and_not_counted_again():
    same = [node(f"n{i}", 0.5 - i / 10).model_copy(update={"text": "When did it open? In 1901."}) for i in range(3)]
    shown = strongest([*same, node("other", 0.1)], [HIT])
    assert (list(shown.nodes), shown.hidden) == (["n0", "other"], [])
