#!/usr/bin/python3
"""Damages ordinary tables in one known way and reads them with `dtx convert` and `dtx convert --repair`.  Without
--repair they must be refused or read without a loss.  With it, each record that was not damaged must come out
exactly and in order; nothing of a damaged one may be lost; and each line that was dropped, joined, filled up or cut
must be listed, with the right count and first line.

usage: damaged_tables.py DTX [COUNT] [SEED] [--keep FOLDER]
By hand: damaged_tables.py build/dtx 3000 7; --keep keeps the files that came back changed."""
import concurrent.futures
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

COUNT, SEED, REFUSED = 250, 4, 0.05
WORKERS = 3

WORD = """red blue green Ann Bob Cy Eve Oslo Rome Bern Paris north south alpha beta gamma open closed low high
item box lamp chair table stone river cloud""".split()
NAMES = "name city note tag kind label owner town street colour shape brand".split()


def words(r, low=1, high=3):
    return " ".join(r.choice(WORD) for _ in range(r.randint(low, high)))


KINDS = {
    "word": lambda r: r.choice(WORD),
    "text": words,
    "sentence": lambda r: words(r, 2, 6).capitalize() + r.choice(["", ".", ", " + words(r) + ".", "; " + words(r), ' "%s"' % words(r)]),
    "day": lambda r: "%04d-%02d-%02d" % (r.randint(1990, 2030), r.randint(1, 12), r.randint(1, 28)),
    "small": lambda r: str(r.randint(0, 99)),
    "float": lambda r: "%.2f" % r.uniform(0, 900),
    "lines": lambda r: r.choice(["%s\n%s", "%s, a\n%s", "%s\n\n%s, b", "%s"]) .replace("%s", words(r)) if r.random() < 0.3 else words(r),
    "gaps": lambda r: r.choice(["", r.choice(WORD)]),
    "code": lambda r: "%s-%03d" % (r.choice("ABCX"), r.randint(0, 999)),
}


def table(r):
    """Names and rows: a counter, some columns, a price.  All records differ."""
    ncols, nrows = r.randint(1, 4), r.randint(6, 25)
    names = ["id"] + r.sample(NAMES, ncols) + ["price"]
    kinds = [r.choice(list(KINDS)) for _ in range(ncols)]
    if not set(kinds) & {"word", "text"}:
        kinds[0] = "text"
    rows = [[str(n + 1)] + [KINDS[k](r) for k in kinds] + ["%.2f" % r.uniform(1, 900)] for n in range(nrows)]
    return names, kinds, rows


