#!/usr/bin/python3
"""Ordinary tables must come back from `dtx convert` as they were written.  Writes random tables with
csv.writer, pandas and dtx.  Names and every cell must be the same, or the file is refused, which at
most 3 % may be.

usage: plain_tables.py DTX [COUNT] [SEED] [--keep FOLDER]
By hand: plain_tables.py build/dtx 3000 7; --keep keeps the files that came back changed."""
import concurrent.futures
import csv
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import openpyxl
    import pandas
except ImportError as missing:
    print("# SKIP plain tables: %s" % missing)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

COUNT, SEED, REFUSED = 400, 20, 0.03
WORKERS = 3

WORD = """red blue green Ann Bob Cy Eve Oslo Rome Bern Paris north south alpha beta gamma open closed low high
the of and report total value name city note item box lamp chair x y z""".split()
WIDE = ["Zoë", "Köln", "Łódź", "São Paulo", "東京", "大阪市", "Москва", "Αθήνα", "שלום", "مرحبا", "한국", "👍🏽", "naïve", "ﬁne", "Ω≈ç", "O’Neil",
        "“so”", "–", "café", "Ünal", "ñandú"]
NAMES = """id name city amount price qty date when where note tags url path code key value total n x y size location
country first last email phone status kind ts Region Sales Kosten Straße 単価 Preis""".split()


def words(r, low=1, high=4):
    return " ".join(r.choice(WORD) for _ in range(r.randint(low, high)))


def moment(r):
    return "%04d-%02d-%02d" % (r.randint(1970, 2035), r.randint(1, 12), r.randint(1, 28))


