#!/usr/bin/python3
"""Scores `dtx suggest` on tables whose tidy form is known: how often its first proposal, or one of its first three, makes
the wanted table from the input alone; how often the first plan does it with the wanted table as example; and how often
a sure proposal is made for a table that is tidy already.

usage: suggest.py DTX SET... [--list] [--only KIND]
       suggest.py DTX --speed     processor seconds for tables of 1,000 rows and 500 columns, which should be below 2

SET is `tune` or `unseen` (tables made here: a tidy table goes through an inverse operation, and the way back is asked
for; the two differ in seeds and words), or a folder: of JSON cases in the forms of Falx or Foofah, or of tidy .csv files.
`unseen` is for reports: do not tune on it."""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import product

BLANK = {"", "nan", "none", "null", "na", "n/a", "nat"}
WORDS = {
    "tune": {"place": "Oslo Rome Bern Kyiv Lima Cairo Delhi Tokyo Paris Quito Accra Hanoi".split(),
             "person": "Ann Bob Cid Dee Eva Finn Gus Hal Ida Jon Kim Leo".split(),
             "product": ["Desk lamp", "Chair", "Oak table", "Sofa", "Shelf", "Bed frame", "Mirror", "Rug"],
             "team": "Alpha Beta Gamma Delta Omega Sigma".split(), "status": ["open", "closed", "late", "on hold"],
             "tag": "fiction drama comedy action horror romance thriller western".split(),
             "measure": "revenue cost units profit returns".split()},
    "unseen": {"place": "Texas Ohio Maine Utah Iowa Nevada Oregon Idaho Kansas Florida Georgia Alaska".split(),
               "person": "Smith Jones Brown Taylor Wilson Davies Evans Thomas Roberts Walker White Green".split(),
               "product": ["Espresso", "Flat white", "Green tea", "Mocha", "Cocoa", "Iced latte", "Chai", "Matcha"],
               "team": "North South East West Centre Overseas".split(), "status": ["yes", "no", "pending"],
               "tag": "python sql java rust cooking chess hiking sailing".split(),
               "measure": "births deaths population income area".split()},
}
NAMES = {"place": ["City", "Region", "Location"], "person": ["Name", "Employee", "Student"], "product": ["Product", "Item"],
         "team": ["Team", "Division"], "status": ["Status", "State"]}
SERIES = [lambda r: [str(y) for y in range(r.randint(1990, 2015), 2020)][-r.randint(3, 9):],
          lambda r: "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[:r.choice([3, 6, 12])],
          lambda r: ["Q1", "Q2", "Q3", "Q4"], lambda r: ["Mon", "Tue", "Wed", "Thu", "Fri"],
          lambda r: [f"Week {i}" for i in range(1, r.randint(4, 9))],
          lambda r: ["0-17", "18-34", "35-54", "55-74", "75+"],
          lambda r: [f"{y}-{m:02}" for y in (2023, 2024) for m in range(1, 13)][r.randint(0, 9):][:r.randint(3, 12)]]


def number(r, form):
    if form == 0:
        return str(r.randint(1, 99))
    if form == 1:
        return f"{r.uniform(0, 1000):.2f}"
    if form == 2:
        return f"{r.randint(1000, 999999):,}"
    if form == 3:
        return f"{r.uniform(0, 100):.1f}%"
    return str(r.randint(100, 90000))


