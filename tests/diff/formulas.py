"""Random formulas: templates with holes for columns, and the kind of their result."""
import random
import re

from tables import NUMBERS, chance, name, of

TEXTS = ("text", "key", "amount", "list", "day")
HOLES = {"N": NUMBERS, "M": NUMBERS, "I": ("int",), "J": ("int",), "F": ("float",), "P": ("dec",), "T": TEXTS, "U": TEXTS,
         "D": ("date",), "E": ("date",), "S": ("stamp",), "L": ("date", "stamp"), "B": ("bool",), "C": ("bool",),
         "K": ("int", "bool", "date") + TEXTS,  # a computed float may differ in the last digit, midnight has no time in pandas
         "X": ("int", "float", "bool", "date", "stamp") + TEXTS}

# templates by the kind of their result; "same": the kind of the last hole; "wide": float if a hole is a float
FORMS = {
    "same": """
{N}; -{N}; {N} + 1; {N} * 2; {N} - 3; abs({N}); coalesce({N}, 0); if({N} > 2, {N}, 0); {N} // 2; {N} % 3; {N} // 0.1; {N} % 0.2; bucket({N}, 0.25); max({N}, 1)
min({N}, 2, null); clamp({N}, 0, 5); nullif({N}, 1); case when {N} > 1 then {N} when {N} is null then -1 else 0 end
round({N}, 1); round({N}, -1); round_even({N}, 1); floor({N}, 1); ceil({N}, -1); trunc({N}, 1); mod({N}, 7); {N} - null
coalesce({X}, {X}); nullif({X}, {X}); if({B}, {X}, {X}); case when {B} then {X} end; {P}; -{P}; {P} + 1; {P} - {P}; abs({P})
coalesce({P}, 0.25); if({P} > 2.5, {P}, {P} + 1); max({P}, 1); nullif({P}, 1.25); round({P}, 1); {X}""",
    "wide": """
{N} + {M}; {N} - {M}; {N} * 3 - {M}; {I} % {J}; {I} // {J}; min({N}, {M}); max({N}, {M}, 0); coalesce({N}, {M})
if({N} > {M}, {N}, {M}); case when {N} is null then {M} else {N} end; mod({I}, {J}); clamp({N}, -5, {M} + 100)
switch({N}, 1, {M}, 2, 20, {N}); ({N} + {M}) * ({N} - {M})""",
    "int": """
floor({N}); round({N}); round_even({N} / 2); sign({N}); ceil({N}); trunc({N}); switch({N}, 1, 10, 2, 20, 0); length({T})
index_of({T}, 'e'); bytes({T}); code({T}); count_re({T}, '[a-z]+'); levenshtein({T}, 'total'); levenshtein({T}, {U})
year({L}); quarter({L}); month({L}); day({L}); weekday({L}); iso_week({L}); iso_year({L}); day_of_year({L}); hour({S})
minute({S}); second({S}); fiscal_year({L}, 4); fiscal_year({L}, 10); date_diff({D}, '2024-06-30', 'day')
date_diff({D}, '2024-06-30', 'month'); date_diff('2023-11-05', {D}, 'year'); date_diff({D}, '2024-06-30', 'week')
date_diff({S}, '2024-02-29T12:00:00', 'hour'); date_diff({S}, '2024-02-29T12:00:00', 'month'); date_diff({D}, {S}, 'minute')
date_diff({D}, {E}, 'quarter'); {D} - date('2024-01-01'); {D} - {E}; workdays({D}, '2024-03-01'); workdays({D}, {E})
months_between({D}, '2024-02-29'); months_between({S}, {D}); to_unix({D}); to_unix({S}, 'ms'); int({B}); int(is_number({T}))
int({I} // 3); int(trunc({F})); json_len('[1, 2, 3]'); json_len({T}); floor({P}); bucket({I}, 5); try(int({T}), -1)
if({B} and {C} or not {B}, 1, 0); if(not {B} or {C} is null, 1, 0)""",
    "float": """
{N} / 4; {N} / {M}; {N} ** 2; {N} ** 0.5; sqrt(abs({N})); sqrt({N}); exp({N} / 1000); ln(abs({N}) + 1); ln({N}); log({N}, 2)
log10({N}); log2({N}); pow({N}, 3); pow(abs({N}), 0.25); sin({N}); cos({N} / 100); tan({N} / 1000); asin({N} / 1000)
acos({N} / 1000); atan({N}); atan2({N}, {M}); degrees({N}); radians({N}); {N} * pi(); safe_div({N}, {M}, 9); safe_div({N}, {M})
pct({N}, {M}); bucket({F}, 0.5); bucket({N}, 2.5); float({I}); float({P}); {P} / 3; {P} * 1.5e0; float(extract({T}, '^[0-9]+$'))
round(jaro_winkler({T}, 'total'), 9); round(jaro_winkler({T}, {U}), 9); {I} * 0.1; {I} / 3 - {F}; {P} + -0.5; {P} - 2e-1
{P} - (0.5 + 0.25); {P} * abs(-0.5)""",
    "dec": """
{P} + 1; {P} - 0.5; 1.25 - {P}; {P} * 2; {P} * 0.1; {P} // 2; {P} % 2; {P} // 0.3; {P} % 0.3; {P} % {P}; round({P}, 1)
{P} + {P}; {P} + {I} % 10; max({P}, {I} % 5); coalesce({P}, {I}); coalesce({P}, 19.99); min({P}, 0.125); clamp({P}, 0.1, 9)
bucket({P}, 0.1); if({P} > 1.25, {P}, 0.25); switch({P}, 19.99, 0.1, {P}); nullif({P}, 19.99)""",
    "bool": """
{X} == {X}; {N} > {M}; {N} in (1, 2, {M}); {N} between {M} and 7; not ({N} <= {M}); {T} < {U}; {T} == {U}; {T} in ('a', {U})
{T} between 'b' and 'n'; is_distinct({X}, {X}); is_distinct({N}, {M}); is_blank({X}); {X} is null; {X} is not null; {B} or {C}
{B} and {C}; not {B}; {B} == {C}; {T} like '%a_'; like({T}, 'r%'); matches({T}, '[0-9]{{2}}'); {T} matches '^.e'
starts_with({T}, 'r'); ends_with({T}, 'n'); contains({T}, 'e'); contains({T}, {U}); is_number({T}); is_int({N}); is_date({T})
is_int({T}); is_number({X}); is_date({L}); is_weekend({L}); {D} < {E}; {S} >= '2024-01-31'; {S} > {D}; {P} > 0; {P} >= {N}
{P} == 19.99; {P} in (19.99, 0.1); {P} between 0.1 and 19.99; is_distinct({P}, 19.99); {P} <= {P}; {P} == {F}
{D} in ('2024-01-31', {E}); {D} between '2023-06-01' and '2024-06-01'; coalesce({B}, false); if({N} > 1, {B}, true)
bool({I} * 0); {N} is null or {M} > 1; {B} is null and {N} > 0; nullif({B}, true)""",
    "text": """
upper({T}); lower({T}); title({T}); capitalize({T}); trim({T}); ltrim({T}); rtrim({T}); squeeze({T}); reverse({T}); left({T}, 2)
left({T}, -1); left({T}, 0); right({T}, 1); right({T}, -2); mid({T}, 2, 3); mid({T}, -3, 2); mid({T}, 2); slice({T}, 1, 3)
slice({T}, -2); slice({T}, 0, -1); concat({T}, '-', {U}); concat({T}, {I}, {D}); concat({K}, '|', {K}); concat_ws('/', {T}, 'z')
concat_ws('-', {I}, {T}, {B}); replace({T}, 'e', 'E'); replace({T}, ' ', ''); replace({T}, '', 'x'); pad_left({T}, 5, '*')
pad_right({T}, 8, '.-'); pad_left(text({I}), 6, '0'); repeat({T}, 2); repeat({T}, 0); split_part({T}, ' ', 2)
split_part({T}, ';', -1); word({T}, 1); word({T}, -1); extract({T}, '[a-z]+'); extract({T}, '(\\w)(\\w)', 2)
replace_re({T}, '(l+)', '<$1>'); replace_re({T}, '[aeiou]', ''); extract_all({T}, '[a-z]', ''); extract_all({T}, '(.)e', '+')
split_re_part({T}, '[ ;]+', 2); split_re_part({T}, 'e|r', -2); nullif({T}, 'a'); nullif({T}, {U}); coalesce({T}, 'none')
coalesce({T}, {U}); if(contains({T}, 'e'), {T}, 'no'); if({B}, {T}, {U}); text({P} * 0.1); text(round({P}, 1)); text({P} % 0.3)
text(max({P}, 0.125)); text(if({P} > 19.99, {P}, 0)); text(coalesce({P}, {I})); text(clamp({P}, 0.1, 9)); text(bucket({P}, 0.1))
text({P} - 0.5); text({P} // 2); switch({T}, 'red', 'rot', 'green', 'gruen', {T})
case when is_blank({T}) then 'blank' when ends_with({T}, 'n') then 'n' end; min({T}, {U}); max({T}, 'm'); text({I}); text({B})
text({D}); text({S}); ascii_fold({T}); normalize({T}, 'NFKC'); normalize({T}, 'NFD'); normalize({T}); only_digits({T})
remove_punct({T}); fingerprint({T}); soundex({T}); md5({T}); sha256({T}); char(65 + abs({I}) % 26); format_number({N}, 2)
format_number({I}, 0); format_number({F}, 1, ' '); weekday_name({L}); month_name({L}); format_date({L}, '%d.%m.%Y')
format_date({L}, '%Y-W%V %a %b %j'); format_date({S}, '%y%m%d %H:%M:%S %I %p'); json_get('{{"a": [1.50, "x"]}}', 'a[1]')
json_get({T}, 'a')""",
    "date": """
date_trunc({D}, 'month'); date_trunc({D}, 'week'); date_trunc({D}, 'quarter'); date_trunc({D}, 'year'); date_add({D}, 1, 'month')
date_add({D}, -13, 'month'); date_add({D}, 2, 'week'); date_add({D}, {I} % 50, 'day'); date_add({D}, 1, 'year'); {D} + 7
{D} - {I} % 9; start_of_month({D}); end_of_month({D}); coalesce({D}, date('2024-02-29')); if({B}, {D}, {E}); max({D}, {E})
min({D}, '2024-02-02'); make_date(2024, 1 + abs({I}) % 12, 1 + abs({I}) % 28); date('2024-02-29'); nullif({D}, {E})
date(text({D})); date(concat('15/', format_date({D}, '%m/%Y')), '%d/%m/%Y'); from_excel_serial(45000 + {I} % 1000)""",
    "stamp": """
date_trunc({S}, 'hour'); date_trunc({S}, 'day'); date_trunc({S}, 'month'); date_trunc({S}, 'minute'); date_add({S}, 90, 'minute')
date_add({S}, -1, 'month'); date_add({S}, {I} % 100, 'second'); date_add({S}, 1, 'week'); from_unix(abs({I}) * 86399)
to_tz({S}, 'Europe/Berlin'); in_tz({S}, 'America/New_York'); to_tz({S}, '-03:30')
from_unix({I} * 1000, 'ms'); datetime(text({S})); datetime('2024-01-31 09:30'); coalesce({S}, {D}); max({S}, {D}); if({B}, {S}, {D})
from_excel_serial(45000.25 + abs({I}) % 10)""",
}
# without pandas code: compares only engine and SQL
ALONE = [("typeof({X})", "text"), ("number({T})", "float"), ("try(number({T}), 0)", "float"), ("try({N} // 0)", "same"),
         ("try(date({T}))", "date"), ("run_date()", "date"), ("source_row()", "int"), ("source_file()", "text"),
         ("decimal({I} % 100, 10, 2)", "dec"), ("source_sheet()", "text")]
