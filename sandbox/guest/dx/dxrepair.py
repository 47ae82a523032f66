"""Ops that repair what was read. They see cells as text, and the types of the result are found
again."""
import math
import re
import unicodedata

import pandas as pd

from dxfn import pattern, text_of
from dxop import (blank, column_of, common, flags, grid_of, group_rows, kind_of, names_of, number_text, pick, plain, retype,
                  take)
from dxwords import SPELLED, is_word

# --- rows that stay ---


def skip_rows(df, head=0, tail=0, until=None, comment=None, typed=()):
    grid, first = grid_of(df), head
    if until is not None:
        found = (i for i in range(head, len(grid)) if any(pattern(until).search(t or "") for t in grid[i]))
        first = next(found, None)
        if first is None:
            raise ValueError("skip_rows: no cell matches '%s'" % until)
    rows = [i for i in range(first, len(grid)) if not (comment and leads(grid[i], comment))]
    return retype(take(df, rows[:max(len(rows) - tail, 0)]), typed=typed)


def leads(row, prefix):
    """Whether the first cell that is not blank starts with `prefix`."""
    return next((t.strip().startswith(prefix) for t in row if not blank(t)), False)


def drop_empty(df, axis="rows", typed=()):
    grid = grid_of(df)
    rows = [i for i, row in enumerate(grid) if axis == "cols" or not all(map(blank, row))]
    keep = [c for c in range(df.shape[1]) if axis == "rows" or not all(blank(grid[i][c]) for i in rows)]
    return retype(take(df.iloc[:, keep], rows), typed=typed)


# as DTX_TOTAL_WORDS in ops/reshape/totals.h
WORDS = ("total", "grand total", "subtotal", "sub-total", "sum", "overall", "summe", "zwischensumme", "gesamtsumme", "gesamt",
         "insgesamt", "gesamtergebnis", "totale", "subtotale")
MARKS = ((".", ","), (",", "."), (",", " "))


class Totals:
    """Finds rows that are totals of the rows above them."""

    def __init__(self, grid, labels, words, verify):
        self.grid, self.labels, self.verify = grid, labels, verify
        self.words = [w.strip().casefold() for w in words]
        self.since, self.all = {}, {}
        self.marks = [self.marks_of(c) if verify else MARKS[0] for c in range(len(grid[0]) if grid else 0)]

    def marks_of(self, c):
        """The marks by which most cells of a column are numbers."""
        return max(MARKS, key=lambda m: sum(not blank(row[c]) and number_text(row[c], *m) is not None for row in self.grid))

    def candidate(self, row):
        for c in self.labels:
            text = self.grid[row][c]
            if blank(text) or number_text(text, *self.marks[c]):
                continue
            label = text.strip().casefold()
            label = label[:-1].strip() if label.endswith(":") else label
            return any(w and re.search(r"^%s(?!\w)|(?<!\w)%s$" % (re.escape(w), re.escape(w)), label)
                       for w in self.words)
        return False

    def numbers(self, row):
        """Per column: the number and its decimals as written."""
        found = [None if blank(t) else number_text(t, *self.marks[c]) for c, t in enumerate(self.grid[row])]
        return {c: (float(f[0]), min(max(f[1] - int(f[0].partition("e")[2] or 0), 0), 300))
                for c, f in enumerate((f and (f[0].lower(), f[1]) for f in found)) if f}

    def proven(self, row, sums):
        """At least one column agrees, and no more columns disagree. Only decimals may be rounded."""
        yes = no = 0
        for c, (v, places) in self.numbers(row).items():
            if c not in sums:
                continue
            most = max(places, *(p for _, p in sums[c]))
            diff = abs(v - math.fsum(x for x, _ in sums[c]))
            exact = max(0.5 * 10.0**-most, 1e-14 * sum(abs(x) for x, _ in sums[c])) if most else 0.5
            rounded = 0.5 * (10.0**-most * len(sums[c]) + 10.0**-places) * (1 + 1e-9)
            agrees = diff < exact or most > 0 and diff <= rounded
            yes, no = yes + agrees, no + (not agrees)
        return yes > 0 and no <= yes

    def is_total(self, row):
        if self.candidate(row) and (not self.verify or self.proven(row, self.since) or self.proven(row, self.all)):
            self.since = {}
            return True
        for c, number in self.numbers(row).items():
            self.since.setdefault(c, []).append(number)
            self.all.setdefault(c, []).append(number)
        return False


def drop_rows(df, kinds=(), where=None, words=WORDS, label_cols=None, verify=True, typed=()):
    grid, kinds = grid_of(df), names_of(kinds)
    gone = flags(where(df), len(df)) if where else [False] * len(df)
    labels = [list(df.columns).index(c) for c in label_cols or df.columns]
    filled = [sum(not blank(t) for t in row) for row in grid]
    # none: then there is no table that a note could follow
    last = max((i for i, n in enumerate(filled) if n >= 2), default=len(grid))
    totals = Totals(grid, labels, words, verify)
    rows = []
    for i, row in enumerate(grid):
        header = all(blank(t) or t.strip() == c.strip() for t, c in zip(row, df.columns))
        if not filled[i]:
            out = "blank" in kinds
        else:
            out = "repeated_header" in kinds and header or "footnotes" in kinds and i > last or gone[i] \
                or "totals" in kinds and totals.is_total(i)
        if not out:
            rows.append(i)
    return retype(take(df, rows), typed=typed)