class Maker:
    """Makes one case (input rows, wanted rows), both with a header, by the name of a kind."""

    def __init__(self, side, seed):
        self.r, self.w = random.Random(f"{side} {seed}"), WORDS[side]

    def ids(self, n, k):
        """k columns of labels, their rows distinct in the first: ([names], [rows])."""
        kinds = self.r.sample(["place", "person", "product"], 1) + self.r.sample(["team", "status"], k - 1)
        first = self.r.sample(self.w[kinds[0]], min(n, len(self.w[kinds[0]])))
        rows = [[f] + [self.r.choice(self.w[kd]) for kd in kinds[1:]] for f in first]
        return [self.r.choice(NAMES[kd]) for kd in kinds], rows

    def across(self):
        """Names of columns that are values: a series, or one word of a kind for each."""
        r = self.r
        if r.random() < 0.7:
            return r.choice(["Year", "Period", "When"]), r.choice(SERIES)(r)
        kind = r.choice(["place", "team"])
        return kind.title(), r.sample(self.w[kind], r.randint(4, 6))

    def wide(self, n=None, k=None):
        r = self.r
        head, rows = self.ids(n or r.randint(4, 12), k or r.randint(1, 3))
        name, series = self.across()
        form = r.randint(0, 4)
        gap = r.choice([0, 0, 0.1])
        body = [["" if r.random() < gap else number(r, form) for _ in series] for _ in rows]
        return head, rows, name, series, body

    def stack(self):
        head, rows, name, series, body = self.wide()
        return ([head + series] + [a + b for a, b in zip(rows, body)],
                [head + [name, "value"]] + [a + [s, v] for a, b in zip(rows, body) for s, v in zip(series, b)])

    def tidy(self, n=None):
        r = self.r
        head, rows = self.ids(n or r.randint(4, 12), r.randint(1, 3))
        ms = r.sample(self.w["measure"], r.randint(1, 4))
        forms = r.sample(range(5), len(ms))
        for row in rows:
            row += [number(r, f) for f in forms]
        if r.random() < 0.5:
            head.insert(1, "Date")
            for row in rows:
                row.insert(1, f"{r.randint(2019, 2024)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}")
        return head + ms, rows

    def grouped(self):
        """A long table sorted by one or two labels: (head, rows, how many labels)."""
        r, out = self.r, []
        k = r.choice([1, 1, 2])
        kinds = r.sample(["place", "team"], k)
        head = [r.choice(NAMES[x]) for x in kinds]
        item = r.choice(["person", "product"])
        groups = [r.sample(self.w[x], r.randint(2, 4)) for x in kinds]
        ms = r.sample(self.w["measure"], r.randint(1, 3))
        forms = [r.randint(0, 4) for _ in ms]
        for g in product(*groups):
            for it in r.sample(self.w[item], r.randint(2, 5)):
                out.append(list(g) + [it] + [number(r, f) for f in forms])
        return head + [r.choice(NAMES[item])] + ms, out, k

    def blank(self, rows, k):
        got, last = [], None
        for row in rows:
            got.append(list(row))
            for i in range(k):
                if last and last[:i + 1] == row[:i + 1]:
                    got[-1][i] = ""
            last = row
        return got

    def fill(self):
        head, rows, k = self.grouped()
        return [head] + self.blank(rows, k), [head] + rows

    def titles(self):
        head, rows, _ = self.grouped()
        while len(head) > len(rows[0]) or _ != 1:
            head, rows, _ = self.grouped()
        got, last = [], None
        for row in rows:
            if row[0] != last:
                got.append([row[0]] + [""] * (len(row) - 2))
            last = row[0]
            got.append(row[1:])
        return [head[1:]] + got, [head] + rows

    def explode(self):
        r = self.r
        head, rows = self.tidy()
        sep = r.choice([", ", ";", "; ", "|", " / ", "\n", ","])
        lists = [r.sample(self.w["tag"], r.randint(1, 4)) for _ in rows]
        at = r.randint(1, len(head))
        name = r.choice(["Genres", "Tags", "Skills", "Topic"])
        put = lambda row, v: row[:at] + [v] + row[at:]
        return ([put(head, name)] + [put(x, sep.join(t)) for x, t in zip(rows, lists)],
                [put(head, name)] + [put(x, v) for x, t in zip(rows, lists) for v in t])

    def groups(self):
        r = self.r
        head, rows = self.ids(r.randint(4, 10), r.randint(1, 2))
        ms = r.sample(self.w["measure"], r.randint(2, 3))
        series = r.choice([lambda: ["2021", "2022", "2023"], lambda: ["Q1", "Q2", "Q3", "Q4"], lambda: ["1", "2", "3"],
                           lambda: ["Jan", "Feb", "Mar"], lambda: r.sample(self.w["team"], 3)])()
        form = r.choice(["{m}_{s}", "{m} {s}", "{s} {m}", "{s}-{m}"] + (["{m}{s}"] if series[0] == "1" else []))
        pairs = list(product(series, ms)) if r.random() < 0.6 else [(s, m) for m in ms for s in series]
        kinds = dict(zip(ms, r.sample(range(5), len(ms))))
        body = [{p: number(r, kinds[p[1]]) for p in pairs} for _ in rows]
        return ([head + [form.format(s=s, m=m) for s, m in pairs]] + [a + [b[p] for p in pairs] for a, b in zip(rows, body)],
                [head + ["period"] + ms] + [a + [s] + [b[s, m] for m in ms] for a, b in zip(rows, body) for s in series])

    def records(self):
        head, rows = self.tidy(self.r.randint(3, 8))
        if self.r.random() < 0.3:
            rows = [[c if i == 0 or self.r.random() > 0.1 else "" for i, c in enumerate(x)] for x in rows]
        sep = self.r.choice([None, None, ": "])
        got = [[h, v] if sep is None else [h + sep + v] for x in rows for h, v in zip(head, x)]
        return (got if self.r.random() < 0.5 else [["field", "content"][:len(got[0])]] + got), [head] + rows

    def transpose(self):
        head, rows = self.tidy(self.r.randint(3, 6))
        while len(head) < 4:
            head, rows = self.tidy(self.r.randint(3, 6))
        return [list(c) for c in zip(head, *rows)], [head] + rows

    def fill_stack(self):
        r = self.r
        head, rows, k = self.grouped()
        head, rows = head[:k + 1], [x[:k + 1] for x in rows]
        name, series = self.across()
        form = r.randint(0, 4)
        body = [[number(r, form) for _ in series] for _ in rows]
        return ([head + series] + [a + b for a, b in zip(self.blank(rows, k), body)],
                [head + [name, "value"]] + [a + [s, v] for a, b in zip(rows, body) for s, v in zip(series, b)])

    def kinds(self):
        """Columns named by the kinds of one thing, which are no series."""
        r = self.r
        head, rows = self.ids(r.randint(4, 10), 1)
        names = r.sample(self.w["tag"], r.randint(4, 6))
        form = r.choice([0, 3])
        body = [[number(r, form) for _ in names] for _ in rows]
        return ([head + names] + [a + b for a, b in zip(rows, body)],
                [head + ["name", "value"]] + [a + [s, v] for a, b in zip(rows, body) for s, v in zip(names, b)])

    def blocks(self):
        """The same columns two or three times side by side."""
        r = self.r
        item, n, k = r.choice(["person", "product"]), r.randint(3, 4), 2
        form = r.randint(0, 2)
        rows = [[str(i + 1), x, number(r, form)] for i, x in enumerate(r.sample(self.w[item], n * k))]
        head = ["Rank", r.choice(NAMES[item]), self.w["measure"][0]]
        return [head * k] + [sum((rows[i + n * j] for j in range(k)), []) for i in range(n)], [head] + rows

    def sections(self):
        """Section titles after a first row without one; the same labels in each section."""
        r = self.r
        head, labels = [r.choice(NAMES["product"])] + r.sample(self.w["measure"], 3), r.sample(self.w["product"], r.randint(2, 4))
        got = [["All"] + [number(r, 0) for _ in head[1:]]]
        want = [["", *got[0]]]
        for place in r.sample(self.w["place"], r.randint(2, 4)):
            got.append([place] + [""] * (len(head) - 1))
            for x in labels:
                got.append([x] + [number(r, 0) for _ in head[1:]])
                want.append([place, *got[-1]])
        return [head] + got, [["section"] + head] + want

    def titles_stack(self):
        head, rows, k = self.grouped()
        head, rows = head[k - 1:k + 1], [x[k - 1:k + 1] for x in rows]
        name, series = self.across()
        form, got, want, last = self.r.randint(0, 4), [], [], None
        for x in rows:
            if x[0] != last:
                got.append([x[0]] + [""] * len(series))
            last = x[0]
            v = [number(self.r, form) for _ in series]
            got.append(x[1:] + v)
            want += [x + [s, y] for s, y in zip(series, v)]
        return [head[1:] + series] + got, [head + [name, "value"]] + want


