"""Runs the pandas code of every example of every op in Debian's pandas; it must give what the example says.

Usage: examples.py DTX [NAME]   The engine's side is a unit test that runs the same examples.
"""
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


def compiled(dtx, example, folder):
    inputs = ["main", "other"] if example.get("with") is not None else ["main"]
    plan = {"dtx": 1, "inputs": [{"name": n} for n in inputs], "steps": [example["step"]]}
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([dtx, "compile", "plan.json"], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else None, done.stderr


def check(dtx, example, folder):
    """None, or what is wrong; "no form" where that is decided."""
    text, why = compiled(dtx, example, folder)
    if text is None:
        if example.get("error"):
            return None  # refused before any row is read
        if "no_translation" not in why:
            return why.strip()
        known = [v for k, v in NO_FORM.items() if '"%s"' % k in json.dumps(example["step"])]
        return "no form: " + (known or ["the op has no pandas text"])[0]
    tables = {"main": frame(example["in"])}
    if example.get("with") is not None:
        tables["other"] = frame(example["with"])
    got, problem = compare.run(text, tables, {})
    if example.get("error"):
        return None if problem else "no error, expected %s" % example["error"]
    if problem:
        return problem
    return compare.difference(written(example["out"], got), [short_row(row) for row in got])


def written(text, got):
    """Expected rows; where pandas has text, the text is what counts."""
    want = compare.rows(frame(text))
    head, *cells = parse(text)
    for row, mine, raw in zip(want, got, cells):
        for name, value in zip(head, raw):
            if isinstance(mine.get(name), str) and not isinstance(row[name], str):
                row[name] = value
    return [short_row(row) for row in want]


def short_row(row):
    return {compare.short(name): compare.short(value) for name, value in row.items()}


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
