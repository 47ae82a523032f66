"""Runs the pandas program of every example of every op in Debian's pandas: from CSV to CSV, without dtx. It must
give what the example says.

Usage: examples.py DTX [NAME]   The engine's side is a unit test that runs the same examples.
"""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import pandas as pd  # noqa: E402

dx = compare.dx
# Examples that have no pandas form on purpose: what is missing and why.
NO_FORM = {
    "auto": "the header finder looks at cells, which a pandas table has not",
    "merged": "a pandas table has no merged cells",
}


def parse(text):
    """Rows of a CSV; an unquoted empty cell is null."""
    sep = ";" if ";" in text.split("\n")[0] and "," not in text.split("\n")[0] else ","
    rows, row, cell, quoted, inside = [], [], "", False, False
    for i, c in enumerate(text):
        if inside:
            inside = c != '"'
            cell += "" if c == '"' else c
        elif c == '"':
            cell += '"' if quoted and text[i - 1] == '"' else ""
            quoted = inside = True
        elif c in (sep, "\n"):
            row.append(cell if cell or quoted else None)
            cell, quoted = "", False
            if c == "\n":
                rows.append(row)
                row = []
        else:
            cell += c
    return rows


def frame(text):
    head, *rows = parse(text)
    columns = {name: pd.Series([r[i] for r in rows], dtype=object) for i, name in enumerate(head)}
    return dx.retype(pd.DataFrame(columns, index=range(len(rows))))


def inputs_of(example):
    return {"main": example.get("in"), "other": example["with"]} if example.get("with") is not None else {"main": example.get("in")}


def compiled(dtx, example, folder, to="snippet", files=()):
    plan = {"dtx": 1, "inputs": [{"name": n} for n in inputs_of(example)], "steps": [example["step"]]}
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([dtx, "compile", "--to", to, "plan.json", *files], cwd=folder, capture_output=True, text=True,
                          timeout=60)
    return done.stdout if done.returncode == 0 else None, done.stderr


def run_program(text, files):
    """The result of a compiled program, as CSV, or what it printed. Its module `dx` is inside it."""
    scope, said = {"__name__": "program"}, io.StringIO()
    exec(compile(text, "program.py", "exec"), scope)
    assert not [line for line in text.split("\n") if line.startswith(("import dx", "from "))]
    with tempfile.TemporaryDirectory() as tmp, contextlib.redirect_stderr(said):
        out = pathlib.Path(tmp) / "out.csv"
        status = scope["main"](["program.py", *map(str, files), str(out)])
        return (None, said.getvalue()) if status else (out.read_bytes().decode(), None)


def check(dtx, example, folder):
    """None, or what is wrong; "no form" where that is decided."""
    files = {}
    for name, table in inputs_of(example).items():
        files[name] = folder / (name + ".csv")
        files[name].write_bytes(table.encode())
    text, why = compiled(dtx, example, folder, "pandas", ["%s=%s" % pair for pair in files.items()])
    if text is None:
        if example.get("error"):
            return None  # refused before any row is read
        if "no_translation" not in why:
            return why.strip()
        known = [v for k, v in NO_FORM.items() if '"%s"' % k in json.dumps(example["step"])]
        return "no form: " + (known or [why.split("\n")[0]])[0]
    got, problem = run_program(text, files.values())
    if example.get("error"):
        return None if problem else "no error, expected %s" % example["error"]
    return problem or compare.difference(*([{compare.short(k): compare.short(v) for k, v in row.items()}
                                           for row in compare.rows(frame(t))] for t in (example["out"], got)))


def main():
    dtx, only = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    ops = json.loads(subprocess.run([dtx, "ops", "--json"], capture_output=True, text=True, timeout=60).stdout)
    passed = failed = 0
    without = {}
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["DTX_STORE"] = os.path.join(tmp, "store.db")
        for op in ops:
            for i, example in enumerate(op["examples"]):
                if only not in op["name"]:
                    continue
                found = check(dtx, example, pathlib.Path(tmp))
                if found and found.startswith("no form: "):
                    without.setdefault((op["name"], found[9:]), i + 1)
                elif found:
                    failed += 1
                    print("# %s\n# %s\nnot ok - %s %d" % (json.dumps(example["step"]), found, op["name"], i + 1))
                else:
                    passed += 1
    for (name, why), first in without.items():
        print("ok - %s from example %d on # SKIP %s" % (name, first, why))
    print("%d passed, %d failed, %d skipped" % (passed, failed, len(without)))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
