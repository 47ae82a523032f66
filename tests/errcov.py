"""Which places that raise an error no test has reached.  Two witnesses: gcov's line counts, and the
list that core/base/err.c keeps in this build, which also knows workers that never exit normally.

usage: errcov.py BUILD-FOLDER [all]    (all: out of memory as well)
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

BUILD = sys.argv[1]
PLACE = re.compile(r"\b(DTX_FAIL|DTX_FAIL_MEM|DTX_PARAM_FAIL|dtx_err_set|dtx_bind_fail|dtx_part_fail|dtx_part_unknown"
                   r"|dtx_resolve_fail|EXPECT_BAD|RULE_BAD)\(")
DEFINES = re.compile(r"^(enum|static|#define|DTX_MUSTUSE| \*|/\*)")


def sources():
    for pattern in ("core/*/*.c", "ops/*.c", "sandbox/*.c", "cli/*.c"):
        yield from glob.glob(pattern)


def call_end(lines, i, at):
    """Last line of the call that starts in line i."""
    depth, text = 0, lines[i][at:]
    for k in range(i, min(i + 12, len(lines))):
        for c in text:
            depth += (c == "(") - (c == ")")
            if c == ")" and not depth:
                return k
        text = lines[k + 1] if k + 1 < len(lines) else ""
    return i


def places(path):
    """(first line, last line, text) of each."""
    lines = open(path).read().split("\n")
    for i, line in enumerate(lines):
        hit = PLACE.search(line)
        if not hit or DEFINES.match(line):
            continue
        end = call_end(lines, i, hit.start())
        text = " ".join(s.strip() for s in lines[i:end + 1])
        if "DTX_E_BUG" in text:
            continue
        yield i + 1, end + 1, hit.group(1), text


def line_counts():
    counts = collections.Counter()
    data = [os.path.abspath(p) for p in glob.glob(BUILD + "/**/*.gcda", recursive=True)]
    for i in range(0, len(data), 50):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *data[i:i + 50]],
                             capture_output=True, text=True, check=False).stdout
        for text in out.splitlines():
            if not text.startswith("{"):
                continue
            for f in json.loads(text)["files"]:
                for line in f["lines"]:
                    counts[f["file"], line["line_number"]] += line["count"]
    return counts


def raised():
    path = os.path.join(BUILD, "raised")
    if not os.path.exists(path):
        return set()
    with open(path, "rb") as f:
        text = f.read()[8:].split(b"\0", 1)[0].decode()
    return {(p, int(n)) for p, n in (x.rsplit(":", 1) for x in text.split("\n") if ":" in x)}


def main():
    counts, seen = line_counts(), raised()
    total = collections.Counter()
    reached = collections.Counter()
    for path in sorted(sources()):
        for first, last, how, text in places(path):
            kind = "out of memory" if how == "DTX_FAIL_MEM" or "DTX_E_NO_MEMORY" in text else "other"
            total[kind] += 1
            if any(counts[path, n] or (path, n) in seen for n in range(first, last + 1)):
                reached[kind] += 1
            elif kind == "other" or "all" in sys.argv[2:]:
                print(f"{path}:{first}: {text[:150]}")
    for kind in total:
        print(f"# {kind}: {reached[kind]} of {total[kind]} places reached")


main()
