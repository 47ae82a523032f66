"""Compares plans as an analyst writes them, over tables of a shop, with plain pandas on the same tables (without dx,
which follows dtx where it differs from pandas).

Usage: analyst.py DTX [NAME]
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import analyst_plans  # noqa: E402


def tables():
    """Orders with ties, gaps and missing cells; customers, one of whom ordered nothing; rates by day; targets."""
    rng = random.Random(20240229)
    rows = []
    for i in range(160):
        day = pd.Timestamp("2024-01-01") + pd.Timedelta(days=rng.randrange(120))
        rows.append({
            "id": 1000 + i, "day": day.strftime("%Y-%m-%d"), "customer": rng.choice(["C1", "C2", "C3", "C4", None]),
            "region": rng.choice(["North", "South", "East", None, "North"]),
            "product": rng.choice(["Widget", "Gadget", "Gizmo", "Émile's Box"]),
            "qty": rng.choice([1, 2, 3, 5, 8, 13, None]), "price": round(rng.uniform(1, 250), 2),
            "tags": rng.choice(["a;b", "b", "c; a", None, "b;;c"]), "paid": rng.choice([True, False, None])})
    orders = pd.DataFrame(rows)
    orders["qty"] = orders["qty"].astype("Int64")
    orders["paid"] = orders["paid"].astype("boolean")
    customers = pd.DataFrame({"customer": ["C1", "C2", "C3", "C9"], "name": ["Ann", "Bob", "Cy", "Dee"],
                              "segment": ["Retail", "Corporate", "Retail", "Corporate"]})
    days = pd.date_range("2024-01-03", periods=30, freq="4D")
    rates = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "rate": [round(1 + i * 0.01, 2) for i in range(30)]})
    targets = pd.DataFrame({"region": ["North", "South", "East"], "lo": [0, 100, 200], "hi": [100, 200, 400],
                            "band": ["S", "M", "L"]})
    return {"orders": orders, "customers": customers, "rates": rates, "targets": targets}


def plain(v):
    if v is None or v is pd.NA or v is pd.NaT or isinstance(v, float) and np.isnan(v):
        return None
    if isinstance(v, pd.Timestamp):
        return v.strftime("%Y-%m-%d" if v == v.normalize() else "%Y-%m-%dT%H:%M:%S")
    return v.item() if hasattr(v, "item") else v


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None or isinstance(a, str):
        return a == b and type(a) is type(b)
    return not isinstance(b, str) and abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def difference(got, expected):
    want = [{str(k): plain(v) for k, v in row.items()} for row in expected.to_dict("records")]
    names = [str(c) for c in expected.columns]
    if got and list(got[0]) != names:
        return "columns %s, expected %s" % (list(got[0]), names)
    if len(got) != len(want):
        return "%d rows, expected %d" % (len(got), len(want))
    for i, (g, w) in enumerate(zip(got, want)):
        for name in names:
            if not same(g[name], w[name]):
                return "row %d, %s: %r, expected %r" % (i + 1, name, g[name], w[name])
    return None


def run(dtx, folder, steps, data, more):
    plan = {"dtx": 1, "inputs": [{"name": name, "path": name + ".csv"} for name in data], "steps": steps, **more}
    for name, table in data.items():
        if isinstance(table, str):
            (folder / (name + ".csv")).write_text(table)
            continue
        out = table.copy()
        for c in out:
            if out[c].dtype == "boolean":
                out[c] = out[c].map({True: "true", False: "false"})
        out.to_csv(folder / (name + ".csv"), index=False)
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([dtx, "run", "plan.json", "-q", "--fallback", "off", "--to", "jsonl"], cwd=folder,
                          capture_output=True, text=True, timeout=100,
                          env=dict(os.environ, DTX_STORE=str(folder / "store.db")))
    if done.returncode:
        return None, "exit %d %s" % (done.returncode, done.stderr.strip()[:400])
    return [json.loads(line) for line in done.stdout.splitlines()], None


def uncovered(dtx, plans):
    """Parameters of the catalogue that stand in no plan."""
    used = set()
    for steps in plans:
        for step in steps:
            used |= {(step["op"], key) for key in step}
    ops = json.loads(subprocess.run([dtx, "ops", "--json"], capture_output=True, text=True, timeout=60).stdout)
    return ["%s.%s" % (op["name"], p) for op in ops for p in op["params"] if (op["name"], p) not in used]


def main():
    dtx, only = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    shop, failed, count = tables(), 0, 0
    for name, steps, expect, *more in analyst_plans.plans(shop):
        if only not in name:
            continue
        count += 1
        more = dict(more[0]) if more else {}
        data = more.pop("data", shop)
        with tempfile.TemporaryDirectory() as folder:
            got, problem = run(dtx, pathlib.Path(folder), steps, data, more)
        problem = problem or difference(got, expect() if callable(expect) else expect)
        failed += problem is not None
        print("%s - analyst: %s%s" % ("not ok" if problem else "ok", name, "\n# " + problem if problem else ""))
    if not only:
        missing = uncovered(dtx, [steps for _, steps, *_ in analyst_plans.plans(shop)])
        count, failed = count + 1, failed + bool(missing)
        print("%s - analyst: every parameter stands in a plan%s"
              % ("not ok" if missing else "ok", "\n# " + ", ".join(missing) if missing else ""))
    print("%d passed, %d failed" % (count - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
