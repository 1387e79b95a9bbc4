#!/usr/bin/env python3
"""Compiles with libtunec.so and with Debian's libLLVM in one process. The symbols of both libraries are global.

    two_llvms.py LIBTUNEC llvm-first|tunec-first
"""
import ctypes
import sys
import tempfile
from pathlib import Path

LIBLLVM = "libLLVM.so.22.1"
GRAPH = b"graph g {\n  input a: f32[24, 40]\n  input b: f32[40, 56]\n  p = matmul(a, b)\n  output y = p\n}\n"
FUNCTION = b"define double @f(double %x) {\n  %y = fmul double %x, %x\n  ret double %y\n}\n"
OBJECT_FILE = 1


def load_llvm():
    llvm = ctypes.CDLL(LIBLLVM, ctypes.RTLD_GLOBAL)
    for name in ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"):
        getattr(llvm, f"LLVMInitializeX86{name}")()
    return llvm


def pointer_to(result, function, *arguments):
    function.restype = result
    return result(function(*arguments))


def compile_with_llvm(llvm):
    """Returns the bytes of an object file with FUNCTION."""
    pointer = ctypes.c_void_p
    context = pointer_to(pointer, llvm.LLVMContextCreate)
    text = pointer_to(pointer, llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy, FUNCTION,
                      ctypes.c_size_t(len(FUNCTION)), b"f")
    module, target, code, message = pointer(), pointer(), pointer(), ctypes.c_char_p()
    if llvm.LLVMParseIRInContext(context, text, ctypes.byref(module), ctypes.byref(message)):
        raise SystemExit(f"LLVM cannot read: {message.value}")
    triple = pointer_to(pointer, llvm.LLVMGetDefaultTargetTriple)
    if llvm.LLVMGetTargetFromTriple(triple, ctypes.byref(target), ctypes.byref(message)):
        raise SystemExit(f"LLVM has no target: {message.value}")
    machine = pointer_to(pointer, llvm.LLVMCreateTargetMachine, target, triple, b"", b"", 2, 2, 0)
    if llvm.LLVMTargetMachineEmitToMemoryBuffer(machine, module, OBJECT_FILE, ctypes.byref(message),
                                                ctypes.byref(code)):
        raise SystemExit(f"LLVM cannot compile: {message.value}")
    llvm.LLVMGetBufferSize.restype = ctypes.c_size_t
    return ctypes.string_at(pointer_to(pointer, llvm.LLVMGetBufferStart, code), llvm.LLVMGetBufferSize(code))


def compile_with_tunec(tunec):
    tunec.tunec_error_message.restype = ctypes.c_char_p
    with tempfile.TemporaryDirectory(prefix="tunec-packed-") as folder:
        graph = Path(folder, "g.graph")
        graph.write_bytes(GRAPH)
        executable = ctypes.c_void_p()
        options = b'{"threads": 1, "db": "%s/trials.db", "trials": 2}' % folder.encode()
        if tunec.tunec_compile(str(graph).encode(), options, ctypes.byref(executable)):
            raise SystemExit(f"tunec cannot compile: {tunec.tunec_error_message().decode()}")
        tunec.tunec_release(executable)


def main():
    library, order = sys.argv[1:]
    if order == "llvm-first":
        llvm = load_llvm()
        tunec = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    else:
        tunec = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        compile_with_tunec(tunec)
        llvm = load_llvm()
    if not compile_with_llvm(llvm).startswith(b"\x7fELF"):
        raise SystemExit("LLVM compiled to no object")
    compile_with_tunec(tunec)
    if not compile_with_llvm(llvm).startswith(b"\x7fELF"):
        raise SystemExit("LLVM compiled to no object the second time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
