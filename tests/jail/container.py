"""Runs a command with the default seccomp profile and capabilities of a container runtime.

    tests/jail/container.py PROFILE.json COMMAND ...

PROFILE.json is the profile that the runtime publishes (Debian: golang-github-docker-docker-dev has
profiles/seccomp/default.json).  Needs python3-seccomp, and root for the capabilities.  By hand:

    tests/jail/container.py default.json make check
"""
import ctypes
import json
import os
import signal
import sys

import seccomp

# what docker gives: chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service
# net_raw sys_chroot mknod audit_write setfcap
CAPS = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
NAMES = {"CAP_SYS_CHROOT", "CAP_AUDIT_WRITE"}  # those of them on which rules of profiles depend
KERNEL = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])
OPS = {"SCMP_CMP_" + n: getattr(seccomp, n) for n in ("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ")}


def action(name, errno):
    return seccomp.ALLOW if name == "SCMP_ACT_ALLOW" else seccomp.ERRNO(1 if errno is None else errno)


def applies(rule):
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    least = includes.get("minKernel")
    return (not includes.get("arches") or "amd64" in includes["arches"]) and \
        set(includes.get("caps", [])) <= NAMES and \
        not set(excludes.get("caps", [])) & NAMES and "amd64" not in excludes.get("arches", []) and \
        (not least or KERNEL >= tuple(int(n) for n in least.split(".")))


def arg(a):
    op = OPS[a["op"]]
    if a["op"] == "SCMP_CMP_MASKED_EQ":
        return seccomp.Arg(a["index"], op, a["value"], a.get("valueTwo", 0))
    return seccomp.Arg(a["index"], op, a["value"])


def load(path):
    with open(path) as f:
        profile = json.load(f)
    default = action(profile["defaultAction"], profile.get("defaultErrnoRet"))
    filt = seccomp.SyscallFilter(default)
    for rule in profile["syscalls"]:
        what = action(rule["action"], rule.get("errnoRet"))
        if not applies(rule) or what == default:
            continue
        for name in rule["names"]:
            try:
                filt.add_rule(what, name, *[arg(a) for a in rule.get("args") or []])
            except (RuntimeError, OSError, ValueError):
                pass  # a call of another architecture, or one that this libseccomp does not know
    libc = ctypes.CDLL(None, use_errno=True)
    mask = sum(1 << c for c in CAPS)
    for cap in range(64):
        if not mask >> cap & 1:
            libc.prctl(24, ctypes.c_ulong(cap), 0, 0, 0)  # PR_CAPBSET_DROP
    filt.set_attr(seccomp.Attr.CTL_NNP, 0)
    filt.load()
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(mask & 0xffffffff, mask & 0xffffffff, 0, mask >> 32, mask >> 32, 0)
    if libc.capset(head, data):
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    load(sys.argv[1])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and children inherit that
    os.execvp(sys.argv[2], sys.argv[2:])
