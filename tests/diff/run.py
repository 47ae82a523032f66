"""Random tables and plans: the engine against each op's own pandas text in Debian's pandas,
and against SQLite where the plan has a form in SQL.

Usage: run.py DTX [PLANS] [SEED]
A difference is a bug or a line of known.tsv (pattern, reason); a line that no longer differs fails.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import generate  # noqa: E402


def native(dtx, plan, tables, folder):
    (folder / "plan.json").write_text(json.dumps(plan))
    args = [dtx, "run", "plan.json", "--fallback", "off", "--threads", str(random.choice([1, 2, 8])),
            "--batch-rows", str(random.choice([1, 7, 65536])), "--to", "jsonl"]
    args += [f"{name}={name}.csv" for name in tables]
    done = subprocess.run(args, cwd=folder, capture_output=True, text=True, timeout=60)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, rows, done.stderr


def compiled(dtx, plan, folder, to):
    """What `dtx compile` prints, or why it does not."""
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([dtx, "compile", "--to", to, "plan.json"], cwd=folder, capture_output=True, text=True, timeout=60)
    if done.returncode:
        return None, done.stderr
    return done.stdout, ""


def against_sql(dtx, plan, tables, folder, rows, counts):
    """What differs from SQLite, where the plan has a form in SQL and the engine a result."""
    text, why = compiled(dtx, plan, folder, "sql")
    if text is None:
        return None if "no_translation" in why else f"compile to SQL failed: {why.strip()}"
    got, problem = compare.run_sql(text, tables)
    counts["sql"] = counts.get("sql", 0) + 1
    found = problem or compare.difference(rows, got)
    return found and "SQL: " + found.replace("pandas", "SQLite")


def one(dtx, seed, folder, counts):
    random.seed(seed)
    tables, plan = generate.case()
    for name, table in tables.items():
        (folder / f"{name}.csv").write_text(generate.to_csv(table))
    code, rows, err = native(dtx, plan, tables, folder)
    text, why = compiled(dtx, plan, folder, "pandas")
    if text is None and "no_translation" in why:
        return "no translation"
    if text is None:  # refused before any row, by both or wrongly
        return "refused" if code else f"compile failed: {why.strip()}"
    expected, problem = compare.run_module(text, tables, plan)
    if problem or code:
        return "refused" if problem and code else f"engine exit {code} {err.strip()[:300]}; pandas {problem}"
    return compare.difference(rows, expected) or against_sql(dtx, plan, tables, folder, rows, counts)


def main():
    dtx, count = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    known = [line.split("\t") for line in (HERE / "known.tsv").read_text().splitlines() if line and line[0] != "#"]
    seen, passed, failed, skipped, refused, counts = set(), 0, 0, 0, 0, {}
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        os.environ["DTX_STORE"] = str(folder / "store.db")
        for seed in range(first, first + count):
            found = one(dtx, seed, folder, counts)
            hit = next((i for i, (pattern, _) in enumerate(known) if found and pattern in found), None)
            if found == "no translation":
                skipped += 1
            elif found == "refused":
                refused += 1
                passed += 1
            elif found and hit is None:
                failed += 1
                print(f"# seed {seed}: {found}\n# {(folder / 'plan.json').read_text()}\nnot ok - plan {seed}")
            else:
                seen.add(hit)
                passed += 1
    for i, (pattern, _) in enumerate(known):
        if i not in seen and count >= 1000:
            failed += 1
            print(f"not ok - known difference is gone: {pattern}")
    if skipped:
        print(f"ok - plans without a pandas text # SKIP {skipped} plans hold an op that has none")
    print(f"# {refused} plans were refused by both, {counts.get('sql', 0)} ran in SQLite too")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