KINDS = "stack fill titles explode groups records transpose fill_stack titles_stack kinds blocks sections".split()


def made(side):
    for kind in KINDS:
        for i in range(12):
            yield (kind, i) + getattr(Maker(side, f"{kind} {i}"), kind)()
    for i in range(40):
        head, rows = Maker(side, f"tidy {i}").tidy()
        yield "tidy", i, [head] + rows, None


def records(rows):
    head = list(dict.fromkeys(k for r in rows for k in r))
    return [head] + [["" if r.get(k) is None else str(r[k]) for k in head] for r in rows]


def cases(where):
    if where in WORDS:
        yield from made(where)
        return
    for f in sorted(os.listdir(where)):
        path = os.path.join(where, f)
        if f.endswith(".csv"):
            with open(path, newline="", encoding="utf-8", errors="replace") as h:
                yield "tidy", f, list(csv.reader(h))[:2000], None
            continue
        try:
            with open(path) as h:
                d = json.load(h)
        except ValueError:
            continue
        if "InputTable" in d:
            yield "foofah", f, d["InputTable"], [[f"c{i}" for i in range(len(d["OutputTable"][0]))]] + d["OutputTable"]
        elif "input_data" in d and d.get("output_data"):
            got, want = records(d["input_data"]), records(d["output_data"])
            if set(got[0]) != set(want[0]) and not set(want[0]) < set(got[0]):
                yield "falx", f, got, want


