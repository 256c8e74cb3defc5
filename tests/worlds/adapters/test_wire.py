"""Claims about messages between our process and an engine's."""

import socket
import struct
import time

import numpy as np
import pytest

from worlds.adapters.wire import Message, WireError, WireTimeoutError, receive, send


def test_a_message_that_nobody_takes_is_given_up_in_time():
    ours, theirs = socket.socketpair()
    much = Message("goals", {}, [np.zeros(8 * 2**20, np.uint8)])
    with ours, theirs, pytest.raises(WireTimeoutError, match="no whole message was taken in time"):
        send(ours, much, deadline_s=time.monotonic() + 0.2)


@pytest.mark.parametrize(
    "header",
    [
        b'{"kind":"moment","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"kind":"moment","x":' + b"9" * 5000 + b"}",
        b'{"kind":"moment","arrays":[["uint8",[0,1180591620717411303424]]]}',
        b"[]",
    ],
    ids=["too deep", "too long a number", "too long a side", "no object"],
)
def test_a_header_that_cannot_be_read_is_an_error_of_the_wire(header):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(10)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
        theirs.sendall(struct.pack(">4sIQ", b"MCR1", len(header), 0) + header)
        with pytest.raises(WireError, match="a message that cannot be read came"):
            receive(ours)
