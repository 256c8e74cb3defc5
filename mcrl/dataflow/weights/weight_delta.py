"""Weights as their difference to an earlier version: exact, and about half the bytes. P values, C values of a chunk.

A step of the optimizer changes a weight by a small part of itself, so most of the upper half of its bits stay. The
difference of the bit patterns, taken as integers and folded so that small ones of both signs are small (zigzag), has
zeros there. Its four bytes are stored plane by plane, and a plane that shrinks is deflated.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

# Large enough for speed, small enough that its planes stay in the cache.
_CHUNK_VALUES = 1 << 18
# Header of a plane: whether it is deflated, and its bytes.
_PLANE = struct.Struct("<?I")
_PROBE_BYTES = 1 << 14
# A plane that a probe does not shrink below this is sent as it is: random bytes cost time and gain nothing.
_WORTHWHILE = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightDelta:
    """What turns the weights of one version into those of another."""

    base_version: int
    packed_N: np.ndarray  # uint8 [N], all chunks behind one another


def encode_delta(base_P: np.ndarray, new_P: np.ndarray, *, base_version: int) -> WeightDelta:
    """Return the delta from float32 [P] `base_P` to `new_P`, which `apply_delta` turns into `new_P` to the bit."""
    assert base_P.shape == new_P.shape, f"weights of {base_P.size} values cannot become {new_P.size}"
    base_bits_P, new_bits_P = base_P.view(np.uint32), new_P.view(np.uint32)
    parts: list[bytes] = []
    for start in range(0, new_P.size, _CHUNK_VALUES):
        end = start + _CHUNK_VALUES
        difference_C = new_bits_P[start:end] - base_bits_P[start:end]  # modulo 2^32
        folded_C = (difference_C << 1) ^ (difference_C.view(np.int32) >> 31).view(np.uint32)
        planes = np.ascontiguousarray(folded_C.view(np.uint8).reshape(-1, 4).T)
        for plane_C in planes:
            parts += _pack(plane_C.tobytes())
    return WeightDelta(base_version=base_version, packed_N=np.frombuffer(b"".join(parts), np.uint8))


def apply_delta(base_P: np.ndarray, packed_N: np.ndarray, out_P: np.ndarray) -> None:
    """Write into `out_P` what the delta `packed_N` makes of `base_P`; both float32 [P], and may be the same array.

    Raises:
        ValueError: the delta is cut short, damaged, or of other weights.
    """
    base_bits_P, out_bits_P = base_P.view(np.uint32), out_P.view(np.uint32)
    packed, position = packed_N.data, 0
    for start in range(0, out_P.size, _CHUNK_VALUES):
        end = min(start + _CHUNK_VALUES, out_P.size)
        folded_C4 = np.empty((end - start, 4), np.uint8)
        for plane in range(4):
            plane_C, position = _unpack(packed, position, end - start)
            folded_C4[:, plane] = plane_C
        folded_C = folded_C4.view(np.uint32).reshape(-1)
        difference_C = (folded_C >> 1) ^ (np.uint32(0) - (folded_C & 1))
        np.add(base_bits_P[start:end], difference_C, out=out_bits_P[start:end])
    if position != len(packed):
        raise ValueError(f"weight delta: {len(packed)} bytes, its {out_P.size} values take {position}; send it whole")


def _pack(plane: bytes) -> tuple[bytes, bytes]:
    """Return header and body of one plane."""
    if len(_deflate(plane[:_PROBE_BYTES])) < _WORTHWHILE * len(plane[:_PROBE_BYTES]):
        deflated = _deflate(plane)
        if len(deflated) < len(plane):
            return _PLANE.pack(True, len(deflated)), deflated
    return _PLANE.pack(False, len(plane)), plane


def _deflate(plane: bytes) -> bytes:
    # Runs and frequencies are all there is to find; looking for repeated strings costs 3x the time for nothing.
    compressor = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
    return compressor.compress(plane) + compressor.flush()


def _unpack(packed: memoryview, position: int, num_values: int) -> tuple[np.ndarray, int]:
    """Return the plane at `position`, uint8 [num_values], and where the next one begins."""
    body = position + _PLANE.size
    if body > len(packed):
        raise ValueError(f"weight delta: ends after {len(packed)} bytes, inside its weights; send it whole")
    is_deflated, num_bytes = _PLANE.unpack_from(packed, position)
    plane: bytes | memoryview = packed[body : body + num_bytes]
    if is_deflated:
        try:
            plane = zlib.decompressobj(-15).decompress(plane, num_values + 1)
        except zlib.error as error:
            raise ValueError(f"weight delta: bytes {body} and on are damaged ({error}); send it again") from None
    if len(plane) != num_values:
        raise ValueError(f"weight delta: a plane holds {len(plane)} values, wanted {num_values}; send it whole")
    return np.frombuffer(plane, np.uint8), body + num_bytes
