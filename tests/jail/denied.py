"""Denies system calls with seccomp filters, as containers and hardened machines do, one by one.  dtx must either work with
the remaining layers of the jail, or refuse and name the call, its error and a next step.

    /usr/bin/python3 -B tests/jail/denied.py DTX [few: one error of each call, without programs]
"""
import ctypes
import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

NUMBERS = {  # system calls of x86-64
    "clone": 56, "ptrace": 101, "unshare": 272, "process_vm_readv": 310, "seccomp": 317, "memfd_create": 319,
    "userfaultfd": 323, "pidfd_open": 434, "clone3": 435, "close_range": 436, "fdatasync": 75,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}
CLONE_THREAD = 0x10000
NEW_LISTENER = 8
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, AND, EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06  # BPF_LD|W|ABS, ALU|AND|K, JMP|JEQ|K, RET|K
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
libc = ctypes.CDLL(None, use_errno=True)


def deny(call, code, arg=None, bits=0):
    """Makes `call` fail with `code`, in this process and all that it starts; with `arg`, only if all `bits` of that
    argument are set."""
    line = struct.Struct("=HBBI").pack
    test = [line(LOAD, 0, 0, 16 + 8 * arg), line(AND, 0, 0, bits), line(EQUAL, 0, 1, bits)] if arg is not None else []
    text = b"".join([line(LOAD, 0, 0, 0), line(EQUAL, 0, len(test) + 1, NUMBERS[call]), *test,
                     line(RETURN, 0, 0, ERRNO | code), line(RETURN, 0, 0, ALLOW)])
    code_at = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxQ", len(text) // 8, ctypes.addressof(code_at))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def deny_threads(code):
    """Acts like RLIMIT_NPROC or a container's limit of tasks, but also for root."""
    deny("clone3", errno.ENOSYS)
    deny("clone", code, 0, CLONE_THREAD)


# --- each call that containers deny, alone ---

# call, arg, bits, word in the refusal of a snippet, of a workbook; None: the remaining layers suffice
CASES = [
    ("unshare", None, 0, None, None),
    ("clone", 0, CLONE_THREAD, None, None),
    ("clone3", None, 0, None, None),
    ("memfd_create", None, 0, "memfd_create: ", "memfd_create: "),
    ("userfaultfd", None, 0, None, None),
    ("landlock_create_ruleset", None, 0, None, None),
    ("landlock_restrict_self", None, 0, "landlock", None),
    ("seccomp", None, 0, "seccomp: ", "seccomp: "),
    ("seccomp", 1, NEW_LISTENER, None, None),
    ("process_vm_readv", None, 0, None, None),
    ("ptrace", None, 0, None, None),
    ("pidfd_open", None, 0, "pidfd", None),
]
SNIPPET = ["run", "balance.json", "weeks.xlsx", "--snippet", "balance.txt", "-q"]
PLAIN = ["run", "plan.json", "in.csv", "--snippet", "same.py", "-q"]  # reads no workbook
PROGRAM = ["exec", "-c", "print(tables)"]  # takes twice the time to start
WORKBOOKS = [["convert", "report.xlsx", "--to", "csv", "-q"], ["convert", "report.xls", "--to", "csv", "-q"]]


def wrong(got, usual, word, code):
    if not word:
        return "" if got == usual else "exit %d %s, usually %d" % (got[0], got[2], usual[0])
    if got[0] != 8 or word not in got[2] or os.strerror(code) not in got[2]:
        return "exit %d %s, expected 8 with '%s' and '%s'" % (got[0], got[2], word, os.strerror(code))
    return "" if "next: " in got[2] else "no next step: " + got[2]


def doctored(got, word):
    """doctor must report about the jail what a run finds."""
    told = json.loads(got[1])["selftest"]
    if told["ok"] != (word is None) or got[0] != (8 if word else 0):
        return "doctor: exit %d %s" % (got[0], told)
    return "" if told["ok"] or word in told["error"] and told["next"] else "doctor: %s" % told


def main():
    dtx, few = os.path.abspath(sys.argv[1]), sys.argv[2:] == ["few"]
    fixtures = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures")
    failed = count = 0

    def job(args, *denied_call):
        """Uses a fresh store, so that the snippet is not cached."""
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run([dtx, *args], capture_output=True, stdin=subprocess.DEVNULL, timeout=600, text=True,
                                  env={**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "DTX_STORE": home + "/s.db",
                                       "DTX_NO_WARM": "1"},
                                  preexec_fn=lambda: denied_call and deny(*denied_call))
        return done.returncode, done.stdout, done.stderr

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in ("xlsx/weeks.xlsx", "xlsx/report.xlsx", "xls/report.xls", "plans/balance.json",
                     "snippets/balance.txt"):
            shutil.copy(os.path.join(fixtures, path), ".")
        for name, text in (("plan.json", '{"dtx":1,"steps":[{"op":"do_the_impossible"}]}'), ("in.csv", "a,b\n1,x\n"),
                           ("same.py", "def transform(tables, params):\n    return tables['main']\n")):
            with open(name, "w", encoding="utf-8") as f:
                f.write(text)
        jobs = (PLAIN, *WORKBOOKS) if few else (SNIPPET, PROGRAM, *WORKBOOKS)
        usual = {tuple(args): job(args) for args in jobs}
        wrecked = [" ".join(args) for args in jobs if usual[tuple(args)][0]]
        if wrecked:
            sys.exit("failed without any denial: %s" % wrecked)
        layers = json.loads(job(["doctor", "--jail", "--json"])[1])["selftest"].get("layers", "")
        for n, (call, arg, bits, jailed, read) in enumerate(CASES):
            # without namespaces, Landlock is the only layer that keeps files out of reach
            last = call == "landlock_create_ruleset" and "userns" not in layers
            jailed = "no landlock" if last else jailed
            for code in [errno.EPERM, errno.ENOSYS][n % 2 if few else 0:n % 2 + 1 if few else 2]:
                said = []
                for args, word in [(PLAIN, jailed), (WORKBOOKS[n % 2], read)] if few else \
                        [(SNIPPET, read or jailed), (PROGRAM, jailed), *((w, read) for w in WORKBOOKS)]:
                    said.append(wrong(job(args, call, code, arg, bits), usual[tuple(args)], word, errno.EPERM if last else code))
                if not few:
                    said.append(doctored(job(["doctor", "--jail", "--json"], call, code, arg, bits), jailed))
                said = [s for s in said if s]
                count, failed = count + 1, failed + bool(said)
                print("%s - %s%s gives %s%s" % ("not ok" if said else "ok", call, " with 0x%x" % bits if bits else "",
                                                errno.errorcode[code], "".join("\n# " + s.strip().replace("\n", "\n# ")
                                                                               for s in said)), flush=True)
        # programs that dtx starts outside the jail
        with open("sort.json", "w", encoding="utf-8") as f:
            f.write('{"dtx":1,"steps":[{"op":"sort","by":["a"]}]}')
        with open("long.csv", "w", encoding="utf-8") as f:
            f.write("a,b\n" + "1,x\n" * 600000)
        got = job(["run", "sort.json", "long.csv", "--engine", "local://2", "-q"], "clone3", errno.EPERM)
        ok = got[0] == 8 and "denies clone3 must answer with ENOSYS" in got[2] and "--memory" not in got[2]
        count, failed = count + 1, failed + (not ok)
        print("%s - a fragment without clone3%s" % ("ok" if ok else "not ok", "" if ok else "\n# exit %d %s" % (got[0], got[2])))
        os.chdir("/")
    print("%d passed, %d failed" % (count - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
