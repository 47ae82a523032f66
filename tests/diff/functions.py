"""Compares every function of the formula language in the engine with the pandas code that dtx makes for it.

Usage: functions.py DTX   One table; all formulas are columns of one plan, all aggregates of another.
"""
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

TABLE = """i,j,f,t,n,d,at,b,s
1,10,1.5,Größe one-two,ab12,2024-01-31,2024-01-31T23:59:59.5,true,x
-2,0,-0.25, o'neill  MC ,,1969-12-28,1969-12-31T00:00:01,false,y
,3,,,+49 (0)30,,,,x
7,-3,2.675,日本 Æon,12,2021-01-03,2000-02-29T12:00:00,true,
"""
# each formula covers the functions in it; results that pandas writes in another way go through text()
FORMULAS = """
abs(i); sign(f); round(f, 2); round_even(f * 2); floor(f); ceil(f, 1); trunc(f); sqrt(j); exp(i); ln(j); log10(j); log2(j)
log(j, 3); pow(f, 2); mod(j, 4); min(i, j); max(i, f, 0); row_sum(i, j); row_sum(i, f); row_mean(i, j, 3); row_min(i, f); row_max(j); row_count(i, t, s); clamp(j, 0, 5); sin(f); cos(f); tan(f); asin(f); acos(f); atan(f)
atan2(f, i); degrees(f); radians(f); i * pi(); safe_div(i, j, 9); pct(i, j); bucket(j, 4); bucket(f, 0.5)
f // 0.05; f % 0.05; bucket(f, 0.05); (i * 0.1) // 0.1; (i * 0.1) % 0.1; j // 0.3; j % 0.3; f // i; f % j
if(b, i, j); coalesce(i, 0); nullif(s, 'x'); is_distinct(s, 'x'); switch(s, 'x', 1, 'y', 2, 3); is_blank(t)
length(t); upper(t); lower(t); trim(t); ltrim(t); rtrim(t); left(t, 3); right(t, -2); mid(t, -3, 2); slice(t, 1, 3)
concat(t, i, f); concat_ws('-', s, i); replace(t, 'o', '0'); starts_with(t, 'G'); ends_with(t, 'o'); contains(t, 'one')
index_of(t, 'e'); split_part(t, ' ', 2); pad_left(s, 3, '*'); pad_right(s, 3); repeat(s, 2)
bytes(t); title(t); title(concat('ΟΔΟΣ ', t)); capitalize(t); squeeze(t); reverse(t); word(t, 2); word(t, -1); code(t); char(j + 64); ascii_fold(t)
length(normalize(t, 'NFD')); only_digits(n); remove_punct(t); format_number(f * 12345.5, 2); format_number(j, 1, ' ')
md5(t); sha256(t); fingerprint(t); soundex(t); levenshtein(t, n); jaro_winkler(t, 'one two')
matches(n, '[0-9]'); like(n, '%1_'); extract(n, '([a-z])[0-9]'); replace_re(n, '([0-9])', '<$1>'); replace_re(n, '([a-z])([0-9])', '\\2-\\1 \\x'); replace_re(n, '(?P<d>[0-9])', '\\g<d>$0\\\\1'); count_re(n, '[0-9]')
extract_all(n, '[0-9]+', ';'); split_re_part(n, '[ ()]+', 2); split_re_part(n, '[0-9]', -1)
int(f * 0 + 3); float(i); text(f); bool(i * 0); date(text(d)); datetime('2024-01-31 09:30'); is_number(n); is_int(f); is_date(d); is_number('1.'); is_date('20240131')
year(d); quarter(d); month(d); day(d); hour(at); minute(at); second(at); weekday(d); date_trunc(at, 'hour')
date_trunc(d, 'week'); date_add(d, i, 'month'); date_diff(d, '2024-02-29', 'month'); format_date(d, '%d.%m.%Y %a')
make_date(2024, 2, 29); month_name(d); weekday_name(d); iso_week(d); iso_year(d); day_of_year(d); start_of_month(at)
end_of_month(at); months_between(d, '2024-02-29'); workdays(d, '2024-03-01'); workdays(at, '1999-12-31'); workdays(d, '2024-03-01', '2024-02-01, 2021-01-04,2021-01-04,2024-02-03');
date_trunc(at, 'week', 'sunday'); date_trunc(d, 'week', 'saturday'); sec_to_time(i * 3599); time_to_sec(sec_to_time(j * -4000)); fiscal_year(d, 4)
is_weekend(d); from_excel_serial(45322); from_excel_serial(45322.25); from_unix(i); from_unix(j * 1000, 'ms'); to_unix(at); to_unix(d, 'ms')
number('(1,234.50)'); number(i); number('12%'); number('-'); decimal(f, 9, 2); text(decimal('2.5', 6, 2)); decimal(i, 5, 1); run_date(); run_date() - d
to_tz(at, 'Europe/Berlin'); to_tz(d, '-03:30'); in_tz(at, 'America/New_York'); in_tz(at, 'UTC'); in_tz(date_add(at, 40000, 'day'), 'Europe/Dublin')
json_get('{"a": [1.50, {"b c": "x"}]}', 'a[1]["b c"]'); json_get('{"a": [1.50, "é"]}', '$.a'); json_len('[1, 2]')
"""
AGGREGATES = """
count(); count(i); count_if(b); count_distinct(s); sum(i); mean(f); median(j); quantile(j, 0.3); min(t); max(d); first(s)
last(i); std(j); var(f); any(b); all(b); concat_agg(s, '|'); mode(s); any_value(t); std_pop(j); var_pop(i); quantile_disc(j, 0.4)
quantile_disc(s, 0.5); iqr(j); mad(j); range(j); range(d); product(i); product(f); corr(i, j); cov(f, j); wavg(i, j); arg_max(t, j)
arg_min(s, d); share_null(i); skew(j); kurt(j + i); regr_slope(i, j); regr_r2(f, j); gmean(j + 4); gmean(j); hmean(j + 4)
corr(i, j, where: i > 0); arg_max(t, j, where: b); share_null(i, where: j > 0)
"""
# without pandas code: the op says so, plain Python has no such number, or it does not know the place of a row
NO_FORM = {"try", "typeof", "source_row", "source_file", "source_sheet"}