def norm(text):
    text = " ".join(str(text).split())
    if text.lower() in BLANK:
        return ""
    plain = text.replace(",", "")
    try:
        if plain[-1:] == "%":
            return f"{float(plain[:-1]) / 100:.10g}"
        return f"{float(plain):.10g}"
    except ValueError:
        return text.casefold()


def same(a, b):
    """Whether two tables without headers are equal: columns are found by their contents, rows are in any order."""
    if len(a) != len(b) or not a or len(a[0]) != len(b[0]) or any(len(x) != len(a[0]) for x in a):
        return False
    a, b = [[norm(c) for c in r] for r in a], [[norm(c) for c in r] for r in b]
    sign = lambda t: [tuple(sorted(c)) for c in zip(*t)]
    sa, sb = sign(a), sign(b)
    if Counter(sa) != Counter(sb):
        return False
    options = [[i for i, s in enumerate(sa) if s == w] for w in sb]
    want, tries = Counter(map(tuple, b)), 0
    in_order = [options[i][sb[:i].count(w) % len(options[i])] for i, w in enumerate(sb)]  # many blank columns are alike
    for at in [in_order, *product(*options)] if max(map(len, options)) < 4 else [in_order]:
        tries += 1
        if len(set(at)) == len(at) and Counter(tuple(r[i] for i in at) for r in a) == want:
            return True
        if tries > 2000:
            break
    return False


def write(path, rows):
    width = max(map(len, rows))
    with open(path, "w", newline="") as h:
        csv.writer(h).writerows([list(map(str, r)) + [""] * (width - len(r)) for r in rows])


