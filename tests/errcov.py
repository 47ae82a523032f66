"""Which places that raise an error no test has reached.  A place is a call of dtx_err_set, or of what stands
for it with a text of its own.  Two witnesses: the list that core/base/err.c keeps in this build, which also
knows workers that never exit normally, and gcov's line counts for calls that only lead to such a place.

errcov.allow has the places that no test can reach: a line for those with one code in one function (or in a file,
`file:*`), with tabs between file:function, code, how many they are (0-1: none or one, as it happens), and the reason.  Exit status 1
when a place is neither reached nor allowed, and when a line says more places than are left unreached, or less.

usage: errcov.py BUILD-FOLDER [all]    (all: out of memory as well)
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

# Raise on the line where they stand.
DIRECT = ["DTX_FAIL", "DTX_FAIL_MEM", "DTX_PARAM_FAIL", "dtx_err_set"]
# Raise on behalf of their caller, with its code or text; the static ones with their file.
ON_BEHALF = ["dtx_bind_fail", "dtx_bind_fail_next", "dtx_bind_misfit", "dtx_part_fail", "dtx_part_unknown",
             "dtx_resolve_fail", "dtx_parse_limit", "dtx_re_bad", "dtx_re_unsupported", "dtx_xls_fail",
             "dtx_jrows_refuse", "dtx_archive_limits_fail"]
ON_BEHALF_HERE = {
    "core/base/param/param_frame.c": ["frame_wrong"],
    "core/expr/resolve/resolve_call.c": ["bad_arity"],
    "core/fallback/job_prompt.c": ["prompt_nobody_step", "prompt_nobody_input"],
    "core/io/archive/cfb.c": ["corrupt"],
    "core/io/csv/csv_ref.c": ["ref_fault"],
    "core/io/csv/csv_row.c": ["row_fault"],
    "core/io/archive/gzip.c": ["damaged"],
    "core/io/json/json_layout.c": ["no_records"],
    "core/io/json/json_scan.c": ["fail"],
    "core/plan/parse/alias.c": ["refuse"],
    "core/plan/parse/cols.c": ["bad"],
    "core/plan/compile/compile_sql.c": ["refuse"],
    "ops/join/join_check.c": ["fail_with"],
    "ops/values/op_parse_date.c": ["misfit"],
    "ops/values/op_parse_number.c": ["misfit"],
    "ops/reshape/op_pivot_records.c": ["blame"],
    "sandbox/reader/reader_super.c": ["broke", "refused"],
}
MACRO = re.compile(r"^#define +(\w+)\((?:.|\\\n)*?\b(?:DTX_FAIL|DTX_PARAM_FAIL|dtx_err_set|dtx_xml_fail)\(.*", re.M)
FUNCTION = re.compile(r"^\w[\w *]*?\b(\w+)\(")
NOT_A_CALL = re.compile(r"^(\w|#define|\s*\*|/\*)")
CODE = re.compile(r"\bDTX_[EW]_\w+")

Place = collections.namedtuple("Place", "path first last how function code text")


def sources():
    for folder in ("core", "ops", "sandbox", "cli"):
        yield from glob.glob(folder + "/**/*.c", recursive=True)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def macros(text):
    """name -> code of the macros that raise."""
    found = {}
    for hit in MACRO.finditer(text):
        code = CODE.search(hit.group(0))
        found[hit.group(1)] = code.group(0) if code else "-"
    return found


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


def places(path, shared):
    text = read(path)
    codes = {**shared, **macros(text)}
    names = set(DIRECT) | set(codes) | set(ON_BEHALF) | set(ON_BEHALF_HERE.get(path, []))
    raises = re.compile(r"\b(%s)\(" % "|".join(sorted(names)))
    lines, function = text.split("\n"), "-"
    for i, line in enumerate(lines):
        head = FUNCTION.match(line)
        if head:
            function = head.group(1)
        hit = raises.search(line)
        if not hit or NOT_A_CALL.match(line) or lines[i - 1].endswith("\\"):
            continue
        end = call_end(lines, i, hit.start())
        call = " ".join(s.strip() for s in lines[i:end + 1])
        code = CODE.search(call)
        code = code.group(0) if code else codes.get(hit.group(1), "-")
        handed = hit.group(1) == "dtx_err_set" and "__FILE__" not in call  # the place is its caller's
        if code != "DTX_E_BUG" and not handed:
            yield Place(path, i + 1, end + 1, hit.group(1), function, code, call)


def line_counts(build):
    counts = collections.Counter()
    data = [os.path.abspath(p) for p in glob.glob(build + "/**/*.gcda", recursive=True)]
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


def raised(build):
    with open(os.path.join(build, "raised"), "rb") as f:
        text = f.read()[8:].split(b"\0", 1)[0].decode()
    return {(p, int(n)) for p, n in (x.rsplit(":", 1) for x in text.split("\n") if ":" in x)}


def allowed():
    """(file:function, code, numbers of places) of each line."""
    lines = read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "errcov.allow")).split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    bad = [r for r in rows if len(r) != 4 or not r[3]]
    if bad:
        sys.exit(f"errcov.allow: a line has file:function, code, number and reason: {bad[0]}")
    spans = [(where, code, [int(i) for i in n.split("-")]) for where, code, n, _ in rows]
    return [(where, code, range(n[0], n[-1] + 1)) for where, code, n in spans]


def fits(line, place):
    where, code, _ = line
    return code == place.code and where in (f"{place.path}:{place.function}", f"{place.path}:*")


def main():
    build = sys.argv[1]
    shared = {}
    for path in glob.glob("core/**/*.h", recursive=True) + glob.glob("ops/**/*.h", recursive=True):
        shared.update(macros(read(path)))
    counts, seen, lines = line_counts(build), raised(build), allowed()
    groups = collections.defaultdict(lambda: ([], []))
    for path in sorted(sources()):
        for p in places(path, shared):
            direct = p.how in DIRECT or p.how in shared or p.how.isupper()
            there = any((path, n) in seen or (not direct and counts[path, n]) for n in range(p.first, p.last + 1))
            groups["out of memory" if p.code == "DTX_E_NO_MEMORY" or p.how == "DTX_FAIL_MEM" else "other"][there].append(p)
    missing, _ = groups["other"]
    found = [sum(fits(line, p) for p in missing) for line in lines]
    left = [p for p in missing if not any(fits(line, p) for line in lines)]
    wrong = [(line, n) for line, n in zip(lines, found) if n not in line[2]]
    for p in left + (groups["out of memory"][0] if "all" in sys.argv[2:] else []):
        print(f"{p.path}:{p.first}: {p.function}: {p.text[:150]}")
    for (where, code, n), there in wrong:
        print(f"errcov.allow: {where} {code}: {n[-1]} places allowed, {there} are unreached")
    for kind, (no, yes) in groups.items():
        print(f"# {kind}: {len(yes)} of {len(no) + len(yes)} places reached")
    print(f"# {len(lines)} lines allow {len(missing) - len(left)} places, {len(left)} neither reached nor allowed, {len(wrong)} lines wrong")
    return 1 if left or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
