"""Starts linux.uml on a processor with AMX, where the kernel of Debian 12 panics at its first process.

`python -I -S launch.py KERNEL ARGUMENT...`, on the bare standard library. AMX makes the state that
PTRACE_GETREGSET (NT_X86_XSTATE) reads, and PTRACE_SETREGSET insists on, larger (11,008 bytes) than that
kernel's buffer: "ptrace set fp regs failed, errno = 14". A seccomp filter refuses both calls; the kernel then
believes that this processor has no such state and uses PTRACE_GETFPREGS. That one knows nothing of AVX
registers, so that the guest's glibc is asked to leave them alone (`GLIBC_TUNABLES` in boot.py).
"""

import ctypes
import os
import struct
import sys
from pathlib import Path

TUNABLES = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-AVX512BW"
TUNABLES_WORD = f"GLIBC_TUNABLES={TUNABLES}"
PAGE = 4096
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # instructions of the filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 22  # SECCOMP_RET_ERRNO with EINVAL
SYSCALL, ARCHITECTURE, FIRST, THIRD = (
    0,
    4,
    16,
    32,
)  # offsets in struct seccomp_data, low halves of the arguments
X86_64, PTRACE, GETREGSET, SETREGSET, NT_X86_XSTATE = 0xC000003E, 101, 0x4204, 0x4205, 0x202

# code, jump if true, jump if false, operand
FILTER = (
    (LOAD, 0, 0, ARCHITECTURE),
    (JUMP_IF_EQUAL, 0, 7, X86_64),
    (LOAD, 0, 0, SYSCALL),
    (JUMP_IF_EQUAL, 0, 5, PTRACE),
    (LOAD, 0, 0, THIRD),
    (JUMP_IF_EQUAL, 0, 3, NT_X86_XSTATE),
    (LOAD, 0, 0, FIRST),
    (JUMP_IF_EQUAL, 2, 0, GETREGSET),
    (JUMP_IF_EQUAL, 1, 0, SETREGSET),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, REFUSE),
)

# x86-64: argv moves down by one place, over argc, and the tunables become the first of the environment.
PROGRAM = bytes.fromhex(
    "488b0c24"  # mov rcx, [rsp]
    "488d742408"  # lea rsi, [rsp + 8]
    "4889e7"  # mov rdi, rsp
    "f348a5"  # rep movsq
    "31c0"  # xor eax, eax
    "48ab"  # stosq
    "4889fa"  # mov rdx, rdi
    "488d051f000000"  # lea rax, [rip + 31]: the tunables
    "48ab"  # stosq
    "488d3d{path}"  # lea rdi, [rip + path]
    "4889e6"  # mov rsi, rsp
    "b83b000000"  # mov eax, 59: execve
    "0f05"  # syscall
    "bf7f000000"  # mov edi, 127
    "b83c000000"  # mov eax, 60: exit
    "0f05".format(path=struct.pack("<i", 22 + len(TUNABLES_WORD) + 1).hex())
)


def program_head() -> bytes:
    """The beginning of a program that runs another one with the tunables, whose path and a zero follow it.

    Tools whose starter makes their environment get one in their place. A shell does it as well, and takes as
    long as many a tool.
    """
    base, headers = 0x400000, 64 + 56
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)  # 64 bits, little endian, version 1
    file = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, PAGE, PAGE, PAGE)  # PT_LOAD, read and execute
    return identity + file + segment + PROGRAM + TUNABLES_WORD.encode() + b"\0"


def needed() -> bool:
    """Whether this machine's processor has the large state."""
    return " amx_tile " in Path("/proc/cpuinfo").read_text().replace("\n", " ")


def refuse_xstate() -> None:
    """Install the filter in this process, for it and its children.

    Raises:
        OSError: the kernel does not allow it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    program = b"".join(struct.pack("<HBBI", *instruction) for instruction in FILTER)
    code = ctypes.create_string_buffer(program, len(program))
    fprog = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(FILTER), ctypes.addressof(code)))
    unused = ctypes.c_ulong(0)
    for option, *arguments in (
        (PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), unused),
        (PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), fprog),
    ):
        if libc.prctl(ctypes.c_int(option), *arguments, unused, unused):
            raise OSError(ctypes.get_errno(), "no seccomp filter")


if __name__ == "__main__":
    refuse_xstate()
    os.execv(sys.argv[1], sys.argv[1:])
