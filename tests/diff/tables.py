"""Random typed tables: nulls, duplicates, unicode, extremes, empty, one row."""
import datetime as dt
import decimal
import random

WORDS = ["a", "b", "ab", "Zoë", "x y", "", "0042", "total", "naïve", "🙂", 'q"q', "long text of more than twelve bytes",
         "f10", "f9", "F1", " pad ", "7", "2.50", "1e3", "-0"]
ODD = ["a\u00a0b", "x\u200by", "“q”", "a–b", "É", "ﬁn", "o’neil SMITH", "tab\there"]
LISTS = ["a;b", "a; b;;c", "x", ";", " one;two ", "1;2;3", ""]
AMOUNTS = ["1,234.50", "(5)", "$12", "-", "25%", "7-", "n/a", "€ 3", "x", "1,23", "+4"]
NUMBERS = ("int", "float")


def one_of(*forms):
    return random.choice(forms)


def chance(p):
    return random.random() < p


def some(items, least=1):
    items = list(items)
    return random.sample(items, random.randint(min(least, len(items)), len(items)))


def column(kind, n, nulls):
    form = one_of("%d/%m/%Y", "%d.%m.%y", "%d %b %Y")  # of all days of a column
    make = {
        "int": lambda: 2**53 - 1 if chance(0.004) else one_of(0, 1, 2, 3, -1, 7, 100, random.randint(-1000, 1000)),
        "float": lambda: one_of(0.5, 1.25, -2.75, 0.1, 3.0625, 2.0, round(random.uniform(-100, 100), 3)),
        "text": lambda: random.choice(ODD if chance(0.1) else WORDS),
        "list": lambda: random.choice(LISTS),
        "day": lambda: (dt.date(2024, 1, 31) + dt.timedelta(days=random.randint(-400, 400))).strftime(form),
        "amount": lambda: random.choice(AMOUNTS),
        "key": lambda: one_of("red", "green", "blue", "a longer key of many bytes"),
        "bool": lambda: chance(0.5),
        "date": lambda: dt.date(2024, 1, 31) + dt.timedelta(days=random.randint(-400, 400)),
        "stamp": lambda: dt.datetime(2024, 1, 31, one_of(0, 9, 23)) + dt.timedelta(seconds=random.randint(-10**7, 10**7)) if chance(0.9)
        else dt.datetime(2024, 1, one_of(1, 31)),
        "dec": lambda: decimal.Decimal(one_of(125, 0, -50, 1999, random.randint(-10**6, 10**6))).scaleb(-2),
    }[kind]
    return [None if chance(nulls) else make() for _ in range(n)]


def table(n, kinds):
    names = {"int": "i", "float": "f", "text": "t", "key": "k", "bool": "b", "date": "d", "amount": "a", "list": "l", "day": "y",
             "stamp": "s", "dec": "p"}
    return {names[kind]: (kind, column(kind, n, one_of(0, 0.2))) for kind in kinds}


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value)


def written(value, sep, needless):
    """In quotes where it needs them, and here and there where it does not."""
    text = cell(value)
    if value is None or not (text == "" or any(c in text for c in ',"\n\r' + sep) or text != text.strip() or chance(needless)):
        return text
    return '"' + text.replace('"', '""') + '"'


def to_csv(tab, sep=",", needless=0.0):
    rows = zip(*(values for _, values in tab.values()))
    return "\n".join([sep.join(tab)] + [sep.join(written(v, sep, needless) for v in row) for row in rows]) + "\n"


# --- columns: `cols` maps a name to its kind ---


def of(cols, *kinds):
    return [c for c, kind in cols.items() if kind in kinds]


class Mixed(str):
    """The kind of a column that columns of several types became.  Where those that made it text are
    null, pandas has numbers: it does not know the type of a column of nulls."""


MIXED = Mixed("text")


class Centred(str):
    """The kind of numbers about their mean: their sum is nought but for the last digits of each, and
    no share of it means anything."""


CENTRED = Centred("float")


def weights(cols, names):
    """Those of the columns whose sum may be divided by."""
    return [c for c in names if not isinstance(cols[c], Centred)]


def name(c):
    return c if c.isidentifier() else "`%s`" % c


# --- selectors ---


def selector(cols, names):
    """Some way to say these columns, and the columns in the order it says."""
    have = list(cols)
    if chance(0.7):
        return names, names
    form = one_of("regex", "range", "type", "not", "all")
    if form == "range":
        a, b = sorted(have.index(c) for c in (random.choice(have), random.choice(have)))
        return [{"range": [have[a], have[b]]}], have[a:b + 1]
    if form == "regex":
        return [{"regex": "^(%s)$" % "|".join(names)}], [c for c in have if c in names]
    if form == "not" and len(names) < len(have):
        return [{"not": names}], [c for c in have if c not in names]
    mixed = any(isinstance(kind, Mixed) for kind in cols.values())
    if form == "type" and not mixed and of(cols, *NUMBERS, "dec") in (["i"], ["f"], ["i", "f"], ["f", "i"]):
        return [{"type": "number"}], of(cols, *NUMBERS)
    return ["*"], have


def without(cols, gone):
    return {c: kind for c, kind in cols.items() if c not in gone}