def split_tables(df, by="blank_rows", pick=1, typed=()):
    """Picks one of several tables that are separated by blank rows, blank columns or repeated
    headers."""
    grid = grid_of(df)
    if by == "blank_cols":
        parts = [all(blank(row[c]) for row in grid) for c in range(df.shape[1])]
        return retype(df.iloc[:, picked(parts, pick)].reset_index(drop=True), typed=typed)
    if by == "blank_rows":
        return retype(take(df, picked([all(map(blank, row)) for row in grid], pick)), typed=typed)
    table, rows = int(bool(grid)), []
    for i, row in enumerate(grid):
        if is_header(df, row):
            table += i > 0
        elif table == pick:
            rows.append(i)
    check_pick(pick, table)
    return retype(take(df, rows), typed=typed)


def is_header(df, row):
    """Whether each cell that is not blank is the name of its column, and there is at least one."""
    named = [blank(t) or t.strip() == c.strip() for t, c in zip(row, df.columns)]
    return all(named) and not all(map(blank, row))


def picked(parts, pick):
    """Places of table number `pick`, counted from 1; `parts` marks what separates the tables."""
    table, inside, out = 0, False, []
    for i, part in enumerate(parts):
        table += not part and not inside
        inside = not part
        out += [i] if inside and table == pick else []
    check_pick(pick, table)
    return out


def check_pick(pick, tables):
    if pick > tables:
        raise ValueError("split_tables: there is no table %d, only %d" % (pick, tables))


def keep_range(df, range, typed=()):
    """A range of the source; its first row is the header."""
    ends = [re.fullmatch("([A-Za-z]*)([0-9]*)", end) for end in range.split(":")]
    rows = [int(end[2]) - 2 for end in ends if end[2]] or [0, len(df)]
    cols = [column_number(end[1]) for end in ends if end[1]] or [0, df.shape[1] - 1]
    if cols[0] >= df.shape[1]:
        raise ValueError("keep_range: no column is in %s" % range)
    return retype(df.iloc[max(rows[0], 0):max(rows[1] + 1, 0), cols[0]:cols[1] + 1], typed=typed)


def column_number(letters):
    at = 0
    for c in letters.upper():
        at = at * 26 + ord(c) - 64
    return at - 1


# --- cells ---


def fill(df, cols, dir="down", by=(), limit=None, typed=()):
    cols = names_of(cols)
    cells = {c: plain(df[c]) for c in cols}
    runs = [[(c, r) for r in rows] for c in cols for rows in group_rows(df, names_of(by)).values()]
    if dir in ("right", "left"):
        runs = [[(c, r) for c in cols] for r in range(len(df))]
    values = {}
    for run in runs:
        last, length = None, 0
        for c, r in run[::-1] if dir in ("up", "left") else run:
            v = cells[c][r]
            if not blank(None if v is None else text_of(v)):
                last, length = v, 0
            elif last is not None and (not limit or length < limit):
                v, length = last, length + 1
            values[c, r] = v
    out = {}
    for c in cols:
        got = [values[c, r] for r in range(len(df))]
        source = {"right": cols[:cols.index(c) + 1], "left": cols[cols.index(c):]}.get(dir, [c])
        kind = common(kind_of(df[name]) for name in source)
        if kind == "text":
            got = [None if v is None else text_of(v) for v in got]
        out[c] = column_of(got, kind)
    return retype(df.assign(**out), cols, typed)


def blank_down(df, cols, typed=()):
    """Makes a value null if it equals the value above."""
    out = {}
    for c in names_of(cols):
        values = plain(df[c])
        rows = [None if r and v is not None and v == values[r - 1] else r for r, v in enumerate(values)]
        out[c] = pick(df[c], rows)
    return retype(df.reset_index(drop=True).assign(**out), typed=typed)


def unmerge(df, raw=None, cols=None, axis="both", typed=()):
    """A text file has no merged cells, and of a workbook only the raw cells know them."""
    if any(table["merged"] for table in (raw or {}).values()):
        raise ValueError("unmerge: a pandas table has no merged cells")
    for name in cols or ():
        if name not in df.columns:
            raise KeyError("no column '%s'" % name)
    return retype(df, typed=typed)


def subtitle_to_column(df, as_="subtitle", col=None, match=(), drop=True, typed=()):
    """Moves titles between the rows to a new first column of the rows below them."""
    if as_ in df.columns:
        raise ValueError("subtitle_to_column: there is already a column '%s'" % as_)
    if match and match[0].get("kind") == "bold":
        raise ValueError("subtitle_to_column: a pandas table does not say which cells are bold")
    grid, col = grid_of(df), df.columns[0] if col is None else col
    at, regex = list(df.columns).index(col), match[0].get("regex") if match else None
    title, titles, rows = None, [], []
    for i, row in enumerate(grid):
        found = not blank(row[at]) and (pattern(regex).search(row[at]) if regex else
                                        sum(not blank(t) for t in row) == 1)
        title = row[at] if found else title
        if not (found and drop):
            titles.append(title)
            rows.append(i)
    out = take(df, rows)
    out.insert(0, as_, pd.Series(titles, dtype=object))
    return retype(out, typed=typed)


