"""Messages on the wire: four bytes of length, big-endian, then the payload."""

import socket
import struct

_LONGEST_BYTES = 64 * 2**20


def send_message(connection: socket.socket, payload: bytes) -> None:
    """Send one message."""
    connection.sendall(struct.pack("!I", len(payload)) + payload)


def receive_message(connection: socket.socket) -> bytes | None:
    """Return the payload of the next message, None when the other side has hung up."""
    header = _receive(connection, 4)
    if header is None:
        return None
    (length,) = struct.unpack("!I", header)
    if length > _LONGEST_BYTES:
        raise ValueError(f"wire server: a message announces {length} bytes, at most {_LONGEST_BYTES} are taken")
    return _receive(connection, length)


def _receive(connection: socket.socket, num_bytes: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < num_bytes:
        part = connection.recv(num_bytes - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
