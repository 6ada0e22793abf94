"""Bodies in br and zstd, made by the libraries themselves."""

import ctypes
import ctypes.util

import pytest


def library(name):
    found = ctypes.util.find_library(name)
    if not found:
        pytest.skip(f"lib{name} is not here")
    return ctypes.CDLL(found)


def brotli(data, window):
    """`window` is a power of two, up to 24."""
    encoder = library("brotlienc")
    size = ctypes.c_size_t(len(data) + 65536)
    output = ctypes.create_string_buffer(size.value)
    assert encoder.BrotliEncoderCompress(
        1, window, 0, ctypes.c_size_t(len(data)), data, ctypes.byref(size), output)
    return output.raw[:size.value]


def zstd(data, window):
    """`window` is a power of two."""
    encoder = library("zstd")
    for name, result in {"ZSTD_createCCtx": ctypes.c_void_p, "ZSTD_compress2": ctypes.c_size_t}.items():
        getattr(encoder, name).restype = result
    context = ctypes.c_void_p(encoder.ZSTD_createCCtx())
    # ZSTD_c_windowLog.
    encoder.ZSTD_CCtx_setParameter(context, 101, window)
    output = ctypes.create_string_buffer(len(data) + 65536)
    size = encoder.ZSTD_compress2(
        context, output, ctypes.c_size_t(len(output)), data, ctypes.c_size_t(len(data)))
    encoder.ZSTD_freeCCtx(context)
    assert 0 < size <= len(output)
    return output.raw[:size]