# --- transposing and records ---


def table_of(names, columns):
    """Makes a typed table of columns of texts. Blank names become column_N, repeated names get a
    number."""
    names = numbered([name or "column_%d" % (i + 1) for i, name in enumerate(names)], "suffix")
    made = {name: pd.Series(values, dtype=object) for name, values in zip(names, columns)}
    return retype(pd.DataFrame(made, index=range(len(columns[0]) if columns else 0)))


def tidy_name(text):
    return " ".join((text or "").split())


def transpose(df, header=True, names_to="column"):
    grid, old = grid_of(df), list(df.columns)
    if not header:
        return table_of([None] * len(grid), grid)
    names = [names_to] + [tidy_name(row[0]) for row in grid]
    return table_of(names, [old[1:]] + [row[1:] for row in grid])


def demote_header(df):
    grid = grid_of(df)
    return table_of([None] * df.shape[1], [[name] + [row[c] for row in grid] for c, name in enumerate(df.columns)])


def unstack_blocks(df, every):
    grid, blocks = grid_of(df), range(0, len(df), every)
    names = ["%s_%d" % (name, k + 1) for k in range(every) for name in df.columns]
    cells = [[grid[r + k][c] if r + k < len(grid) else None for r in blocks]
             for k in range(every) for c in range(df.shape[1])]
    return table_of(names, cells)


def pivot_records(df, key=None, value=None, sep=None, every=None, start=None, names_order="appearance"):
    """Makes records of rows with a key and a value."""
    grid, names = grid_of(df), list(df.columns)
    if len(names) < 2 and not sep:
        raise ValueError("pivot_records needs a key column and a value column")
    at = 0 if key is None else names.index(key)
    other = 1 if value is None else names.index(value)
    records, size, keys = [], 0, {}
    for row in grid:
        if blank(row[at]) and (sep or blank(row[other])):
            size = 0
            continue
        name, cell = record_row(row[at] or "", sep) if sep else ((row[at] or "").strip(), row[other])
        if not name:
            raise ValueError("pivot_records: a value without a key")
        full = size >= every if every else name == start if start else records and name in records[-1]
        if not records or not size or full:
            records.append({})
            size = 0
        if name in records[-1]:
            raise ValueError("pivot_records: a record has key '%s' twice" % name)
        records[-1][name], keys[name] = cell, True
        size += 1
    keys = sorted(keys) if names_order == "sorted" else list(keys)
    return table_of([tidy_name(k) for k in keys], [[r.get(k) for r in records] for k in keys])


def record_row(text, sep):
    if sep not in text:
        raise ValueError("pivot_records: '%s' has no separator" % text)
    name, cell = text.split(sep, 1)
    return name.strip(), cell.strip() or None


# --- names ---


def promote_header(df, rows=1, sep=" ", fill="auto", unique="suffix"):
    grid = grid_of(df)
    if len(grid) < rows:
        raise ValueError("promote_header needs %d rows, but the table has %d" % (rows, len(grid)))
    parts = [[" ".join((t or "").split()) for t in row] for row in grid[:rows]]
    if fill in ("auto", "right"):
        for row in parts[:-1]:
            for c in range(1, len(row)):
                row[c] = row[c] or row[c - 1]
    names = []
    for c in range(df.shape[1]):
        found = [row[c] for row in parts if row[c]]
        found = [p for i, p in enumerate(found) if not i or p != found[i - 1]]
        names.append(sep.join(found) or "column_%d" % (c + 1))
    return retype(take(df, range(rows, len(df))).set_axis(numbered(names, unique), axis=1))


def numbered(names, unique):
    """Repeated names get _2, _3 and so on; a unique name stays."""
    if unique == "error" and len(set(names)) < len(names):
        raise ValueError("two columns have one name")
    taken, next_of, out = set(names), {}, []
    for at, name in enumerate(names):
        made = name
        while at != names.index(name) and made in taken:
            next_of[name] = next_of.get(name, 1) + 1
            made = "%s_%d" % (name, next_of[name])
        taken.add(made)
        out.append(made)
    return out


def to_ascii(text):
    """Removes marks from letters; what is still not ASCII becomes _."""
    marks = [c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn"]
    return "".join(c if c < "\x80" else SPELLED.get(c, "_") for c in marks)


def clean_names(df, style="snake", ascii=False):
    names = []
    for name in df.columns:
        low = (to_ascii(name) if ascii else name).lower()
        words = "".join(c if is_word(c) else " " for c in low)
        names.append("_".join(words.split()))
    names = [name or "column_%d" % (i + 1) for i, name in enumerate(names)]
    return df.set_axis(numbered(names, "suffix"), axis=1)
