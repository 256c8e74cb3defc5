import os
import signal

import pytest

from mcrl.interrupt import StopRequest


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
