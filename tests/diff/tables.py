"""Random typed tables (nulls, duplicates, unicode, extremes, empty, one row) and random formulas over them."""
import datetime as dt
import random

WORDS = ["a", "b", "ab", "Zoë", "x y", "", "0042", "total", "naïve", "🙂", 'q"q', "long text of more than twelve bytes",
         "f10", "f9", "F1", " pad "]
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
    }[kind]
    return [None if chance(nulls) else make() for _ in range(n)]


def table(n, kinds):
    names = {"int": "i", "float": "f", "text": "t", "key": "k", "bool": "b", "date": "d", "amount": "a", "list": "l", "day": "y"}
    return {names[kind]: (kind, column(kind, n, one_of(0, 0.2))) for kind in kinds}


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if text == "" or any(c in text for c in ',"\n\r') or text != text.strip() else text


def to_csv(tab):
    rows = zip(*(values for _, values in tab.values()))
    return "\n".join([",".join(tab)] + [",".join(cell(v) for v in row) for row in rows]) + "\n"


# --- formulas; `cols` maps a name to its kind ---


def of(cols, *kinds):
    return [c for c, kind in cols.items() if kind in kinds]


def name(c):
    return c if c.isidentifier() else "`%s`" % c


def number_expr(cols):
    c = name(random.choice(of(cols, *NUMBERS) or ["1"])) if of(cols, *NUMBERS) else "1"
    form = one_of("{}", "{} + 1", "{} * 2", "-{}", "{} / 4", "round({}, 1)", "abs({})", "coalesce({}, 0)",
                  "if({} > 2, {}, 0)", "{} - 3", "{} // 2", "{} % 3", "{} ** 2", "floor({})", "max({}, 1)",
                  "clamp({}, 0, 5)", "nullif({}, 1)", "case when {} > 1 then {} when {} is null then -1 else 0 end",
                  "switch({}, 1, 10, 2, 20, 0)", "round_even({} / 2)", "sign({})", "ceil({})", "trunc({})", "sqrt(abs({}))",
                  "round({}, -1)", "min({}, 2, null)", "exp({} / 1000)", "ln(abs({}) + 1)", "log({}, 2)", "log10({})",
                  "{} / {}", "{} % {}", "{} // {}", "{} - null")
    floats = ("/ 4", "**", "/ {}", "sqrt", "exp", "ln(", "log")
    kind = "float" if cols.get(c.strip("`")) == "float" or any(f in form for f in floats) and "//" not in form else "int"
    if form.startswith(("floor", "round_even", "sign", "switch", "ceil", "trunc")):
        kind = "int"
    return form.format(*[c] * form.count("{}")), kind


def text_expr(cols):
    c = name(random.choice(of(cols, "text", "key", "amount")))
    return one_of("upper({})", "concat({}, '-', {})", "left({}, 2)", "coalesce({}, 'none')", "replace({}, 'e', 'E')",
                  "mid({}, 2, 3)", "trim({})", "concat_ws('/', {}, 'z')", "pad_left({}, 5, '*')", "right({}, 1)",
                  "extract({}, '[a-z]+')", "replace_re({}, '(l+)', '<$1>')", "split_part({}, ' ', 2)", "lower({})", "ltrim({})",
                  "rtrim({})", "slice({}, 1, 3)", "slice({}, -2)", "pad_right({}, 8, '.-')", "repeat({}, 2)", "left({}, 0)",
                  "mid({}, -3, 2)", "split_part({}, ';', -1)", "nullif({}, 'a')", "if(contains({}, 'e'), {}, 'no')",
                  "case when is_blank({}) then 'blank' when ends_with({}, 'n') then 'n' end", "text(length({}))",
                  "text(index_of({}, 'e'))", "if({} like '%a_', 'like', 'not')", "title({})", "capitalize({})", "squeeze({})",
                  "reverse({})", "word({}, -1)", "ascii_fold({})", "only_digits({})", "remove_punct({})", "fingerprint({})",
                  "soundex({})", "extract_all({}, '[a-z]', '')", "split_re_part({}, '[ ;]+', 2)", "text(is_number({}))",
                  "text(levenshtein({}, 'total'))", "text(round(jaro_winkler({}, 'total'), 9))").replace("{}", c), "text"


def date_expr(cols):
    c = random.choice(of(cols, "date"))
    return one_of(("year({})", "int"), ("month({})", "int"), ("quarter({})", "int"), ("weekday({})", "int"),
                  ("date_trunc({}, 'month')", "date"), ("date_add({}, 1, 'month')", "date"),
                  ("date_diff({}, '2024-06-30', 'day')", "int"), ("{} + 7", "date"), ("date_trunc({}, 'week')", "date"), ("date_trunc({}, 'quarter')", "date"),
                  ("date_add({}, -13, 'month')", "date"), ("date_add({}, 2, 'week')", "date"), ("day({})", "int"),
                  ("date_diff({}, '2024-06-30', 'month')", "int"), ("date_diff('2023-11-05', {}, 'year')", "int"),
                  ("date_diff({}, '2024-06-30', 'week')", "int"), ("{} - date('2024-01-01')", "int"),
                  ("text({})", "text"), ("iso_week({})", "int"), ("end_of_month({})", "date"),
                  ("workdays({}, '2024-03-01')", "int"), ("months_between({}, '2024-02-29')", "int"), ("weekday_name({})", "text"),
                  ("coalesce({}, date('2024-02-29'))", "date"), ("format_date({}, '%d.%m.%Y')", "text"))


def any_expr(cols):
    forms = [number_expr]
    forms += [text_expr] if of(cols, "text", "key", "amount") else []
    if of(cols, "date") and chance(0.3):
        text, kind = date_expr(cols)
        return text.replace("{}", random.choice(of(cols, "date"))), kind
    return random.choice(forms)(cols)


def where(cols):
    forms = ["true"] if chance(0.1) else []
    for c in of(cols, "int"):
        forms += [f"{name(c)} > 1", f"{name(c)} is not null", f"{name(c)} in (1, 2, 3)", f"{name(c)} between -1 and 7",
                  f"not ({name(c)} == 1)"]
    for c in of(cols, "float"):
        forms += [f"{name(c)} < 0.5", f"{name(c)} is null or {name(c)} > 1"]
    for c in of(cols, "key"):
        forms += [f"{name(c)} == 'red'", f"{name(c)} != 'blue'", f"{name(c)} in ('red', 'green')", f"is_distinct({name(c)}, 'red')",
                  f"{name(c)} like '%e%'", f"matches({name(c)}, '^[br]')"]
    for c in of(cols, "text"):
        forms += [f"is_blank({name(c)})", f"starts_with({name(c)}, 'a')", f"length({name(c)}) > 2"]
    for c in of(cols, "bool"):
        forms += [name(c), f"not {name(c)}", f"{name(c)} and {name(c)} is not null"]
    for c in of(cols, "date"):
        forms += [f"{name(c)} >= '2024-01-31'"]
    return random.choice(forms or ["true"])


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
    if form == "type" and of(cols, *NUMBERS):
        return [{"type": "number"}], of(cols, *NUMBERS)
    return ["*"], have


def without(cols, gone):
    return {c: kind for c, kind in cols.items() if c not in gone}
