"""Functions of the formula language over words, names, calendars and JSON, one value at a time."""
import datetime
import decimal
import hashlib
import json
import math
import re
import unicodedata

import pandas as pd

# --- characters ---


def is_word(c):
    return unicodedata.category(c)[0] in "LMN"


def title(t):
    """Each word starts with a capital; an apostrophe does not end a word. A whole word is converted
    at once, because the case of a letter may depend on its word."""
    out, word = [], ""
    for c in t + " ":
        if is_word(c) or word and c in "'\u2019":
            word += c
            continue
        out.append(word[:1].upper() + word[1:].lower() + c)
        word = ""
    return "".join(out)[:-1]


SPELLED = {
    "\u00c6": "AE", "\u00e6": "ae", "\u00d8": "O", "\u00f8": "o", "\u00df": "ss", "\u00d0": "D", "\u00f0": "d",
    "\u00de": "TH", "\u00fe": "th", "\u0110": "D", "\u0111": "d", "\u0131": "i", "\u0141": "L", "\u0142": "l",
    "\u0152": "OE", "\u0153": "oe", "\u1e9e": "SS",
}


def ascii_fold(t):
    plain = [SPELLED.get(c, c) for c in unicodedata.normalize("NFKD", t) if unicodedata.category(c) != "Mn"]
    return unicodedata.normalize("NFC", "".join(plain))


def word(t, n):
    parts = t.split()
    at = n - 1 if n > 0 else len(parts) + n
    return parts[at] if n and 0 <= at < len(parts) else None


def char(n):
    if not 0 < n <= 0x10ffff or 0xd800 <= n <= 0xdfff:
        raise ValueError("there is no character %d" % n)
    return chr(n)


def format_number(x, digits, group=","):
    if not 0 <= digits <= 30:
        raise ValueError("format_number() shows 0 to 30 digits, not %d" % digits)
    step, context = decimal.Decimal(1).scaleb(-digits), decimal.Context(prec=400)
    shown = decimal.Decimal(repr(x) if isinstance(x, float) else x)
    got = format(shown.quantize(step, decimal.ROUND_HALF_UP, context), ",f")
    return ("0" + got[2:] if got.startswith("-0") and not got.strip("-0.,") else got).replace(",", group)


# --- similarity ---


def fingerprint(t):
    kept = "".join(c for c in ascii_fold(t.lower()) if is_word(c) or c.isspace())
    return " ".join(sorted(set(kept.split())))


def soundex(t):
    codes = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "01230120022455012623010202"))
    out, last = "", "0"
    for c in ascii_fold(t).upper():
        if c not in codes:
            continue
        sound = codes[c]
        if not out:
            out = c
        elif sound != "0" and sound != last:
            out += sound
        if c not in "HW":
            last = sound
    return (out + "000")[:4] if out else ""


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        before, row[0] = row[0], i + 1
        for k, y in enumerate(b):
            before, row[k + 1] = row[k + 1], min(before + (x != y), row[k + 1] + 1, row[k] + 1)
    return row[-1]


