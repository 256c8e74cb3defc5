"""Strict reading of NBT, the tree format of Minecraft's files, from untrusted bytes. B bytes.

nbtlib 2.0.4 was the first choice and is not used: where bytes run out it reads zeros (a list that claims 2**31 - 1
elements makes as many Python objects), a negative array length reads the rest of the file, and nesting is Python
recursion. Here nothing is built that was not asked for: a compiled walk steps over tags, and every count is checked
against the bytes that are left before anything is allocated.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

TAG_END, TAG_BYTE, TAG_SHORT, TAG_INT, TAG_LONG, TAG_FLOAT, TAG_DOUBLE = range(7)
TAG_BYTE_ARRAY, TAG_STRING, TAG_LIST, TAG_COMPOUND, TAG_INT_ARRAY, TAG_LONG_ARRAY = range(7, 13)
_NAMES = "end byte short int long float double byte-array string list compound int-array long-array".split()

MAX_DEPTH = 512  # as in Minecraft
_MAX_FIELDS = 1024  # of one compound that is looked into; a chunk has about 30

_OK, _SHORT, _NEGATIVE, _UNKNOWN, _DEEP = range(5)
_PROBLEMS = ("", "ends inside a tag", "has a negative length", "has an unknown tag type", "is nested too deep")


class Tag(NamedTuple):
    """A value inside a document."""

    kind: int  # TAG_*
    start: int  # of its payload, in bytes
    end: int


@njit(cache=True, nogil=True)
def _payload_bytes(kind):  # type: ignore[no-untyped-def]
    """Return the size of a fixed-size payload, 0 for the others."""
    if kind == 1:
        return 1
    if kind == 2:
        return 2
    if kind == 3 or kind == 5:
        return 4
    if kind == 4 or kind == 6:
        return 8
    return 0


@njit(cache=True, nogil=True)
def _read_int(data_B, at):  # type: ignore[no-untyped-def]
    """Return the signed 32-bit number at `at`."""
    value = np.int64(0)
    for i in range(4):
        value = value * 256 + np.int64(data_B[at + i])
    return value - (np.int64(1) << 32) if value >= (np.int64(1) << 31) else value


@njit(cache=True, nogil=True)
def _skip(data_B, at, kind):  # type: ignore[no-untyped-def]
    """Step over one payload of `kind` at `at`; return (end, problem)."""
    size = len(data_B)
    # What is open around the place of reading: a list (element kind, elements left) or a compound (kind -1).
    kind_D = np.empty(MAX_DEPTH, np.int64)
    left_D = np.empty(MAX_DEPTH, np.int64)
    kind_D[0], left_D[0] = kind, 1
    depth = 0
    while depth >= 0:
        if kind_D[depth] < 0:
            if at + 1 > size:
                return at, _SHORT
            child = np.int64(data_B[at])
            at += 1
            if child == 0:
                depth -= 1
                continue
            if at + 2 > size:
                return at, _SHORT
            at += 2 + 256 * np.int64(data_B[at]) + np.int64(data_B[at + 1])
            times = np.int64(1)
        else:
            if left_D[depth] == 0:
                depth -= 1
                continue
            child = kind_D[depth]
            times = left_D[depth] if _payload_bytes(child) > 0 else np.int64(1)
            left_D[depth] -= times
        if child < 1 or child > 12:
            return at, _UNKNOWN
        if _payload_bytes(child) > 0:
            at += times * _payload_bytes(child)
        elif child == 8:
            if at + 2 > size:
                return at, _SHORT
            at += 2 + 256 * np.int64(data_B[at]) + np.int64(data_B[at + 1])
        elif child == 10 or child == 9:
            if depth + 1 >= MAX_DEPTH:
                return at, _DEEP
            depth += 1
            kind_D[depth], left_D[depth] = -1, 0
            if child == 9:
                if at + 5 > size:
                    return at, _SHORT
                kind_D[depth], left_D[depth] = np.int64(data_B[at]), _read_int(data_B, at + 1)
                at += 5
                if left_D[depth] < 0:
                    return at, _NEGATIVE
        else:
            if at + 4 > size:
                return at, _SHORT
            count = _read_int(data_B, at)
            if count < 0:
                return at, _NEGATIVE
            at += 4 + count * (1 if child == 7 else 4 if child == 11 else 8)
        if at > size:
            return at, _SHORT
    return at, _OK


class NbtDocument:
    """One NBT file in memory; values are read where they are asked for. Every fault is a ValueError naming `where`."""

    def __init__(self, content: bytes, where: str) -> None:
        """Take an uncompressed file: one named compound."""
        self._bytes = content
        self._data_B = np.frombuffer(content, np.uint8)
        self._where = where
        if len(content) < 4:
            raise ValueError(f"{where}: NBT ends inside a tag, after {len(content)} bytes")
        if content[0] != TAG_COMPOUND:
            raise ValueError(f"{where}: NBT must begin with a compound, got tag type {content[0]}")
        self.root = self._tag(TAG_COMPOUND, 3 + int.from_bytes(content[1:3], "big"))

    def _tag(self, kind: int, start: int) -> Tag:
        end, problem = _skip(self._data_B, start, kind)
        if problem:
            raise ValueError(f"{self._where}: NBT {_PROBLEMS[problem]}, at byte {end} of {len(self._bytes)}")
        return Tag(kind, start, end)

    def _expect(self, tag: Tag, *kinds: int) -> None:
        if tag.kind not in kinds:
            wanted = " or ".join(_NAMES[kind] for kind in kinds)
            raise ValueError(f"{self._where}: NBT at byte {tag.start} is a {_NAMES[tag.kind]}, not a {wanted}")

    def fields(self, tag: Tag) -> dict[str, Tag]:
        """Return what a compound holds, by name."""
        self._expect(tag, TAG_COMPOUND)
        content, at = self._bytes, tag.start
        fields: dict[str, Tag] = {}
        num_read = 0
        while content[at]:
            name_end = at + 3 + int.from_bytes(content[at + 1 : at + 3], "big")
            child = self._tag(content[at], name_end)
            fields[content[at + 3 : name_end].decode("utf-8", "replace")] = child
            num_read += 1
            if num_read > _MAX_FIELDS:
                raise ValueError(f"{self._where}: NBT compound at byte {tag.start} has more than {_MAX_FIELDS} fields")
            at = child.end
        return fields

    def compounds(self, tag: Tag, *, max_count: int) -> list[Tag]:
        """Return the compounds of a list, at most `max_count`."""
        self._expect(tag, TAG_LIST)
        kind, count = self._bytes[tag.start], int.from_bytes(self._bytes[tag.start + 1 : tag.start + 5], "big")
        if count == 0:
            return []
        if count > max_count:
            raise ValueError(
                f"{self._where}: NBT list at byte {tag.start} has {count} elements, at most {max_count} fit"
            )
        elements, at = [], tag.start + 5
        for _ in range(count):
            elements.append(self._tag(kind, at))
            at = elements[-1].end
        self._expect(elements[0], TAG_COMPOUND)
        return elements

    def integer(self, tag: Tag) -> int:
        """Return a byte, short, int or long."""
        self._expect(tag, TAG_BYTE, TAG_SHORT, TAG_INT, TAG_LONG)
        return int.from_bytes(self._bytes[tag.start : tag.end], "big", signed=True)

    def string(self, tag: Tag) -> str:
        """Return a string."""
        self._expect(tag, TAG_STRING)
        return self._bytes[tag.start + 2 : tag.end].decode("utf-8", "replace")

    def long_array(self, tag: Tag) -> np.ndarray:
        """Return a long array, uint64 [N], the bits as they stand."""
        self._expect(tag, TAG_LONG_ARRAY)
        return np.frombuffer(self._bytes, ">u8", (tag.end - tag.start - 4) // 8, tag.start + 4).astype(np.uint64)

    def raw(self, tag: Tag) -> bytes:
        """Return the bytes of a payload: equal bytes, equal value."""
        return self._bytes[tag.start : tag.end]
