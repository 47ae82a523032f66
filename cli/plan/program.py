"""Reads the inputs and writes the result of a program that `dtx compile --to pandas` makes. Where dtx
might read a file in another way, the program ends with an error.

`transform` and `INPUTS` are in the program. Of each input INPUTS has the members of
cli/plan/program.c, with None for what is not known."""
import os
import re
import sys

import pandas as pd

from dxop import cast, cell_kind, retype, texts

ADVICE = "compile the plan with the file: dtx compile PLAN FILE"


def records(text, delimiter):
    """The rows of a CSV text. An empty cell without quotes becomes None. Without a delimiter a line is
    a cell."""
    delimiter = delimiter or "\0"
    cell = re.compile('(?:"((?:[^"]|"")*)"|([^"\\r\\n%s]*))(%s|\r?\n|\\Z)' % ((re.escape(delimiter),) * 2))
    rows, row, at = [], [], 0
    while at < len(text) or row:
        found = cell.match(text, at)
        if not found:
            raise ValueError("line %d: a quote or a line end in a cell without quotes" % (text.count("\n", 0, at) + 1))
        quoted, plain_text, end = found.groups()
        row.append(plain_text or None if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if end != delimiter:
            rows.append(row)
            row = []
    return rows


def delimiter_of(text):
    """The one delimiter that the first line has; a comma if it has none."""
    line = re.sub('"[^"]*"', "", text.lstrip("\r\n").split("\n", 1)[0])
    found = [d for d in ",;\t|" if d in line] or [","]
    if len(found) > 1:
        raise ValueError("the first line has %s: %s" % (" and ".join(map(repr, found)), ADVICE))
    return found[0]


def header_of(row, known):
    """The names of the columns: the cells of the header, which must be those that dtx has seen."""
    cells = [(cell or "").strip() for cell in row]
    if known is None:
        for cell in cells:
            if not cell or cells.count(cell) > 1 or cell_kind(cell) != "text":
                raise ValueError("%r is not a name of one column: %s" % (cell, ADVICE))
        return cells
    same = len(cells) == len(known) and all(name == cell or not cell or name.startswith(cell + "_")
                                            for name, cell in zip(known, cells))
    if not same:
        raise ValueError("the columns are %s, the program was made for %s: %s" % (
            ", ".join(cells), ", ".join(known), ADVICE))
    return known


def read_table(path, spec):
    """A file as a table whose columns have the types that all of their values fit."""
    with open(0 if path == "-" else path, "rb") as f:
        data = f.read()
    if data[:2] in (b"PK", b"\x1f\x8b", b"\xd0\xcf") or data[:4] == b"PAR1":
        raise ValueError("this is no CSV file; make one of it: dtx convert FILE out.csv")
    text = data.decode("utf-8-sig" if spec["encoding"] in (None, "utf-8") else spec["encoding"])
    if "\0" in text:
        raise ValueError("a NUL character: %s" % ADVICE)
    rows = records(text, delimiter_of(text) if spec["delimiter"] is None else spec["delimiter"])
    if spec["header"]:
        while rows and rows[0] == [None]:
            rows.pop(0)
        if not rows:
            raise ValueError("the file is empty")
        names = header_of(rows.pop(0), spec["columns"])
    else:
        names = ["column_%d" % (i + 1) for i in range(max(map(len, rows), default=0))]
    if len(names) > 1:
        rows = [row for row in rows if row != [None]]
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError("record %d has another number of cells (%d) than the header (%d)" % (
                i + 1 + spec["header"], len(row), len(names)))
    nulls = set(spec["null_values"])
    df = pd.DataFrame({name: pd.Series([None if row[i] in nulls else row[i] for row in rows], dtype=object)
                       for i, name in enumerate(names)}, index=range(len(rows)))
    declared = [t["name"] for t in spec["types"]]
    for name in declared + spec["requires"]:
        if name not in names:
            raise ValueError("there is no column '%s'" % name)
    return retype(cast(df, spec["types"]), typed=declared)


def csv_cell(text, delimiter):
    if text is None:
        return ""
    bare = text and text == text.strip() and not any(c in text for c in delimiter + '"\r\n')
    return text if bare else '"%s"' % text.replace('"', '""')


def write_table(df, path, delimiter):
    """Writes CSV, to a new file that then takes the name of an old one."""
    if not df.columns.is_unique:
        raise ValueError("two columns of the result have one name")
    columns = [[str(name)] + texts(df.iloc[:, i]) for i, name in enumerate(df.columns)]
    lines = [delimiter.join(csv_cell(v, delimiter) for v in row) + "\n" for row in zip(*columns)]
    data = "".join(lines).encode()
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    new = "%s.%d.tmp" % (path, os.getpid())
    try:
        with open(new, "wb") as f:
            f.write(data)
        os.replace(new, path)
    finally:
        if os.path.exists(new):
            os.remove(new)


def main(argv):
    names, name = list(INPUTS), os.path.basename(argv[0])  # noqa: F821
    if len(argv) - 1 not in (len(names), len(names) + 1) or argv[1][:2] in ("-h", "--"):
        print("usage: %s %s [OUT.csv]" % (name, " ".join(n.upper() + ".csv" for n in names)), file=sys.stderr)
        return 2
    at = None
    try:
        tables = {}
        for at, key in zip(argv[1:], names):
            tables[key] = read_table(at, INPUTS[key])  # noqa: F821
        at = None
        write_table(transform(tables, {}), (argv[1 + len(names):] or ["-"])[0], DELIMITER)  # noqa: F821
    except (ValueError, TypeError, LookupError, ArithmeticError, AssertionError, OSError) as e:
        what = e.args[0] if isinstance(e, KeyError) and e.args else e.strerror if isinstance(e, OSError) else e
        print("%s: error: %s%s" % (name, at + ": " if at else "", what), file=sys.stderr)
        return 1
    return 0
