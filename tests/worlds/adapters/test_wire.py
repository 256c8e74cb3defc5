"""Claims about messages between our process and an engine's."""

import socket
import struct

import pytest

from worlds.adapters.wire import WireError, receive


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
