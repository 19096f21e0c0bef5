"""Arrow's C data interface: the structures that ``__arrow_c_array__`` hands out.

Read with ctypes, so that nothing of Arrow is needed; :mod:`siena.matching.input.arrow`
knows what they mean.

Reference:
    Apache Arrow, "The Arrow C data interface" and "The Arrow PyCapsule Interface".
"""

import ctypes
import sys
from collections.abc import Iterator
from typing import Protocol

import numpy as np

# Types that no value has, by how their formats begin; the more particular ones first.
_REFUSED = {
    "e": "float16",
    "d:": "decimal",
    "z": "binary",
    "Z": "large_binary",
    "vz": "binary_view",
    "w:": "fixed_size_binary",
    "tdD": "date32",
    "tdm": "date64",
    "tt": "time of day",
    "tD": "duration",
    "ti": "interval",
    "+s": "struct",
    "+m": "map",
    "+u": "union",
    "+r": "run_end_encoded",
    "+": "list",
}


class ArrowSource(Protocol):
    """Whatever hands out an Arrow array: batches of pyarrow, nanoarrow, and others."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...


class Schema(ctypes.Structure):
    """The type of an array; only what we read is declared for the type checker."""

    format: bytes
    name: bytes | None
    n_children: int
    children: "ctypes._Pointer[ctypes._Pointer[Schema]]"
    dictionary: "ctypes._Pointer[Schema] | None"


class Array(ctypes.Structure):
    """An array: its buffers, and the arrays inside it."""

    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: "ctypes._Pointer[ctypes.c_void_p]"
    children: "ctypes._Pointer[ctypes._Pointer[Array]]"
    dictionary: "ctypes._Pointer[Array] | None"


# Here, because they point at themselves.
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
memory = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
)(("PyMemoryView_FromMemory", ctypes.pythonapi))
READ_ONLY = 0x100
# What an empty buffer points at: a kernel wants an address, though it reads nothing.
_EMPTY = np.zeros(16, np.uint8)
NOTHING = _EMPTY.data
NOTHING_ADDRESS = int(_EMPTY.ctypes.data)


def open_batch(source: ArrowSource) -> tuple[object, Schema, Array]:
    """The structures of a batch, and what keeps them alive.

    Their release is called by the capsules, when these are not held any longer.
    """
    if not hasattr(source, "__arrow_c_array__"):
        hint = "; match its batches" if hasattr(source, "__arrow_c_stream__") else ""
        raise TypeError(f"a {type(source).__name__} is no Arrow record batch{hint}")
    if sys.byteorder != "little":
        raise NotImplementedError("Arrow batches are read on little-endian machines")
    capsules = source.__arrow_c_array__()
    schema = Schema.from_address(_pointer(capsules[0], b"arrow_schema"))
    array = Array.from_address(_pointer(capsules[1], b"arrow_array"))
    if schema.format != b"+s":
        raise TypeError(f"a record batch has columns; this is {type_of(schema)}")
    if schema.n_children != array.n_children:
        raise ValueError("the batch has more or fewer columns than its schema")
    if array.length < 0 or array.offset < 0:
        raise ValueError("the batch has fewer rows than none")
    end = array.offset + array.length
    if array.null_count != 0 and array.length and array.buffers[0]:
        bits = np.frombuffer(
            memory(array.buffers[0], (end + 7) // 8, READ_ONLY), np.uint8
        )
        if not np.unpackbits(bits, bitorder="little")[array.offset : end].all():
            raise ValueError("rows of the batch itself are null")
    return capsules, schema, array


def children_of(schema: Schema, array: Array) -> Iterator[tuple[bytes, Schema, Array]]:
    """The columns of a batch: name, type and array."""
    for k in range(schema.n_children):
        of = schema.children[k].contents
        yield of.name or b"", of, array.children[k].contents


def type_of(schema: Schema) -> str:
    """The name of a type that we refuse, for an error."""
    return spell_type(schema.format.decode())


def spell_type(form: str) -> str:
    """The same, of a format string."""
    for start, words in _REFUSED.items():
        if form.startswith(start):
            return words
    return f"of Arrow's format {form!r}"
