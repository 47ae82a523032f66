. "$LIB"
# Date functions in SQL give what dtx gives, on days around the ends of months, years and centuries.
/usr/bin/python3 - > in.csv <<'PY'
import datetime as dt, random
random.seed(5)
years = (1, 4, 100, 400, 1899, 1900, 1970, 2000, 2023, 2024, 2100, 9999)
days = [dt.date(y, m, 1) + dt.timedelta(n) for y in years for m in range(1, 13) for n in (0, 1, 27) + ((-1,) if m > 1 else ())]
days += [dt.date(y, 12, 31) for y in years] + [dt.date(2023, 12, 20) + dt.timedelta(n) for n in range(100)]
random.shuffle(days)
print("d,e,s")
for i, d in enumerate(days):
    clock = "00:00:00" if i % 5 == 0 else "%02d:%02d:%02d%s" % (i % 24, i * 7 % 60, i * 11 % 60, ".25" * (i % 3 == 0))
    print("%s,%s,%s" % (d if i % 50 else "", random.choice(days) if i % 60 else "", "%sT%s" % (random.choice(days), clock) if i % 40 else ""))
PY
cat > plan.json <<'END_OF_PLAN'
{"dtx": 1, "inputs": [{"name": "main", "types": {"d": "date", "e": "date", "s": "datetime"}}], "steps": [{"op": "derive", "set": {
 "year": "year(d)", "quarter": "quarter(s)", "month": "month(d)", "day": "day(s)", "hour": "hour(s)", "hour of date": "hour(d)", "minute": "minute(s)",
 "second": "second(s)", "weekday": "weekday(d)", "weekday of time": "weekday(s)", "weekend": "is_weekend(d)", "name": "weekday_name(s)",
 "month name": "month_name(d)", "day of year": "day_of_year(d)", "start": "start_of_month(s)", "end": "end_of_month(d)", "fiscal": "fiscal_year(d, 4)",
 "fiscal 1": "fiscal_year(s, 1)", "between": "months_between(d, e)", "to": "months_between(e, '2024-02-29')", "months": "date_diff(d, e, 'month')",
 "quarters": "date_diff(d, e, 'quarter')", "years": "date_diff(d, e, 'year')", "weeks": "date_diff(d, e, 'week')", "days": "date_diff(d, e, 'day')",
 "minus": "d - e", "since": "e - date('2024-01-01')", "to year": "date_trunc(d, 'year')", "to quarter": "date_trunc(s, 'quarter')",
 "to month": "date_trunc(d, 'month')", "to day": "date_trunc(s, 'day')", "to hour": "date_trunc(s, 'hour')", "to minute": "date_trunc(s, 'minute')",
 "to second": "date_trunc(s, 'second')", "date to hour": "date_trunc(d, 'hour')", "text": "format_date(d, '%d.%m.%Y')",
 "more": "format_date(s, 'ü ''%y %H:%M:%S%%')", "narrow": "format_date(d, '%Y%m')", "next": "year(d) + 1", "one day": "weekday('2024-05-31')"}},
 {"op": "filter", "where": "`end` > d or `end` is null"}]}
END_OF_PLAN
dtx run -q plan.json in.csv --to csv > dtx.csv
dtx compile --to sql plan.json > plan.sql
/usr/bin/python3 - <<'PY'
import collections, csv, sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE main(d TEXT, e TEXT, s TEXT)")
db.executemany("INSERT INTO main VALUES(nullif(?, ''), nullif(?, ''), nullif(?, ''))", list(csv.reader(open("in.csv")))[1:])
rows = [["" if c is None else str(c) for c in r] for r in db.execute(open("plan.sql").read())]
said = list(csv.reader(open("dtx.csv")))
said = [[{"true": "1", "false": "0"}.get(c, c) for c in r] for r in said]
wrong = collections.Counter(h for s, r in zip(said[1:], rows) for h, a, b in zip(said[0], s, r) if a != b)
print(wrong or "the same", len(rows) == len(said) - 1, len(rows), "rows,", len(said[0]), "columns")
PY
# what has no form is named
for f in "d + 7" "date_add(d, 1, 'day')" "date_trunc(d, 'week')" "date_trunc(d, 'week', 'sunday')" "date_diff(s, e, 'day')" "date_diff(d, '2024-01-01T10:00:00', 'month')" \
	"format_date(d, '%V')" "year('2024-01-31 10:00')" "s - datetime('2024-01-01')" "iso_week(d)"; do
	echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"d": "date", "e": "date", "s": "datetime"}}], "steps": [{"op": "derive", "set": {"x": "'"$f"'"}}]}' > f.json
	dtx compile --to sql f.json 2>&1 | head -1
done
echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"d": "date"}}], "steps": [{"op": "group_by", "by": [], "agg": {"x": "range(d)"}}]}' > f.json
dtx compile --to sql f.json 2>&1 | head -1