class Case:
    """The lines of a file, each with the row that it is (or None), and what is expected of it."""

    def __init__(self, r):
        self.r = r
        self.names, self.kinds, self.rows = table(r)
        self.sep = r.choice(",,,;\t")
        self.quoting = r.choice([csv.QUOTE_MINIMAL] * 3 + [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        self.head = self.line(self.names)
        self.lines = [(self.line(row), row) for row in self.rows]
        self.above, self.below = [], []
        self.kind = None   # of the note
        self.listed = []   # lines that the note counts, as indexes of self.lines; "below", "above"
        self.count = None  # of the note, if it differs from the number of listed lines
        self.damaged = {}  # index of a line: the texts that have to be somewhere in its row; None: the line is dropped

    def line(self, row):
        out = io.StringIO()
        csv.writer(out, delimiter=self.sep, lineterminator="\n", quoting=self.quoting).writerow(row)
        return out.getvalue()[:-1]

    def cell(self, text):
        return text if text == "" and self.quoting == csv.QUOTE_MINIMAL else self.line([text])

    def pick(self, least=0, most=3):
        """Some lines, sorted."""
        return sorted(self.r.sample(range(least, len(self.lines)), self.r.randint(1, most)))

    def text_column(self):
        return 1 + self.r.choice([i for i, k in enumerate(self.kinds) if k in ("word", "text")])

    def write(self, at, cells):
        """The record with these texts, as they are, for cells."""
        plain = [str(c) if isinstance(c, Raw) else self.cell(c) for c in cells]
        self.lines[at] = (self.sep.join(plain), None)


class Raw(str):
    """A cell that is written without quotes, whatever it holds."""


def unclosed(c):
    col = c.text_column()
    for at in c.pick(most=2):
        row = c.rows[at][:]
        row[col] = Raw('"' + row[col])
        c.write(at, row)
        c.damaged[at] = [row[col]]
    c.kind = "quotes_kept"
    c.listed = sorted(c.damaged)


def stray(c):
    col = c.text_column()
    for at in c.pick(most=2):
        row = c.rows[at][:]
        text = row[col]
        row[col] = Raw(c.r.choice([text[:2] + '"' + text[2:], text + '"', 'x"%s" y' % text]))
        c.write(at, row)
        c.damaged[at] = [row[col]]
    c.kind = None  # a quote inside a cell without quotes is not an error


def short(c):
    for at in c.pick():
        row = c.rows[at][:-c.r.randint(1, len(c.names) - 1)]
        c.write(at, row)
        c.damaged[at] = row
    c.kind, c.listed = "rows_filled", sorted(c.damaged)


def wide(c):
    for at in c.pick():
        row = c.rows[at] + [Raw(c.r.choice(["more", "extra", "x1"])) for _ in range(c.r.randint(1, 2))]
        c.write(at, row)
        c.damaged[at] = row
    c.kind, c.listed = "rows_wide", sorted(c.damaged)


def again(c):
    for n, at in enumerate(c.pick(least=1, most=3)):
        c.lines.insert(at + n, (c.head, None))
        c.damaged[at + n] = None
    c.kind, c.listed = "rows_dropped", sorted(c.damaged)


def totals(c):
    """A last line of sums as wide as the table is a row like the others; a shorter one is filled up."""
    total = "%.2f" % sum(float(row[-1]) for row in c.rows)
    if c.r.random() < 0.5:
        row = ["Total"] + [""] * (len(c.names) - 2) + [total]
        c.lines.append((c.line(row), row))
        return
    row = ["Total", total]
    c.lines.append((c.sep.join(row), None if len(c.names) > 2 else row))
    if len(c.names) > 2:
        c.damaged[len(c.lines) - 1] = row
        c.kind, c.listed = ("rows_filled", "cells_moved"), sorted(c.damaged)


def thousands(c):
    """Numbers with commas and without quotes, in the last column of some records."""
    if c.kinds[-1] == "small":
        return comma(c)  # 70,807,250.92 may be two numbers in two ways
    style = c.r.choice(["price", "whole", "dollars"])
    for at, row in enumerate(c.rows if style != "price" else []):
        row[-1] = row[-1].split(".")[0] if style == "whole" else "$" + row[-1]
        c.lines[at] = (c.line(row), row)
    for at in c.pick(most=4):
        row = c.rows[at][:]
        number = c.r.uniform(1000, c.r.choice([9999, 99999, 9999999]))
        row[-1] = ("{:,.2f}" if style == "price" else "{:,.0f}" if style == "whole" else "${:,.2f}").format(number)
        c.write(at, row[:-1] + [Raw(row[-1])])
        if c.sep == ",":
            c.damaged[at] = row
        else:
            c.lines[at] = (c.lines[at][0], row)
    if c.sep == ",":
        c.kind, c.listed = "cells_joined", sorted(c.damaged)


def comma(c):
    """"Smith, John" without quotes, in one text column of some records."""
    col = c.text_column()
    for at in c.pick(most=2):
        row = c.rows[at][:]
        row[col] = "%s, %s" % (c.r.choice(WORD), c.r.choice(WORD))
        c.write(at, row[:col] + [Raw(row[col])] + row[col + 1:])
        if c.sep == ",":
            c.damaged[at] = row
        else:
            c.lines[at] = (c.lines[at][0], row)
    if c.sep == ",":
        c.kind, c.listed = "cells_joined", sorted(c.damaged)


def blanks(c):
    for n, at in enumerate(c.pick(most=4)):
        c.lines.insert(at + n, ("", None))
        c.damaged[at + n] = None
    c.kind = None


def comments(c):
    for n, at in enumerate(c.pick(most=3)):
        c.lines.insert(at + n, ("# " + words(c.r), None))
        c.damaged[at + n] = None
    c.kind, c.listed = "lines_dropped", sorted(c.damaged)


def remarks(c):
    if c.r.random() < 0.6:
        c.below.append("")
    texts = c.r.sample(["Source: the office", "Note: estimates only", "Quelle: Amt", "* preliminary"], c.r.randint(1, 2))
    c.below += texts
    c.kind, c.count = "lines_dropped", len(texts)
    c.listed = ["below"]


def titles(c):
    texts = c.r.sample(["Report", "made by hand", "Sales of the year", "Draft"], c.r.randint(1, 3))
    c.above += texts + c.r.choice([[], [""]])
    c.kind, c.count = "lines_dropped", len(texts)
    c.listed = ["above"]


def trailing(c):
    """A delimiter too many at the end of some lines."""
    for at in c.pick():
        text, row = c.lines[at]
        c.lines[at] = (text + c.sep, row)
        c.listed.append(at)
    c.kind = "cells_ignored"


def glued(c):
    """Two cells in quotes without a delimiter between them."""
    if len(c.names) < 4:
        return unclosed(c)
    for at in c.pick(most=1):
        row = c.rows[at][:]
        row[1], row[2] = "%s, %s" % (c.r.choice(WORD), c.r.choice(WORD)), "%s; %s" % (c.r.choice(WORD), c.r.choice(WORD))
        cells = [c.cell(x) for x in row]
        cells[1], cells[2] = '"%s"' % row[1], '"%s"' % row[2]
        c.lines[at] = (c.sep.join([cells[0], cells[1] + cells[2]] + cells[3:]), None)
        c.damaged[at] = []
    c.kind = None  # split or kept: nothing of it is lost


def other(c):
    """One record with another delimiter."""
    if len(c.names) < 3:
        return short(c)
    mark = c.r.choice([m for m in ",;\t" if m != c.sep])
    for at in c.pick(most=1):
        row = [" ".join(x.replace(",", "").replace(";", "").replace('"', "").split()) for x in c.rows[at]]
        c.lines[at] = (mark.join(row), None)
        c.damaged[at] = row
    c.kind, c.listed = "rows_otherwise", sorted(c.damaged)


def missing(c):
    """A quote of a cell in quotes is missing: the last one, or the first."""
    c.quoting = csv.QUOTE_ALL
    c.head = c.line(c.names)
    c.lines = [(c.line(row), row) for row in c.rows]
    col, last = c.text_column(), c.r.random() < 0.5
    for at in c.pick(most=2):
        row = c.rows[at]
        cells = [c.cell(x) for x in row]
        cells[col] = '"' + row[col] if last else row[col] + '"'
        c.lines[at] = (c.sep.join(cells), None)
        c.damaged[at] = [x for i, x in enumerate(row) if i != col and '"' not in x]
    c.kind = None


def torn(c):
    """A line end in a cell without quotes."""
    col = c.text_column()
    at = c.pick(most=1)[0]
    row = c.rows[at]
    first = c.sep.join([c.cell(x) for x in row[:col]] + [c.r.choice(WORD)])
    second = c.sep.join([c.r.choice(WORD)] + [c.cell(x) for x in row[col + 1:]])
    c.lines[at:at + 1] = [(first, None), (second, None)]
    c.damaged[at], c.damaged[at + 1] = row[:col], row[col + 1:]
    c.kind, c.listed = ("rows_filled", "cells_moved"), [at, at + 1]


def two(c):
    """A quote that never closes, and a short record: both are listed."""
    unclosed(c)
    at = c.r.choice([i for i in range(len(c.rows)) if i not in c.damaged])
    row = c.rows[at][:-1]
    c.write(at, row)
    c.damaged[at] = row
    c.kind, c.listed = ("rows_filled", "cells_moved"), [at]


DAMAGES = [missing, torn, two, unclosed, stray, short, wide, again, totals, thousands, comma, blanks, comments, remarks, titles, trailing, glued, other]


def run(*args):
    got = subprocess.run(args, capture_output=True, timeout=120)
    return got.returncode, got.stdout, got.stderr.decode(errors="replace")


def subsequence(want, got):
    """The rows of `got` that are not of `want`, or None: some of `want` is not there, or in another order."""
    rest, at = [], 0
    for row in got:
        if at < len(want) and row == want[at]:
            at += 1
        else:
            rest.append(row)
    return rest if at == len(want) else None


def check(c, out, notes):
    """None, or what is wrong."""
    got = list(csv.reader(io.StringIO(out.decode(), newline="")))
    width = len(c.names)
    if not got or got[0][:width] != c.names:
        return "names %s" % got[:1]
    if any(x and not x.startswith("column_") for x in got[0][width:]):
        return "other names %s" % got[0]
    whole = [row for _, row in c.lines if row is not None]
    cut = [row[:width] if not any(row[width:]) else row for row in got[1:]]
    rest = subsequence(whole, cut)
    if rest is None:
        lost = [row for row in whole if row not in cut]
        return "lost or changed: %s" % lost[:3]
    if notes is None:  # without --repair a repeated header is a row
        rest = [row for row in rest if row != c.names]
    kept = [texts for _, texts in sorted(c.damaged.items()) if texts is not None]
    if len(rest) != len(kept):
        return "%d rows of damaged lines, not %d: %s" % (len(rest), len(kept), rest[:4])
    for texts, row in zip(kept, rest):
        if not all(any(str(t) in cell for cell in row) for t in texts):
            return "not all of %s in %s" % (texts, row)
    return check_notes(c, notes) if notes is not None else None


def place(c):
    """The first line of what is listed, from 1."""
    first = c.listed[0]
    if first == "above":
        return 1
    before = len(c.above) + 1
    for text, _ in c.lines[:None if first == "below" else first]:
        before += 1 + text.count("\n")
    if first == "below":
        return before + 1 + (not c.below[0])
    return before + 1


# What says that nothing was left out or changed, or says it of other lines than rows.
QUIET = {None, "quotes_kept", "lines_joined"}


def check_notes(c, notes):
    kinds = {}
    for note in notes:
        if "kind" in note:
            kinds[note["kind"]] = kinds.get(note["kind"], []) + [(note["count"], note["where"]["cell"])]
    want = c.count if c.count is not None else len(c.listed)
    if c.kind:
        got = [x for kind in ([c.kind] if isinstance(c.kind, str) else c.kind) for x in kinds.pop(kind, [])]
        got = [(sum(n for n, _ in got), min((at for _, at in got), key=lambda at: int(at[1:]), default=None))]
        right = [(want, "L%d" % place(c))]
        if got != right:
            return "note %s: %s, not %s; others: %s" % (c.kind, got, right, kinds)
    if c.kind is None and c.damaged:  # one of them will do
        for kind in ("cells_parted", "cells_moved", "rows_filled"):
            if kinds.pop(kind, None):
                break
    extra = set(kinds) - QUIET
    return "notes of nothing: %s" % {k: kinds[k] for k in extra} if extra else None


def case(dtx, folder, seed, n):
    r = random.Random("%d/%d" % (seed, n))
    c = Case(r)
    damage = DAMAGES[n % len(DAMAGES)]
    damage(c)
    path = os.path.join(folder, "%d.csv" % n)
    end = r.choice(["\n", "\r\n"])
    text = end.join(c.above + [c.head] + [text for text, _ in c.lines] + c.below) + r.choice([end, ""])
    with open(path, "w", newline="", encoding="utf-8") as f:
        f.write(text)
    convert = [dtx, "convert", path, "--to", "csv", "--errors=json", "--store", os.path.join(folder, "store%d.db" % (n % WORKERS))]
    code, out, err = run(*convert)
    if code == 0 and check(c, out, None):  # refused, or read without a loss
        return damage.__name__, "wrong", path, "without --repair: %s\n%s\n%s" % (check(c, out, None), text[:1500], err)
    code, out, err = run(*convert, "--repair")
    if code in (4, 5):
        return damage.__name__, "refused", path, err
    if code:
        return damage.__name__, "failed", path, err
    wrong = check(c, out, [json.loads(x) for x in err.splitlines() if x.startswith("{")])
    if not wrong:
        return damage.__name__, "same", path, ""
    said = [(n["code"], n["count"], n["where"]["cell"], n["message"]) for n in map(json.loads, err.splitlines())]
    return damage.__name__, "wrong", path, "%s\n%s\n%s" % (wrong, text[:1500], "\n".join(map(str, said)))


def main():
    args = sys.argv[1:]
    keep = None
    if "--keep" in args:
        at = args.index("--keep")
        keep = args[at + 1]
        os.makedirs(keep, exist_ok=True)
        del args[at:at + 2]
    dtx = os.path.abspath(args[0])
    count = int(args[1]) if len(args) > 1 else COUNT
    seed = int(args[2]) if len(args) > 2 else SEED
    tally, ways = {"same": 0, "refused": 0, "wrong": 0, "failed": 0}, {}
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for n, (way, end, path, note) in enumerate(pool.map(lambda n: case(dtx, folder, seed, n), range(count))):
                tally[end] += 1
                ways[end, way] = ways.get((end, way), 0) + 1
                if keep and end != "same":
                    base = os.path.join(keep, "%s_%s_%d_%d" % (end, way, seed, n))
                    with open(path, "rb") as f, open(base + ".csv", "wb") as g:
                        g.write(f.read())
                    with open(base + ".note", "w") as f:
                        f.write(note)
                if end in ("wrong", "failed"):
                    print("# %s, table %d of seed %d: %s" % (way, n, seed, note.replace("\n", "\n# ")))
                    print("not ok - damaged tables: %d" % n)
    share = tally["refused"] / max(count, 1)
    print("# seed %d: %d tables, %d right, %d refused (%.1f %%), %d wrong, %d failed" % (
        seed, count, tally["same"], tally["refused"], 100 * share, tally["wrong"], tally["failed"]))
    for (end, way), n in sorted(ways.items()):
        if end != "same":
            print("# %s: %s %d" % (end, way, n))
    few = share <= REFUSED
    print("%s - damaged tables: at most %d %% are refused" % ("ok" if few else "not ok", 100 * REFUSED))
    bad = tally["wrong"] + tally["failed"] + (not few)
    print("%d passed, %d failed, 0 skipped" % (tally["same"] + few, bad))
    return bad != 0


sys.exit(main())
