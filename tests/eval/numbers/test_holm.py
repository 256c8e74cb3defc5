import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.numbers.holm import holm_adjusted

_P_VALUES = st.lists(st.floats(0, 1), max_size=5)


def test_holm_matches_the_published_example():
    # Wikipedia, "Holm-Bonferroni method", example: H1 and H4 of 0.01, 0.04, 0.03, 0.005 are rejected at 0.05.
    assert holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(_P_VALUES)
def test_holm_is_bonferroni_on_every_set_of_claims_that_holds_it(p_values):
    """Closed testing: a claim's value is the largest Bonferroni p of any set of claims with it (Marcus et al. 1976)."""
    for index, adjusted in enumerate(holm_adjusted(p_values)):
        others = [i for i in range(len(p_values)) if i != index]
        subsets = [[index, *s] for size in range(len(p_values)) for s in itertools.combinations(others, size)]
        brute = max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in subsets)
        assert adjusted == pytest.approx(brute)


def test_a_number_that_is_no_p_value_is_refused():
    with pytest.raises(ValueError, match="p-values"):
        holm_adjusted([0.2, float("nan")])