def jaro_winkler(a, b):
    if not a and not b:
        return 1.0
    reach, used, left = max(max(len(a), len(b)) // 2 - 1, 0), [False] * len(b), []
    for i, x in enumerate(a):
        for k in range(max(0, i - reach), min(len(b), i + reach + 1)):
            if not used[k] and b[k] == x:
                used[k] = True
                left.append(x)
                break
    if not left:
        return 0.0
    m = float(len(left))
    moved = sum(x != y for x, y in zip(left, (y for y, u in zip(b, used) if u))) // 2
    score = (m / len(a) + m / len(b) + (m - moved) / m) / 3
    prefix = 0
    while prefix < min(4, len(a), len(b)) and a[prefix] == b[prefix]:
        prefix += 1
    return score + prefix * 0.1 * (1 - score) if score > 0.7 else score


# --- calendar ---

FRACTION = "[0-9]{1,6}0{0,3}"  # a datetime has microseconds, so more digits must be 0
OFFSET = "Z|[+-][0-9]{2}(?::?[0-9]{2})?"
ISO = re.compile("([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.]%s)?)?)(?: ?(%s))?)?" %
                 (FRACTION, OFFSET))


def offset_of(text):
    """How far the zone is ahead of UTC."""
    if text in "Zz":
        return datetime.timedelta()
    hours, minutes = int(text[1:3]), int(text[3:].strip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError("'%s' is not an offset" % text)
    return datetime.timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)


def iso_time(t):
    """A date or time in ISO 8601, converted to UTC if it has an offset. Python's own function
    accepts other forms, too."""
    found = ISO.fullmatch(t.strip())
    if not found:
        raise ValueError("'%s' is no ISO date" % t)
    clock, _, fraction = (found[2] or "00:00").partition(".")
    got = datetime.datetime.fromisoformat(found[1] + "T" + clock)
    return got + datetime.timedelta(microseconds=int(fraction[:6].ljust(6, "0"))) - offset_of(found[3] or "Z")


# --- dates by a format ---

MONTHS = "january february march april may june july august september october november december".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def names_pattern(names):
    return "|".join("%s|%s" % (n, n[:3]) for n in names)


FIELDS = {"Y": "[0-9]{4}", "y": "[0-9]{2}", "m": "[0-9]{1,2}", "d": "[0-9]{1,2}", "H": "[0-9]{1,2}", "I": "[0-9]{1,2}",
          "M": "[0-9]{1,2}", "S": "[0-9]{1,2}", "f": FRACTION, "p": "am|pm", "b": names_pattern(MONTHS),
          "B": names_pattern(MONTHS), "a": names_pattern(DAYS), "A": names_pattern(DAYS), "j": "[0-9]{1,3}",
          "G": "[0-9]{4}", "V": "[0-9]{1,2}", "u": "[0-9]", "z": OFFSET}


def of_two_digits(year, century):
    first = century % 100
    return century - first + year + (100 if year < first else 0)


def format_reader(form, century):
    """Makes a reader of one format. Each field takes as many digits as it can, as in the engine."""
    tokens = re.findall("%(.)|([^%])", form)

    def read(text):
        found = {}
        for field, literal in tokens:
            part = re.match("(?i:%s)" % FIELDS[field] if field in FIELDS else re.escape(literal or field), text)
            if not part:
                return None
            found[field] = part[0].lower()
            text = text[part.end():]
        return None if text else moment_of(found, century)
    return read


def month_of(text):
    return [m[:3] for m in MONTHS].index(text[:3].lower()) + 1


def moment_of(found, century):
    numbers = {k: int(v) for k, v in found.items() if v.isdigit() and k != "f"}
    half, hour = found.get("p"), numbers.get("H", 0)
    try:
        if "I" in numbers:
            if not 1 <= numbers["I"] <= 12:
                return None
            hour = numbers["I"] % 12 + (12 if half == "pm" else 0)
        clock = datetime.timedelta(hours=hour, minutes=numbers.get("M", 0), seconds=numbers.get("S", 0),
                                   microseconds=int(found.get("f", "0")[:6].ljust(6, "0")))
        if hour > 23 or numbers.get("M", 0) > 59 or numbers.get("S", 0) > 59:
            return None
        return day_of(found, numbers, century) + clock - offset_of(found.get("z", "z"))
    except (OverflowError, ValueError):
        return None


def day_of(found, numbers, century):
    name = found.get("a", found.get("A"))
    weekday = numbers.get("u") or name and [d[:3] for d in DAYS].index(name[:3]) + 1
    if "G" in numbers and "V" in numbers:
        return datetime.datetime.fromisocalendar(numbers["G"], numbers["V"], weekday or 1)
    got = date_of(found, numbers, century)
    if weekday and got.isoweekday() != weekday:
        raise ValueError("that day is a %s" % DAYS[got.weekday()])
    return got


def date_of(found, numbers, century):
    year = of_two_digits(numbers["y"], century) if "y" in numbers else numbers.get("Y")
    if year is None:
        raise ValueError("no year")
    if "j" in numbers:
        got = datetime.datetime(year, 1, 1) + datetime.timedelta(days=numbers["j"] - 1)
        if got.year != year:
            raise ValueError("no day %d" % numbers["j"])
        return got
    month = found.get("b", found.get("B"))
    return datetime.datetime(year, month_of(month) if month else numbers.get("m", 1), numbers.get("d", 1))


def day(d):
    return pd.Timestamp(d).date()


def time_to_sec(t):
    found = re.fullmatch("(-?)([0-9]{1,9}):([0-5][0-9])(?::([0-5][0-9]))?", t.strip())
    if not found:
        raise ValueError("time_to_sec: '%s' is not hours:minutes or hours:minutes:seconds" % t)
    seconds = (int(found[2]) * 60 + int(found[3])) * 60 + int(found[4] or 0)
    return -seconds if found[1] else seconds


def sec_to_time(n):
    return "%s%02d:%02d:%02d" % ("-" if n < 0 else "", abs(n) // 3600, abs(n) // 60 % 60, abs(n) % 60)


def workdays(a, b, holidays=""):
    free = {datetime.date.fromisoformat(d.strip()) for d in holidays.split(",") if d}

    def before(d):
        weeks, rest = divmod(d.toordinal() - 1, 7)  # day 1 was a Monday
        return weeks * 5 + min(rest, 5) - sum(h < d and h.isoweekday() < 6 for h in free)
    return before(day(b)) - before(day(a))


def from_excel_serial(n):
    if not 1 <= n < 2958466 or math.floor(n) == 60:
        raise ValueError("a spreadsheet has no day %s" % n)
    days = float(n) + (1 if n < 60 else 0)
    return pd.Timestamp("1899-12-30") + pd.Timedelta(milliseconds=round(days * 86400000))


NANO = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1,
        "second": 10**9, "millisecond": 10**6, "microsecond": 10**3, "nanosecond": 1}


def from_unix(n, unit="s"):
    us = n * NANO[unit] // 1000 if isinstance(n, int) else math.floor(float(n) * NANO[unit] / 1000)
    return pd.Timestamp("1970-01-01") + pd.Timedelta(microseconds=us)


def to_unix(d, unit="s"):
    return pd.Timestamp(d).value // NANO[unit]


# --- kinds of values ---


def reads(pattern):
    return lambda t: re.fullmatch(pattern, t.strip(), re.ASCII) is not None


def is_number(v):
    if isinstance(v, str):
        return reads(r"[+-]?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?")(v) and math.isfinite(float(v))
    return not isinstance(v, (bool, datetime.date))


def is_int(v):
    if isinstance(v, str):
        return reads(r"[+-]?[0-9]+")(v) and -2**63 <= int(v) < 2**63
    return is_number(v) and v == math.floor(v) and -2**63 <= v < 2**63


def is_date(v):
    if not isinstance(v, str):
        return isinstance(v, datetime.date)
    try:
        iso_time(v)
        return True
    except ValueError:
        return False


# --- JSON ---


class Written(str):
    """A number with the digits that it was written with."""


def json_read(t):
    def none(word):
        raise ValueError("'%s' is no JSON" % word)
    try:
        return json.loads(t, parse_int=Written, parse_float=Written, parse_constant=none)
    except json.JSONDecodeError as e:
        raise ValueError("cast failed: not JSON: %s" % e) from None


def json_text(v):
    if isinstance(v, Written):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + json_text(x) for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(json_text, v)) + "]"
    return json.dumps(v, ensure_ascii=False)


