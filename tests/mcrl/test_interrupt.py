import os
import signal

import pytest

from mcrl.interrupt import SigtermAsInterrupt, StopRequest, Terminated


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_is_noted_with_its_exit_code(number, exit_code):
    with StopRequest() as stop:
        assert (stop.is_set, stop.exit_code) == (False, 0)
        os.kill(os.getpid(), number)
        assert (stop.is_set, stop.exit_code) == (True, exit_code)


@pytest.fixture
def _pythons_own_ctrl_c():
    """A shell starts background jobs with Ctrl-C ignored; the tests are about a foreground one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_pythons_own_ctrl_c")
def test_the_second_ctrl_c_acts_at_once():
    with StopRequest():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with StopRequest():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_sigterm_ends_like_ctrl_c_and_is_told_apart():
    before = signal.getsignal(signal.SIGTERM)
    with SigtermAsInterrupt(), pytest.raises(Terminated):
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_run_inside_still_notes_the_first_sigterm():
    with SigtermAsInterrupt(), StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.exit_code == 143
        assert isinstance(stop.interrupt(), Terminated)
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_fork_dies_of_sigterm_as_it_would_without():
    with SigtermAsInterrupt():
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM


def test_who_asks_for_a_stop_is_answered_at_once(capfd):
    with StopRequest("stopping, in a while"):
        os.kill(os.getpid(), signal.SIGTERM)
        assert capfd.readouterr().err == "\nstopping, in a while\n"


def test_a_stop_is_noted_where_nobody_reads_the_answer():
    reading, writing = os.pipe()
    os.close(reading)
    kept = os.dup(2)
    os.dup2(writing, 2)
    try:
        with StopRequest("stopping, in a while") as stop:
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(writing)
    assert stop.exit_code == 143