def split(text):
    return [f.strip() for line in text.strip().split("\n") for f in re.split(r";(?!')", line) if f.strip()]


def run(dtx, folder, step, inputs):
    plan = {"dtx": 1, "inputs": [{"name": "main", "types": {"d": "date", "at": "datetime"}}], "steps": [step]}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "main.csv").write_text(inputs)
    done = subprocess.run([dtx, "run", "plan.json", "main.csv", "--fallback", "off", "--to", "jsonl"], cwd=folder,
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        return None, done.stderr
    text, why = examples.compiled(dtx, {"step": step}, folder)
    if text is None:
        return None, why
    got, problem = compare.run(text, {"main": examples.frame(inputs)}, {})
    return ([json.loads(line) for line in done.stdout.splitlines()], got), problem


def differences(dtx, folder, op, key, formulas):
    step = dict(op, **{key: [{"as": "x%d" % i, "expr": f} for i, f in enumerate(formulas)]})
    both, problem = run(dtx, folder, step, TABLE)
    if problem:
        return [problem]
    out = []
    for i, formula in enumerate(formulas):
        want, have = ([{"x": row.get("x%d" % i)} for row in side] for side in both)
        found = compare.difference(want, have)
        out += [formula + ": " + found] if found else []
    return out


def main():
    dtx, failed = os.path.realpath(sys.argv[1]), 0
    formulas, aggregates = split(FORMULAS), split(AGGREGATES)
    listed = subprocess.run([dtx, "ops", "--functions"], capture_output=True, text=True, timeout=60).stdout
    window = listed[listed.index("\nWindow"):].split("\n\n")[0]
    names = {m for m in re.findall(r"^  (\w+)\(", listed.replace(window, ""), re.M)}
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["DTX_STORE"] = os.path.join(tmp, "store.db")
        found = differences(dtx, pathlib.Path(tmp), {"op": "derive"}, "set", formulas)
        found += differences(dtx, pathlib.Path(tmp), {"op": "group_by", "by": []}, "agg", aggregates)
    found += ["%s() stands in no formula here" % name for name in sorted(names - NO_FORM)
              if not re.search(r"\b%s\(" % name, FORMULAS + AGGREGATES)]
    for line in found:
        failed += 1
        print("not ok - " + line)
    print("%d passed, %d failed, 0 skipped" % (len(formulas) + len(aggregates) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