TABLE = [(form.strip(), kind) for kind, text in FORMS.items() for form in re.split(r"; |\n", text) if form.strip()]


def fill(form, kind, cols):
    """The formula over some columns and its kind, or None where no column fits a hole."""
    holes, kinds = {}, []
    for hole in re.findall(r"(?<!{){([A-Z])}", form):
        if hole not in holes:
            fit = of(cols, *HOLES[hole])
            if not fit:
                return None
            c = random.choice(fit)
            holes[hole] = name(c)
            kinds.append(cols[c])
    if kind == "same":
        kind = kinds[-1] if kinds else "int"
    if kind == "wide":
        kind = "float" if "float" in kinds else "int"
    return form.format(**holes), kind


def formula(cols, *wanted):
    """A formula of one of these kinds (none: of any) and its kind; "same" counts for all."""
    if not wanted and chance(0.01):
        out = fill(*random.choice(ALONE), cols)
        if out:
            return out
    rows = [r for r in TABLE if not wanted or r[1] in wanted or r[1] in ("same", "wide")]
    for _ in range(200):
        out = fill(*random.choice(rows), cols)
        if out and (not wanted or out[1] in wanted):
            return out
    return ("1", "int") if not wanted or "int" in wanted else None


def where(cols):
    """A condition."""
    return "true" if chance(0.05) else (formula(cols, "bool") or ("true", "bool"))[0]


def number(cols):
    return formula(cols, "int", "float", *["dec"] * bool(of(cols, "dec")))
