"""`mcrl suites`: what it lists, and one sentence for a suite that there is not."""

from eval.suites.suites import SUITES
from mcrl.cli import main


def test_the_list_names_every_suite_with_its_claim_and_hash(capsys):
    assert main(["suites"]) == 0
    printed = capsys.readouterr().out
    for suite in SUITES.values():
        row = next(line for line in printed.splitlines() if suite.label in line)
        assert f"{suite.num_tasks:,}" in row
        assert suite.sha256[:12] in row
        assert f"{suite.name}: {suite.claim}" in printed
    assert "--save PATH" in printed


def test_an_unknown_suite_is_one_sentence(capsys):
    assert main(["suites", "--freeze", "nether"]) == 2
    assert capsys.readouterr().err.startswith("mcrl: suite 'nether' is unknown; there are laptop, unseen_seeds")