# Kinds of columns: each gives one text.
KINDS = {
    "int": lambda r: str(r.randint(-999, 99999)),
    "small": lambda r: str(r.randint(0, 9)),
    "float": lambda r: "%.*f" % (r.randint(1, 4), r.uniform(-1000, 1000)),
    "comma": lambda r: "%d,%02d" % (r.randint(0, 999), r.randint(0, 99)),
    "money": lambda r: r.choice(["$%d.%02d", "€ %d,%02d", "%d.%02d €"]) % (r.randint(0, 999), r.randint(0, 99)),
    "grouped": lambda r: "{:,}".format(r.randint(0, 9999999)),
    "percent": lambda r: "%d%%" % r.randint(0, 100),
    "zeros": lambda r: "%05d" % r.randint(0, 99999),
    "year": lambda r: str(r.randint(1950, 2030)),
    "day": moment,
    "moment": lambda r: moment(r) + "T%02d:%02d:%02d" % (r.randint(0, 23), r.randint(0, 59), r.randint(0, 59)),
    "offset": lambda r: moment(r) + "T%02d:%02d:%02d" % (r.randint(0, 23), r.randint(0, 59), r.randint(0, 59))
                        + r.choice(["Z", "+02:00", "-05:30"]),
    "zulu": lambda r: moment(r) + "T%02d:%02d:%02dZ" % (r.randint(0, 23), r.randint(0, 59), r.randint(1, 59)),
    "long": lambda r: str(r.randint(-2**63, 2**63 - 1)),
    "card": lambda r: str(r.randint(10**15, 2**53)),
    "clock": lambda r: "%02d:%02d" % (r.randint(0, 23), r.randint(0, 59)),
    "local": lambda r: "%02d.%02d.%04d" % (r.randint(1, 28), r.randint(1, 12), r.randint(1990, 2030)),
    "said": lambda r: r.choice(["Jan", "Feb", "Mar"]) + " %d, %d" % (r.randint(1, 28), r.randint(2019, 2025)),
    "bool": lambda r: r.choice(["true", "false"]),
    "word": lambda r: r.choice(WORD),
    "few": lambda r: r.choice("ABC"),
    "wide": lambda r: r.choice(WIDE),
    "text": words,
    "sentence": lambda r: words(r, 3, 9).capitalize() + r.choice(["", ".", ", " + words(r) + ".", "; " + words(r)]),
    "person": lambda r: "%s, %s" % (r.choice(WORD).title(), r.choice(WORD).title()),
    "bars": lambda r: "|".join(r.choice(WORD) for _ in range(r.randint(1, 3))),
    "halves": lambda r: ";".join(r.choice(WORD) for _ in range(r.randint(1, 3))),
    "tabs": lambda r: "\t".join(r.choice(WORD) for _ in range(r.randint(1, 2))),
    "colons": lambda r: ":".join(r.choice(WORD) for _ in range(r.randint(1, 3))),
    "pair": lambda r: "%s|%s" % (r.choice(WORD), r.choice(WORD)),
    "path": lambda r: r.choice(["/", "C:\\"]) + r.choice(["/", "\\"]).join(r.choice(WORD) for _ in range(r.randint(1, 4))),
    "url": lambda r: "http://%s.com/%s?%s=%d%s" % (r.choice(WORD), r.choice(WORD), r.choice("abc"), r.randint(0, 9),
                                                   r.choice(["", "&b=2", ";z=2", "#%s" % r.choice(WORD)])),
    "mail": lambda r: "%s.%s@%s.org" % (r.choice(WORD), r.choice(WORD), r.choice(WORD)),
    "quotes": lambda r: r.choice(['say "%s"', '"%s"', '5" %s', "it's %s", "'%s'"]) % r.choice(WORD),
    "lines": lambda r: r.choice(["%s\n%s", "%s, a\n%s", "%s\n\n%s", '"%s"\n%s', "%s\n%s, b"]) % (words(r), words(r)),
    "json": lambda r: '{"a": %d, "b": [%d, "%s"]}' % (r.randint(0, 9), r.randint(0, 9), r.choice(WORD)),
    "marks": lambda r: r.choice(["#1", "a#b", "-", "--", "a=b", "x & y", "1/2", "n/a", "*", "~", "a^b", "@home", "_", "a_b", "50%", "<1", "?"]),
    "code": lambda r: "%s-%d" % (r.choice("ABCXYZ"), r.randint(0, 999)),
    "mixed": lambda r: r.choice([str(r.randint(0, 99)), r.choice(WORD), "%.1f" % r.uniform(0, 9)]),
    "blank": lambda r: "",
    "edges": lambda r: r.choice([" %s", "%s ", " %s ", "%s"]) % r.choice(WORD),
    "phone": lambda r: r.choice(["+1 (555) %03d-%04d", "+4420%03d%04d", "0%03d %04d", "%03d-%04d"]) % (r.randint(0, 999), r.randint(0, 9999)),
    "long": lambda r: "".join(r.choice("0123456789") for _ in range(r.choice([12, 17, 20, 30]))),
    "hex": lambda r: "%0*x" % (r.choice([4, 8, 32]), r.getrandbits(16)),
    "version": lambda r: "%d.%d.%d" % (r.randint(0, 9), r.randint(0, 20), r.randint(0, 9)),
    "address": lambda r: ".".join(str(r.randint(0, 255)) for _ in range(4)),
    "sci": lambda r: "%.*e" % (r.randint(0, 3), r.uniform(-1e9, 1e9)),
    "signed": lambda r: "%+d" % r.randint(-99, 99),
    "words for nothing": lambda r: r.choice(["NA", "n/a", "NULL", "None", "nan", "-", ".", r.choice(WORD)]),
    "infinite": lambda r: r.choice(["inf", "-inf", "nan", "1.5", "2"]),
    "place": lambda r: "%.4f, %.4f" % (r.uniform(-90, 90), r.uniform(-180, 180)),
    "span": lambda r: r.choice(["%d-%d", "%d:%d", "%d/%d", "%d..%d"]) % (r.randint(0, 30), r.randint(0, 99)),
    "pm": lambda r: "%d:%02d %s" % (r.randint(1, 12), r.randint(0, 59), r.choice(["AM", "PM"])),
    "mark up": lambda r: r.choice(["<b>%s</b>", "<a href=\"%s\">x</a>", "**%s**", "[%s](x)", "`%s`", "&%s;"]) % r.choice(WORD),
    "formula": lambda r: r.choice(["=A%d+B2", "=SUM(A1:A%d)", "@x%d", "-%d x"]) % r.randint(1, 9),
    "query": lambda r: "select %s, %s from %s;" % (r.choice(WORD), r.choice(WORD), r.choice(WORD)),
    "setting": lambda r: "%s=%s;%s=%d" % (r.choice(WORD), r.choice(WORD), r.choice(WORD), r.randint(0, 9)),
    "remark": lambda r: r.choice(["# %s", "// %s", "-- %s", "%% %s", "; %s", "%s"]) % r.choice(WORD),
    "base64": lambda r: "".join(r.choice("abcXYZ019+/") for _ in range(r.choice([6, 10]))) + r.choice(["", "=", "=="]),
    "unit": lambda r: "%d %s" % (r.randint(0, 99), r.choice(["kg", "m", "%", "EUR"])),
    "ordinal": lambda r: r.choice(["1st", "2nd", "3rd", "Q1", "Q4", "FY24", "H1"]),
    "list": lambda r: "[%s]" % ", ".join(r.choice(WORD) for _ in range(r.randint(0, 3))),
    "mails": lambda r: "; ".join("%s@%s.org" % (r.choice(WORD), r.choice(WORD)) for _ in range(r.randint(1, 2))),
    "rules": lambda r: r.choice(["---", "___", "----", r.choice(WORD)]),
}


