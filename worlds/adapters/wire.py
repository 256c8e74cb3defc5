"""Messages between our process and an engine's: JSON and raw arrays over a stream socket, no pickle. Both sides run it.

A message is 16 bytes, then a header, then a payload:

    bytes 0 .. 3    b"MCR1"
    bytes 4 .. 7    length of the header in bytes, unsigned, big-endian
    bytes 8 .. 15   length of the payload in bytes, unsigned, big-endian

The header is a JSON object in UTF-8 with "kind", and "arrays" where there is a payload: [dtype, shape] of each array,
in the order in which their bytes, C-ordered and little-endian, make up the payload. All else in it belongs to the
kind.
"""

from __future__ import annotations

import contextlib
import json
import math
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_PREFIX = struct.Struct(">4sIQ")
_MAGIC = b"MCR1"
# More than the largest scan (128 x 64 x 128 cells in 2 MB) or a hundred goal views take; less than would hurt.
MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES = 16 * 2**20, 256 * 2**20
_DTYPES = {"uint8": "|u1", "uint16": "<u2", "int32": "<i4", "float32": "<f4", "float64": "<f8", "bool": "|b1"}
_CHUNK_BYTES = 2**20


class WireError(Exception):
    """What came is no message; nothing after it can be understood."""


class WireClosedError(WireError):
    """The other side is gone."""


class WireTimeoutError(WireError):
    """The other side did not say, or did not take, a whole message in time."""


class Message(NamedTuple):
    """What is said at once."""

    kind: str
    fields: dict[str, Any]  # of JSON values
    arrays: Sequence[np.ndarray] = ()


def send(connection: socket.socket, message: Message, *, deadline_s: float = math.inf) -> None:
    """Send a message.

    Raises:
        WireClosedError: the other side is gone.
        WireTimeoutError: it did not take the whole message until `deadline_s` on time.monotonic's clock.
    """
    arrays = [np.ascontiguousarray(array) for array in message.arrays]
    described = [[array.dtype.name, list(array.shape)] for array in arrays]
    unknown = [name for name, _ in described if name not in _DTYPES]
    if unknown:
        raise ValueError(f"wire: arrays are one of {', '.join(_DTYPES)}, got {unknown[0]}")
    header = json.dumps(dict(message.fields, kind=message.kind, arrays=described), separators=(",", ":")).encode()
    payload = b"".join(array.astype(_DTYPES[array.dtype.name], copy=False).tobytes() for array in arrays)
    if len(header) > MAX_HEADER_BYTES or len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"wire: a message of {len(header)} + {len(payload)} bytes is too long")
    left = memoryview(_PREFIX.pack(_MAGIC, len(header), len(payload)) + header + payload)
    try:
        while left:
            _wait(connection, deadline_s, is_writing=True)
            # A blocking send would take all of the chunk or wait, however long.
            flags = 0 if deadline_s == math.inf else socket.MSG_DONTWAIT
            with contextlib.suppress(BlockingIOError):
                left = left[connection.send(left[:_CHUNK_BYTES], flags) :]
    except OSError as error:
        raise WireClosedError(f"the connection broke ({error})") from None


def receive(connection: socket.socket, *, deadline_s: float = math.inf) -> Message:
    """Return the next message.

    Raises:
        WireClosedError: the other side is gone, perhaps in the middle of a message.
        WireTimeoutError: no whole message came until `deadline_s` on time.monotonic's clock.
        WireError: what came is no message.
    """
    magic, header_bytes, payload_bytes = _PREFIX.unpack(_read(connection, _PREFIX.size, deadline_s))
    if magic != _MAGIC:
        raise WireError(f"what came is no message: it begins with {magic!r}, not {_MAGIC!r}")
    if header_bytes > MAX_HEADER_BYTES or payload_bytes > MAX_PAYLOAD_BYTES:
        raise WireError(f"a message of {header_bytes} + {payload_bytes} bytes is too long")
    header = _read(connection, header_bytes, deadline_s)
    payload = _read(connection, payload_bytes, deadline_s)
    try:
        fields = json.loads(bytes(header).decode())
        kind, described = fields.pop("kind"), fields.pop("arrays", [])
        arrays = _arrays(payload, described)
        if not isinstance(kind, str):
            raise ValueError("its kind is no text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WireError(f"a message that cannot be read came ({type(error).__name__}: {error})") from None
    return Message(kind, fields, arrays)


def _arrays(payload: bytearray, described: list[Any]) -> list[np.ndarray]:
    arrays, offset = [], 0
    for name, shape in described:
        if not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError(f"an array of shape {shape}")
        dtype = np.dtype(_DTYPES[name])
        num_bytes = dtype.itemsize * math.prod(shape)
        if offset + num_bytes > len(payload):
            raise ValueError("its arrays are longer than its payload")
        arrays.append(np.frombuffer(payload, dtype, math.prod(shape), offset).reshape(shape))
        offset += num_bytes
    if offset != len(payload):
        raise ValueError(f"{len(payload) - offset} bytes of its payload belong to no array")
    return arrays


def _read(connection: socket.socket, num_bytes: int, deadline_s: float) -> bytearray:
    parts = bytearray()
    while len(parts) < num_bytes:
        _wait(connection, deadline_s, is_writing=False)
        try:
            part = connection.recv(min(_CHUNK_BYTES, num_bytes - len(parts)))
        except OSError as error:
            raise WireClosedError(f"the connection broke ({error})") from None
        if not part:
            where = "in the middle of a message" if parts else "without a word"
            raise WireClosedError(f"the connection was closed {where}")
        parts += part
    return parts


def _wait(connection: socket.socket, deadline_s: float, *, is_writing: bool) -> None:
    """Wait until the socket can be read or written; WireTimeoutError once the deadline has passed."""
    if deadline_s == math.inf:
        return
    poll = select.poll()
    poll.register(connection, select.POLLOUT if is_writing else select.POLLIN)
    if not poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000.0):
        raise WireTimeoutError("no whole message was taken in time" if is_writing else "no whole message came in time")