def json_get(t, path):
    v = json_read(t)
    for key, quoted, index in re.findall(r"\.?([^.\[\]]+)|\[(?:'([^']*)'|\"[^\"]*\")\]|\[([0-9]+)\]",
                                         re.sub(r"^\$(?=$|[.\[])", "", path).replace('["', "['").replace('"]', "']")):
        if index:
            v = v[int(index)] if isinstance(v, list) and int(index) < len(v) else None
        else:
            v = v.get(key or quoted) if isinstance(v, dict) else None
    return None if v is None else str(v) if isinstance(v, str) else json_text(v)


def json_len(t):
    v = json_read(t)
    return len(v) if isinstance(v, (list, dict)) else None


# --- numbers ---


def safe_div(a, b, default=None):
    if a is None or b is None:
        return None
    return float(a) / float(b) if b else None if default is None else float(default)


def bucket(x, width):
    if not width > 0:
        return None
    if isinstance(x, float) or isinstance(width, float):
        return float(DIGITS.subtract(digits_of(x), digit_pair(x, width)[1])) + 0.0
    return x - floor_pair(x, width)[1]


DIGITS = decimal.Context(prec=800)


def digits_of(x):
    return decimal.Decimal(repr(float(x)))


def digit_pair(x, y):
    """x // y and x % y of floats, computed on the digits that they are written with."""
    x, y = digits_of(x), digits_of(y)
    whole, rest = DIGITS.divmod(x, y)
    return (DIGITS.subtract(whole, 1), DIGITS.add(rest, y)) if rest and (rest < 0) != (y < 0) else (whole, rest)