# Kinds whose text a workbook of dtx gives back exactly: no 1.50, no offset except Z.
BOOK_KINDS = """int small zeros year day moment zulu long card bool word few wide text sentence person bars path url
mail code blank""".split()


def name_of(r, taken):
    kind = r.random()
    name = r.choice(NAMES)
    if kind < 0.15:
        name = "%s %s" % (name, r.choice(WORD))
    elif kind < 0.19:
        name = "%s (%s)" % (name, r.choice(["kg", "EUR", "%", "m/s", "a, b"]))
    elif kind < 0.22:
        name = "%s, %s" % (name, r.choice(WORD))
    elif kind < 0.24:
        name = "%s %d" % (name, r.randint(2015, 2025))
    elif kind < 0.25:
        name = r.choice(["a|b", "x;y", "p/q", "k:v", "a\tb", 'say "x"', "it's", "#", "c#"])
    while name in taken:
        name += str(r.randint(1, 9))
    return name


def name_columns(r, ncols):
    """Names of one kind, as pandas and people have them, or each on its own."""
    kind = r.random()
    if kind < 0.03 and ncols > 2:
        first = r.randint(1990, 2020)
        return [name_of(r, [])] + [str(first + i) for i in range(ncols - 1)]
    if kind < 0.035:
        return [str(i) for i in range(ncols)]
    names = []
    for _ in range(ncols):
        names.append(name_of(r, names))
    if kind < 0.08:
        names[-1] = r.choice(names)  # twice
    elif kind < 0.1:
        names[r.randrange(ncols)] = r.choice(["two\nlines", "a\nb c", "Größe\n(cm)"])
    elif kind < 0.12:
        names = [n.upper() for n in names]
    return names


def is_two(names, rows):
    """One column that is two as well, also by its name: nothing tells them apart."""
    return len(names) == 1 and any(mark in names[0] and all(row[0].count(mark) == names[0].count(mark) for row in rows)
                                   for mark in ";|\t")


def table(r, kinds=None):
    names, rows = draw(r, kinds)
    while is_two(names, rows):
        names, rows = draw(r, kinds)
    return names, rows


