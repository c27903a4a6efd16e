"""Compiles CUDA texts to PTX with the NVRTC of a PyPI package, as cubecl-cuda does.

Reads lines `architecture TAB text TAB ptx` and answers each with `ok` or `failed TAB message`.
"""

import ctypes
import pathlib
import sys

import nvidia.cuda_nvrtc
import nvidia.cuda_runtime

LIBRARY = ctypes.CDLL(
    str(next(pathlib.Path(nvidia.cuda_nvrtc.__path__[0]).glob("lib/libnvrtc.so.*")))
)
INCLUDE = pathlib.Path(nvidia.cuda_runtime.__path__[0]) / "include"


def text_of(size_of, read, program):
    """A text that NVRTC gives in two calls: its size, then its bytes."""
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    read(program, text)
    return text.value


def compile_text(architecture, source, target):
    program = ctypes.c_void_p()
    text = pathlib.Path(source).read_bytes()
    status = LIBRARY.nvrtcCreateProgram(ctypes.byref(program), text, None, 0, None, None)
    if status != 0:
        return f"nvrtcCreateProgram returned {status}"
    options = [f"--gpu-architecture={architecture}", f"--include-path={INCLUDE}", "-lineinfo"]
    if (INCLUDE / "cccl").exists():
        options.append(f"--include-path={INCLUDE / 'cccl'}")
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = LIBRARY.nvrtcCompileProgram(program, len(options), array)
    if status != 0:
        log = text_of(LIBRARY.nvrtcGetProgramLogSize, LIBRARY.nvrtcGetProgramLog, program)
        return log.decode(errors="replace") or f"nvrtcCompileProgram returned {status}"
    ptx = text_of(LIBRARY.nvrtcGetPTXSize, LIBRARY.nvrtcGetPTX, program)
    pathlib.Path(target).write_bytes(ptx)
    LIBRARY.nvrtcDestroyProgram(ctypes.byref(program))
    return None


for line in sys.stdin:
    message = compile_text(*line.rstrip("\n").split("\t"))
    answer = "ok" if message is None else "failed\t" + message.replace("\n", "\v")
    print(answer, flush=True)
