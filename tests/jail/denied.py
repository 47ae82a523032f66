"""Filters that make calls of the system fail, as containers and hardened machines do."""
import ctypes
import errno
import struct

NUMBERS = {  # of x86-64
    "clone": 56, "ptrace": 101, "unshare": 272, "process_vm_readv": 310, "seccomp": 317, "memfd_create": 319,
    "userfaultfd": 323, "pidfd_open": 434, "clone3": 435, "close_range": 436,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}
CLONE_THREAD = 0x10000
NEW_LISTENER = 8
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, AND, EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06  # BPF_LD|W|ABS, ALU|AND|K, JMP|JEQ|K, RET|K
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
libc = ctypes.CDLL(None, use_errno=True)


def deny(call, code, arg=None, bits=0):
    """From here on, in this process and all that it starts: `call` fails with `code`; with `arg` only where all `bits`
    of that argument are set."""
    line = struct.Struct("=HBBI").pack
    test = [line(LOAD, 0, 0, 16 + 8 * arg), line(AND, 0, 0, bits), line(EQUAL, 0, 1, bits)] if arg is not None else []
    text = b"".join([line(LOAD, 0, 0, 0), line(EQUAL, 0, len(test) + 1, NUMBERS[call]), *test,
                     line(RETURN, 0, 0, ERRNO | code), line(RETURN, 0, 0, ALLOW)])
    code_at = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxQ", len(text) // 8, ctypes.addressof(code_at))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def deny_threads(code):
    """As RLIMIT_NPROC and a container's limit of tasks do, which do not bind root."""
    deny("clone3", errno.ENOSYS)
    deny("clone", code, 0, CLONE_THREAD)
