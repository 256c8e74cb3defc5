from mcrl.seeding import derive_seed


def test_a_seed_is_the_same_in_every_process():
    assert derive_seed(0, "rollout", 3) == 4495814937872463932


def test_names_and_numbers_and_roots_give_different_seeds():
    seeds = {
        derive_seed(0),
        derive_seed(1),
        derive_seed(0, "1"),
        derive_seed(0, 1),
        derive_seed(0, 1, 2),
        derive_seed(0, 12),
    }
    assert len(seeds) == 6


def test_seeds_fit_a_signed_64_bit_integer():
    assert all(0 <= derive_seed(0, i) < 2**63 for i in range(1000))