def draw(r, kinds=None):
    """Names and rows, all texts; a blank name is the first one, of an index, alone."""
    ncols = 1 if r.random() < 0.2 else r.randint(2, 8)
    nrows = r.choice([1, 2, 3, 3, 4, 5, 6, 8, 12, 20, 40]) if r.random() < 0.97 else r.choice([0, 300, 1500])
    names = name_columns(r, ncols)
    kinds = [r.choice(kinds or list(KINDS)) for _ in range(ncols)]
    gaps = [r.choice([0, 0, 0, 0.1, 0.5]) for _ in range(ncols)]
    rows = [["" if r.random() < gaps[c] else KINDS[kinds[c]](r) for c in range(ncols)] for _ in range(nrows)]
    if r.random() < 0.25:  # row names, as pandas and R write them
        index = r.choice(["count", "letters", "word", "text", "wide", "day", "code", "pairs"])
        names = ["", ""] + names if index == "pairs" else [""] + names
        for i, row in enumerate(rows):
            if index == "pairs":  # of a MultiIndex
                row[:0] = [r.choice("xy"), str(i)]
                continue
            row.insert(0, str(i) if index == "count" else chr(97 + i % 26) + ("" if i < 26 else str(i)) if index == "letters"
                       else KINDS[index](r))
    elif r.random() < 0.04:  # as spreadsheets leave them
        names.append("")
        rows = [row + [""] for row in rows]
    return names, rows