def float_floordiv(x, y):
    q = x / y
    return q if not abs(q) < 2**53 else float(digit_pair(x, y)[0])


def float_mod(x, y):
    return float(digit_pair(x, y)[1])


def floor_pair(x, y):
    """x // y and x % y rounded down as for integers; Python's decimals round towards zero."""
    whole, rest = divmod(x, y)
    return (whole - 1, rest + y) if rest and (rest < 0) != (y < 0) else (whole, rest)


TEXTS = {  # the first argument is converted to text
    "time_to_sec": time_to_sec,
    "bytes": lambda t: len(t.encode()), "title": title,
    "capitalize": lambda t: t[:1].upper() + t[1:].lower(), "squeeze": lambda t: re.sub(r"\s+", " ", t),
    "reverse": lambda t: t[::-1], "word": word, "code": lambda t: ord(t[0]) if t else None,
    "ascii_fold": ascii_fold, "normalize": lambda t, form="NFC": unicodedata.normalize(form.upper(), t),
    "only_digits": lambda t: re.sub("[^0-9]", "", t),
    "remove_punct": lambda t: "".join(c for c in t if is_word(c) or c.isspace()),
    "md5": lambda t: hashlib.md5(t.encode()).hexdigest(), "sha256": lambda t: hashlib.sha256(t.encode()).hexdigest(),
    "fingerprint": fingerprint, "soundex": soundex, "levenshtein": levenshtein, "jaro_winkler": jaro_winkler,
    "json_get": json_get, "json_len": json_len,
}
def zone(name):
    """A fixed offset, or a zone of the system's database, whose files the jail has in memory."""
    fixed = re.fullmatch(r"([+-])([0-9]{2}):([0-9]{2})", name)
    if fixed or name in ("UTC", "Z"):
        sign, hours, minutes = fixed.groups() if fixed else ("+", 0, 0)
        east = datetime.timedelta(hours=int(hours), minutes=int(minutes))
        return datetime.timezone(-east if sign == "-" else east)
    import zoneinfo
    return zoneinfo.ZoneInfo(name)


def between_zones(d, here, there):
    """The local time in zone `there` when it is d in zone `here`."""
    d = pd.Timestamp(d).to_pydatetime()
    return pd.Timestamp(d.replace(tzinfo=here).astimezone(there).replace(tzinfo=None))


VALUES = {
    "to_tz": lambda d, name: between_zones(d, datetime.timezone.utc, zone(name)),
    "in_tz": lambda d, name: between_zones(d, zone(name), datetime.timezone.utc),
    "char": char, "format_number": format_number,
    "month_name": lambda d: pd.Timestamp(d).month_name(), "weekday_name": lambda d: pd.Timestamp(d).day_name(),
    "iso_week": lambda d: day(d).isocalendar()[1], "iso_year": lambda d: day(d).isocalendar()[0],
    "day_of_year": lambda d: day(d).timetuple().tm_yday, "is_weekend": lambda d: day(d).isoweekday() > 5,
    "start_of_month": lambda d: pd.Timestamp(d).normalize().replace(day=1),
    "end_of_month": lambda d: pd.Timestamp(d).normalize() + pd.offsets.MonthEnd(0),
    "workdays": workdays, "sec_to_time": sec_to_time,
    "fiscal_year": lambda d, start: day(d).year + (start > 1 and day(d).month >= start),
    "from_excel_serial": from_excel_serial, "from_unix": from_unix, "to_unix": to_unix,
    "is_number": is_number, "is_int": is_int, "is_date": is_date, "bucket": bucket,
}
FLOATS = {  # a result that is not a number becomes null
    "log2": math.log2, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "atan2": math.atan2, "degrees": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180), "pct": lambda a, b: 100 * a / b,
}
CONDITIONS = {"is_weekend", "is_number", "is_int", "is_date"}
