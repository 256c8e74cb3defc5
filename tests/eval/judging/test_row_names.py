from eval.judging.row_names import claims_of, in_order, main_row


def test_rows_stand_floors_first_and_expert_last():
    rows = ["expert", "mine", "rl", "shuffled goal", "random"]
    assert in_order(rows) == ["random", "shuffled goal", "rl", "mine", "expert"]
    assert main_row(rows) == "rl"
    assert claims_of(rows) == [("rl", "shuffled goal"), ("rl", "mine")]
    assert main_row(["expert", "mine"]) == "mine"
    assert main_row(["expert", "imitation", "imitation-long"]) == "imitation-long"
    assert main_row(["imitation", "dagger", "expert"]) == "dagger"
    assert in_order(["rl", "dagger", "imitation", "expert"]) == ["imitation", "dagger", "rl", "expert"]
    assert claims_of(["random", "expert"]) == []