def as_csv(r, names, rows):
    """Bytes as csv.writer writes them, and the suffix that they get."""
    sep = r.choice(",,,,;\t|")
    out = io.StringIO(newline="")
    w = csv.writer(out, delimiter=sep, lineterminator=r.choice(["\r\n", "\n"]),
                   quoting=r.choice([csv.QUOTE_MINIMAL] * 4 + [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    if r.random() < 0.1:  # as R writes them: texts in quotes, numbers and NA without
        rows = list(zip(*[typed(rows, c) for c in range(len(names))])) if rows else []
        w = csv.writer(out, delimiter=sep, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    w.writerow(names)
    w.writerows(rows)
    text = out.getvalue()
    if r.random() < 0.1:
        text = text.rstrip("\r\n") if rows and rows[-1][-1] else text
    suffix = ".tsv" if sep == "\t" and r.random() < 0.7 else ".txt" if r.random() < 0.15 else ".csv"
    return text.encode("utf-8-sig" if r.random() < 0.1 else "utf-8"), suffix


def typed(rows, c):
    """A column as pandas would have it: numbers where all are, None where blank.  (A workbook knows
    no 1.0 beside 1.)"""
    cells = [row[c] for row in rows]
    for kind in (int, float):
        try:
            got = [None if not x else kind(x) for x in cells]
        except ValueError:
            continue
        if all(x is None or (str(x) == s and s[-1].isdigit() and len(s) < 16 and not s.endswith(".0")) for x, s in zip(got, cells)) and \
                any(x is not None for x in got):
            return got
    return [x or None for x in cells]


def frame_of(names, rows):
    """All columns as objects, so that pandas changes no integers beside blanks."""
    return pandas.DataFrame({i: pandas.Series(typed(rows, i), dtype=object) for i in range(len(names))}).set_axis(names, axis=1)


def as_pandas(r, names, rows):
    frame = frame_of(names, rows)
    sep = r.choice(",,;\t")
    index = names[0] != "" and rows and r.random() < 0.3
    na = r.choice(["", "", "NA", "NaN", "null", "NULL"])
    text = frame.to_csv(sep=sep, index=index, lineterminator=r.choice(["\n", "\r\n"]), na_rep=na)
    rows = [[x or na for x in row] for row in rows]
    if index:
        names, rows = [""] + names, [[str(i)] + row for i, row in enumerate(rows)]
    return text.encode(), ".tsv" if sep == "\t" and r.random() < 0.7 else ".csv", names, rows


def as_book(r, names, rows):
    frame = frame_of(names, rows)
    out = io.BytesIO()
    index = names[0] != "" and rows and r.random() < 0.3
    if names[0] == "" and r.random() < 0.5:  # a real index, whose name is blank and whose cells are bold
        frame = frame.set_index("")
        frame.index.name = None
        frame.to_excel(out)
    else:
        frame.to_excel(out, index=index)
    if index:
        names, rows = [""] + names, [[str(i)] + row for i, row in enumerate(rows)]
    return out.getvalue(), ".xlsx", names, rows


def run(*args):
    got = subprocess.run(args, capture_output=True, timeout=120)
    return got.returncode, got.stdout, got.stderr.decode(errors="replace")


def case(dtx, folder, seed, n):
    r = random.Random("%d/%d" % (seed, n))
    way = r.choice(["csv", "csv", "csv", "pandas", "pandas", "book", "dtx", "own book", "own json"])
    # openpyxl writes 16 digits of an int
    names, rows = table(r, BOOK_KINDS if way == "own book" else [k for k in KINDS if k != "long"] if way == "book" else None)
    if way in ("book", "own book"):
        rows = [[x.replace("\r", "") for x in row] for row in rows]
        while rows and not any(rows[-1]):
            rows.pop()  # nothing of a last row without cells is in a workbook
        formulas = any(cell.startswith("=") for row in rows for cell in row)
        if any(not any(row) for row in rows) or (names[0] == "" and not rows) or formulas or names[-1] == "" or names[:2] == ["", ""]:
            way = "csv"
    if way == "pandas":
        data, suffix, names, rows = as_pandas(r, names, rows)
    elif way == "book":
        data, suffix, names, rows = as_book(r, names, rows)
    else:
        data, suffix = as_csv(r, names, rows)
    path = os.path.join(folder, "%d%s" % (n, suffix))
    with open(path, "wb") as f:
        f.write(data)
    store = os.path.join(folder, "store%d.db" % (n % WORKERS))
    code, out, err = run(dtx, "convert", path, "--to", "csv", "--store", store)
    if way in ("dtx", "own book", "own json") and code == 0:  # what it wrote itself
        suffix = ".xlsx" if way == "own book" else r.choice([".jsonl", ".json"] if way == "own json" else [".csv", ".tsv"])
        again = os.path.join(folder, "%d_again%s" % (n, suffix))
        code, out, err = run(dtx, "convert", path, "-o", again, "--store", store)
        if code:
            return way, "failed", path, err
        code, out, err = run(dtx, "convert", again, "--to", "csv", "--store", store)
    if code == 4 or code == 5:
        return way, "refused", path, err
    if code:
        return way, "failed", path, err
    got = list(csv.reader(io.StringIO(out.decode(), newline="")))
    want = [names] + rows
    if ok(got, want, way):
        return way, "same", path, err
    return way, "wrong", path, "want %s\ngot  %s\n%s" % (str(want)[:600], str(got)[:600], err)


def header_ok(got, want):
    return len(got) == len(want) and all(g == w or (not w and g.startswith("column_")) or g == " ".join(w.split()) or
                                         (w in want[:i] and g == "%s_2" % w) for i, (g, w) in enumerate(zip(got, want)))


def ok(got, want, way):
    if not got or not header_ok(got[0], want[0]):
        return False
    one = len(want[0]) == 1
    body, rows = got[1:], want[1:]
    if one:  # csv.reader has no cell in a blank line
        body = [x or [""] for x in body]
    return body == rows


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
    tally = {"same": 0, "refused": 0, "wrong": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for n, (way, end, path, note) in enumerate(pool.map(lambda n: case(dtx, folder, seed, n), range(count))):
                tally[end] += 1
                if keep and end != "same":
                    base = os.path.join(keep, "%s_%s_%d_%d" % (end, way, seed, n))
                    shutil.copy(path, base + os.path.splitext(path)[1])
                    with open(base + ".note", "w") as f:
                        f.write(note)
                if end in ("wrong", "failed"):
                    print("# %s, table %d of seed %d: %s" % (way, n, seed, note.replace("\n", "\n# ")))
                    print("not ok - plain tables: %d" % n)
    share = tally["refused"] / max(count, 1)
    print("# seed %d: %d tables, %d the same, %d refused (%.1f %%), %d wrong, %d failed" % (
        seed, count, tally["same"], tally["refused"], 100 * share, tally["wrong"], tally["failed"]))
    few = share <= REFUSED
    print("%s - plain tables: at most %d %% are refused" % ("ok" if few else "not ok", 100 * REFUSED))
    bad = tally["wrong"] + tally["failed"] + (not few)
    print("%d passed, %d failed, 0 skipped" % (tally["same"] + few, bad))
    return bad != 0


sys.exit(main())