def speed(dtx):
    r = random.Random(5)
    word = lambda: "".join(r.choice("abcdefgh ") for _ in range(12))
    cells = {"numbers": lambda: r.randint(0, 999), "texts": word,
             "mixed": lambda: r.choice([r.randint(0, 999), f"w{r.randint(0, 50)}", "", "a;b;c", f"2020-01-{r.randint(1, 28):02}"])}
    names = {"numbers": lambda i: f"m{i % 6}_{i // 6 + 1960}", "texts": lambda i: f"name_{i}", "mixed": lambda i: f"col {i}"}
    for kind, cell in cells.items():
        write("in.csv", [["id"] + [names[kind](i) for i in range(499)]] + [[k] + [cell() for _ in range(499)] for k in range(1000)])
        took = []
        for _ in range(3):
            before = os.times()
            subprocess.run([dtx, "suggest", "--json", "in.csv"], stdout=subprocess.DEVNULL, check=True)
            after = os.times()
            took.append(after.children_user + after.children_system - before.children_user - before.children_system)
        print(f"{kind:8} {sorted(took)[1]:.2f} s")


def main():
    listing = "--list" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    args = [a for a in sys.argv[1:] if not a.startswith("--") and a != only]
    dtx, sets = os.path.abspath(args[0]), args[1:]
    os.chdir(tempfile.mkdtemp())
    if "--speed" in sys.argv:
        speed(dtx)
        return

    def suggest(*more):
        p = subprocess.run([dtx, "suggest", "--json", "in.csv", *more], capture_output=True, text=True)
        return json.loads(p.stdout) if p.returncode == 0 else []

    def result(plan):
        with open("plan.json", "w") as h:
            json.dump(plan, h)
        p = subprocess.run([dtx, "run", "plan.json", "in.csv", "-o", "out.csv", "--store", ":memory:"], capture_output=True, text=True)
        if p.returncode:
            return None
        with open("out.csv", newline="") as h:
            return list(csv.reader(h))[1:]

    for name in sets:
        if name not in WORDS and not os.path.isdir(name):
            print(f"{name}: skipped, no such folder")
            continue
        tally = {}
        for kind, i, got, want in cases(name):
            if only and kind != only:
                continue
            t = tally.setdefault(kind, Counter())
            write("in.csv", got)
            try:
                plans = suggest()
            except ValueError:
                plans = []
            t["n"] += 1
            if want is None:
                sure = [p for p in plans if p.get("sure", True)]
                t["false"] += bool(sure)
                if sure and listing:
                    print(kind, i, json.dumps(sure[0]["plan"]["steps"])[:150], sure[0]["score"], sure[0]["evidence"])
                continue
            right = [same(result(p["plan"]) or [], want[1:]) for p in plans[:3]]
            t["first"] += right[:1] == [True]
            t["three"] += any(right)
            t["silent"] += not plans
            t["sure"] += bool(plans) and plans[0].get("sure", True)
            t["surely wrong"] += bool(plans) and plans[0].get("sure", True) and not right[0]
            write("want.csv", want)
            try:
                found = suggest("--to", "want.csv")
            except ValueError:
                found = []
            hit = bool(found) and same(result(found[0]["plan"]) or [], want[1:])
            t["example"] += hit
            if listing and (right[:1] != [True] or not hit):
                print(kind, i, "first" if right[:1] != [True] else "", "" if any(right) else "three", "" if hit else "EXAMPLE",
                      *[(json.dumps(p["plan"]["steps"])[:110], round(p["score"], 2)) for p in plans[:2]])
        for kind, t in tally.items():
            if kind == "tidy":
                print(f"{name:8.8} tidy: {t['n']} tables, {t['false']} with a sure proposal ({t['false'] / t['n']:.1%})")
            else:
                print(f"{name[-8:]:8} {kind:12} {t['n']:4}: first {t['first']:3}  first three {t['three']:3}  silent {t['silent']:3}"
                      f"  sure {t['sure']:3}  surely wrong {t['surely wrong']:3}  with an example {t['example']:3}")
        total = sum((t for k, t in tally.items() if k != "tidy"), Counter())
        if total["n"]:
            print(f"{name[-8:]:8} {'all':12} {total['n']:4}: first {total['first'] / total['n']:.0%}  first three {total['three'] / total['n']:.0%}"
                  f"  silent {total['silent']}  sure {total['sure']}  surely wrong {total['surely wrong']}  with an example {total['example'] / total['n']:.0%}")


if __name__ == "__main__":
    main()
