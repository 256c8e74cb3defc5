"""How actions are drawn: what is refused, and what is named as changed."""

import pytest

from policies.decoding import AS_TRAINED, Decoding


@pytest.mark.parametrize("guidance", [0.0, -1.0, float("nan"), float("inf")])
def test_guidance_that_guides_nowhere_is_refused(guidance):
    with pytest.raises(ValueError, match="guidance must be above 0"):
        Decoding(guidance=guidance)


@pytest.mark.parametrize("temperature", [-0.5, float("nan"), float("inf")])
def test_a_temperature_that_draws_nothing_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature must be 0"):
        Decoding(temperature=temperature)


def test_only_what_is_not_as_in_training_is_named():
    assert AS_TRAINED.changes() == {}
    assert Decoding(temperature=0.0, guidance=1.5).changes() == {"temperature": 0.0, "guidance": 1.5}
