"""Compares the engine with the pandas code that dtx makes for the same plan, run in the jail: examples of
ops, byte for byte.

Usage: agreement.py DTX [all | semantics | NAME]   Without an argument: the first example of
each op of tier 1; semantics: the rows of semantics.py that have a result.

Both have the same types of columns, because `expect` of the plan that runs in the jail gives them.
The numbers in the examples are written as dtx writes them, because pandas does not keep how a number
was written.  If a column joins ints and floats, or gets a new type, the engine still keeps the digits
of its source, and only the values are compared.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import examples  # noqa: E402
import semantics  # noqa: E402

dx = examples.dx
TIER_1 = ("promote_header skip_rows drop_empty drop_rows subtitle_to_column fill transpose pivot_records select drop rename "
          "derive cast parse_date parse_number replace_values fill_null split_column filter sort limit distinct explode "
          "union pivot_longer pivot_wider group_by window join assert").split()


def cell(value, kind):
    if value is None:
        return ""
    text = dx.text_of(float(value)) if kind == "float" else dx.text_of(value)
    return '"%s"' % text.replace('"', '""') if not text or any(c in text for c in '",\r\n') or text != text.strip() else text


def canonical(text):
    """The same table, its numbers written as a result's."""
    table = examples.frame(text)
    columns = [[cell(v, dx.kind_of(table[name])) for v in dx.plain(table[name])] for name in table.columns]
    rows = [[cell(name, "text") for name in table.columns]] + [list(row) for row in zip(*columns)]
    return "".join(",".join(row) + "\n" for row in rows)


class Case:
    """One example in a folder of its own."""

    def __init__(self, dtx, example, folder):
        self.dtx, self.example, self.folder = dtx, example, folder
        folder.mkdir()
        self.tables = {"main": canonical(example["in"])}
        if example.get("with") is not None:
            self.tables["other"] = canonical(example["with"])
        for name, text in self.tables.items():
            (folder / (name + ".csv")).write_text(text)

    def plan(self, name, more=(), expect=None):
        plan = {"dtx": 1, "inputs": [{"name": n} for n in self.tables], "steps": [self.example["step"], *more]}
        (self.folder / name).write_text(json.dumps(dict(plan, expect=expect) if expect else plan))

    def dtx_does(self, *args):
        return subprocess.run([self.dtx, *args], cwd=self.folder, capture_output=True, text=True, timeout=100)

    def run(self, plan, out, *args):
        return self.dtx_does("run", plan, "-o", out, *args, *("%s=%s.csv" % (n, n) for n in self.tables))

    def types(self):
        """What the engine's result consists of, as a plan can expect it."""
        record = json.loads(self.dtx_does("provenance", "native.csv", "--json").stdout)
        schema = [c for c in record["outputs"][0]["schema"] if c["type"] not in ("null", "unknown")]
        return {"columns": [{"name": c["name"], "type": c["type"]} for c in schema]}

    def check(self):
        """None, or what is wrong; "no form" where compile has none."""
        self.plan("plan.json")
        done = self.dtx_does("compile", "--to", "snippet", "plan.json")
        if done.returncode:
            return "no form" if "no_translation" in done.stderr else done.stderr.strip()
        (self.folder / "snippet.py").write_text(done.stdout)
        native = self.run("plan.json", "native.csv", "--fallback", "off")
        if native.returncode:
            return native.stderr.strip()
        self.plan("other.json", [{"op": "by_hand"}], self.types())  # an op that does not exist, so that the fallback runs
        jailed = self.run("other.json", "jailed.csv", "--fallback", "plan", "--snippet", "snippet.py")
        if jailed.returncode:
            return "in the jail: " + jailed.stderr.strip()
        return different(*((self.folder / name).read_text() for name in ("native.csv", "jailed.csv")))


def different(native, jailed):
    if native == jailed or short(native) == short(jailed):
        return None
    return "engine %r, jail %r" % (native, jailed)


def short(text):
    """Cells, their numbers without zeros at their end."""
    return [[re.sub(r"\.$", "", str(compare.short(cell))) for cell in row] for row in examples.parse(text)]


def examples_of(dtx, only):
    """Names and examples that have a result."""
    ops = json.loads(subprocess.run([dtx, "ops", "--json"], capture_output=True, text=True, timeout=60).stdout)
    out = []
    for op in ops:
        good = [("%s %d" % (op["name"], i + 1), e) for i, e in enumerate(op["examples"]) if not e.get("error")]
        if only == "all" or only == op["name"]:
            out += good
        elif not only and op["name"] in TIER_1:
            out += good[:1]
    if only in ("all", "semantics"):
        keys = ("step", "in", "out", "with")
        out += [(row[0], dict(zip(keys, row[1:]))) for row in semantics.TABLE if row[3] is not None]
    return out


def main():
    dtx, only = os.path.realpath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    counts = {"ok": 0, "not ok": 0, "no form": 0}
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(2) as pool:
        os.environ["DTX_STORE"] = os.path.join(tmp, "store.db")
        cases = [(name, Case(dtx, example, pathlib.Path(tmp) / re.sub(r"\W", "_", name)))
                 for name, example in examples_of(dtx, only)]
        for (name, case), found in zip(cases, pool.map(lambda c: c[1].check(), cases)):
            counts["ok" if not found else found if found == "no form" else "not ok"] += 1
            if found == "no form":
                print("ok - %s # SKIP no pandas form" % name)
            elif found:
                print("# %s\n# %s\nnot ok - %s" % (json.dumps(case.example["step"]), found, name))
    print("%d passed, %d failed, %d skipped" % tuple(counts.values()))
    return counts["not ok"] != 0


if __name__ == "__main__":
    sys.exit(main())
