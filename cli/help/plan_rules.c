/* What dtx-plan(5) says of rules that no table of members or functions has. The examples of the
 * page are run by tests/cli/help/manual.sh. */
#include "cli/help/plan_rules.h"

const struct dtx_manual dtx_plan_example = {
	"EXAMPLE", "dtx-tutorial(7) makes larger ones.",
	"$ printf 'city,n\\nRome,2\\nOslo,3\\nRome,4\\n' > sales.csv\n"
	"$ cat > plan.json <<'END'\n"
	"> { \"dtx\": 1, \"name\": \"sales of cities\",\n"
	">   \"inputs\": [{ \"name\": \"main\", \"path\": \"sales.csv\" }],\n"
	">   \"steps\": [\n"
	">     { \"op\": \"filter\", \"where\": \"n > 2\" },\n"
	">     { \"op\": \"group_by\", \"by\": [\"city\"], \"agg\": { \"n\": \"sum(n)\" } } "
	"],\n"
	">   \"output\": { \"path\": \"cities.csv\" } }\n"
	"> END\n"
	"$ dtx run plan.json\n"
	"$ cat cities.csv\n"
	"city,n\n"
	"Oslo,3\n"
	"Rome,4\n"
};

static const struct dtx_manual of_plans[] = {
	{ "COLUMN SELECTORS",
	  "A parameter that is described as columns is a list; its items add columns in their "
	  "order, each column once:\n"
	  "  \"a\": the column of that name, in the same letter case\n"
	  "  \"a..d\": the columns from a to d, in the order of the table\n"
	  "  \"*\": all columns\n"
	  "  {\"regex\": \"^q\"}: those in whose name the pattern matches somewhere\n"
	  "  {\"type\": \"number\"}: number (int, float, decimal), text, bool, date, datetime\n"
	  "  {\"not\": [\"id\"]}: all but these, which are selectors, too\n"
	  "  {\"name\": \"a..d\"}: exactly that name; {\"range\": [\"a\", \"d\"]}: as a..d\n"
	  "A pattern or a type may fit no column, but the whole list selects at least one. In a "
	  "pipe, names have commas between, other selectors are JSON.",
	  "$ printf 'id,q1,q2,city\\n7,1,2,Rome\\n' > q.csv\n"
	  "$ dtx pipe q.csv -- select city,q1..q2\n"
	  "city,q1,q2\n"
	  "Rome,1,2\n"
	  "$ dtx pipe q.csv -- select '[{\"not\": [{\"regex\": \"^q\"}]}, \"q2\"]'\n"
	  "id,city,q2\n"
	  "7,Rome,2\n" },
	{ "TYPES OF TEXT FILES",
	  "A column of a text file gets the first of these types that fits all of its cells. "
	  "Blanks around a value do not count, nor do quotes. An empty cell without quotes is "
	  "null, as are the texts of null_values.\n"
	  "  bool: true, false, in any letter case\n"
	  "  int: digits, perhaps after a -, without a leading 0, from -2^63 to 2^63 - 1\n"
	  "  float: with a decimal point or an exponent: 2.5, .5, 1e-3\n"
	  "  date: 2024-01-31\n"
	  "  datetime: 2024-01-31 10:00 or 2024-01-31T10:00:00.5; with an offset in all cells (Z, "
	  "+02:00), which makes them times of UTC, or in none; dates may be among those without\n"
	  "  text: everything else, such as 007, +1, 1,5, 12%, 31.01.2024, NA, or kinds mixed\n"
	  "Numbers stay text in two cases, so that no value changes: whole numbers beyond 2^53 "
	  "among floats, and codes such as 1E5 without a clear float among them. If 99 in 100 of "
	  "the sampled cells fit another type than text, a warning names the first that does not. "
	  "A column without a value has the type null. The member types of an input declares "
	  "types; parse_number, parse_date and cast read other spellings.",
	  "$ printf 'a,b,c,d,e\\n1,2.5,007,1E5,2024-01-31\\n-2,3,12,2E5,\\n' > t.csv\n"
	  "$ dtx pipe -q t.csv -- derive 'types=concat_ws(\" \", typeof(a), typeof(b),\n"
	  ">   typeof(c), typeof(d), typeof(e))' then select types then head 1\n"
	  "types\n"
	  "int float text text date\n" },
	{ "SEVERAL SHEETS",
	  "Outputs with the same path and different sheet (or into, of a database) become one "
	  "file, "
	  "which is written once. dtx why names the sheet after the file: 'out.xlsx!Total'. The "
	  "sheet * of an input is all sheets, one after the other.",
	  "$ printf 'city,n\\nRome,2\\nOslo,3\\nRome,4\\n' > sales.csv\n"
	  "$ cat > book.json <<'END'\n"
	  "> { \"dtx\": 1, \"inputs\": [{ \"name\": \"main\", \"path\": \"sales.csv\" }],\n"
	  ">   \"steps\": [{ \"op\": \"filter\", \"where\": \"n > 0\", \"out\": \"rows\" },\n"
	  ">     { \"op\": \"group_by\", \"by\": [\"city\"], \"agg\": { \"n\": \"sum(n)\" } }],\n"
	  ">   \"output\": [{ \"path\": \"out.xlsx\", \"sheet\": \"Rows\", \"table\": \"rows\" },\n"
	  ">     { \"path\": \"out.xlsx\", \"sheet\": \"Total\" }] }\n"
	  "> END\n"
	  "$ dtx run book.json\n"
	  "$ dtx convert out.xlsx --sheet Total -o -\n"
	  "city,n\n"
	  "Rome,6\n"
	  "Oslo,3\n"
	  "$ dtx convert out.xlsx --sheet '*' --source-file sheet -o - | tail -3\n"
	  "Rome,4,Rows\n"
	  "Rome,6,Total\n"
	  "Oslo,3,Total\n" },
	{ "FAMILIES",
	  "Three or more columns of one kind (numbers, texts ...) whose names differ only in a "
	  "period, as hours 2024-01 and hours 2024-02 do, are a family: hours {yyyy-mm}. The key "
	  "under which a snippet is kept has the pattern in place of the names, so the file of the "
	  "next month gets the same snippet. The snippet reads the names from "
	  "params[\"families\"], a list for each pattern; code that has such a name written in it "
	  "is refused. Without the member families all that are found count; a list of patterns "
	  "keeps only these, and [] none. Periods are {yyyy-mm-dd}, {yyyy-Www}, {yyyy-Qq}, "
	  "{yyyy-mm}, {Qq yyyy}, {Mon yyyy}, {Mon-yy}, {Www} and {yyyy}: 2024-01-31, 2024-W05, "
	  "2024-Q1, 2024-01, Q1 2024, Jan 2024, Jan-24, W05, 2024. Years are 1900 to 2199.",
	  NULL },
	{ "GROUPS OF MATCHES",
	  "Rows that match in pairs, as customers who share a phone or an e-mail do, belong to one "
	  "group, also where two of them have nothing in common but a third. No operation follows "
	  "such chains; this snippet gives each row the number of its group.",
	  "$ printf 'name,tel,mail\\nAnn,1,\\nBob,2,b@\\nAl,1,a@\\nan,,a@\\n' > "
	  "c.csv\n"
	  "$ cat > people.json <<'END'\n"
	  "> { \"dtx\": 1, \"inputs\": [{ \"name\": \"main\" }], \"steps\": [\n"
	  ">   { \"op\": \"group_matches\", \"snippet\": true,\n"
	  ">     \"cols\": [\"tel\", \"mail\"], \"as\": \"person\" } ] }\n"
	  "> END\n"
	  "$ cat > groups.py <<'END'\n"
	  "> import pandas as pd\n"
	  "> def transform(tables, params):\n"
	  ">     df, step = tables[\"main\"], params[\"steps\"][0]\n"
	  ">     group = list(range(len(df)))  # a row points to an earlier one\n"
	  ">     def root(i):\n"
	  ">         while group[i] != i:\n"
	  ">             group[i] = group[group[i]]\n"
	  ">             i = group[i]\n"
	  ">         return i\n"
	  ">     for col in step[\"cols\"]:\n"
	  ">         first = {}  # the first row of each value; null matches nothing\n"
	  ">         for i, value in enumerate(df[col]):\n"
	  ">             if not pd.isna(value):\n"
	  ">                 a, b = root(i), root(first.setdefault(value, i))\n"
	  ">                 group[max(a, b)] = min(a, b)\n"
	  ">     roots = [root(i) for i in range(len(df))]\n"
	  ">     number = {r: n + 1 for n, r in enumerate(dict.fromkeys(roots))}\n"
	  ">     return df.assign(**{step[\"as\"]: [number[r] for r in roots]})\n"
	  "> END\n"
	  "$ dtx run people.json c.csv --snippet groups.py\n"
	  "name,tel,mail,person\n"
	  "Ann,1,,1\n"
	  "Bob,2,b@,2\n"
	  "Al,1,a@,1\n"
	  "an,,a@,1\n" },
};
const struct dtx_manual *const dtx_plan_rules = of_plans;
const size_t dtx_nplan_rules = DTX_COUNT(of_plans);

static const struct dtx_manual of_formulas[] = {
	{ "Texts and names",
	  "A text is in single or double quotes, the name of a column in backticks. The quote "
	  "itself is written twice; a backslash is a character like any other. A name needs no "
	  "backticks if it has only letters, digits and _, does not begin with a digit and is no "
	  "word of the language. Names of columns are matched in their letter case, words of the "
	  "language and functions in any. In a comparison with a date a text is read as a date.",
	  "$ dtx eval \"'it''s'\"\n"
	  "it's\n"
	  "$ dtx eval 'length(\"a\\n\")'\n"
	  "3\n"
	  "$ dtx eval '`net price` * 2' --row '{\"net price\": 4}'\n"
	  "8\n"
	  "$ printf 'd\\n2024-02-01\\n2023-02-01\\n' |\n"
	  ">   dtx pipe -- filter \"d > '2024-01-31'\"\n"
	  "d\n"
	  "2024-02-01\n" },
	{ "First and last",
	  "The aggregates first(x) and last(x) pass over nulls: they are the first and the last "
	  "value. The window functions first_value, last_value and nth_value are the cell of that "
	  "row, null or not; lag and lead pass over nulls with ignore_nulls: true.",
	  "$ printf 'k,n\\na,\\na,1\\na,2\\n' > n.csv\n"
	  "$ dtx pipe n.csv -- group_by k 'a=first(n)'\n"
	  "k,a\n"
	  "a,1\n"
	  "$ dtx pipe n.csv -- window 'a=first_value(n)' 'b=lag(n)' then tail 1\n"
	  "k,n,a,b\n"
	  "a,2,,1\n" },
	{ "Ends of months",
	  "Adding months, quarters or years keeps the day of the month; where that month is too "
	  "short it is its last day. Several steps count from the start, so steps of a month from "
	  "January 31 are February 29, March 31, April 30. date_diff and months_between count "
	  "these steps: from January 31 to February 29 is one month.",
	  "$ dtx eval \"date_add(date('2024-01-31'), 1, 'month')\"\n"
	  "2024-02-29\n"
	  "$ dtx eval \"date_add(date('2024-01-31'), 2, 'month')\"\n"
	  "2024-03-31\n"
	  "$ dtx eval \"date_diff(date('2024-01-31'), date('2024-02-29'), 'month')\"\n"
	  "1\n"
	  "$ printf 'd\\n2024-01-31\\n2024-03-31\\n' | dtx pipe -- pad_time d every=1mo\n"
	  "d\n"
	  "2024-01-31\n"
	  "2024-02-29\n"
	  "2024-03-31\n" },
	{ "Formats of dates",
	  "The directives of date, datetime, format_date, parse_date and types:\n"
	  "  %Y year, four digits; %y two: 00 to 68 are 2000 to 2068, 69 to 99 1969 to 1999\n"
	  "  %m month; %b %B its English name\n"
	  "  %d day of the month; %j of the year; %a %A %u of the week: name, or 1 Monday\n"
	  "  %G %V ISO year and ISO week\n"
	  "  %H hour; %I hour from 1 to 12, with %p AM or PM; %M minute; %S second\n"
	  "  %f fraction of a second; %z offset: Z, +02:00, +0200 or +02; %% a %\n"
	  "Every other character stands for itself. Numbers are read with or without leading zeros "
	  "and written with them, names are read whole or as three letters, in any letter case; %b "
	  "and %a write three letters. A time with an offset becomes one of UTC. A format for "
	  "reading has a year; month and day are 1 without a directive. It reads the whole text, "
	  "and a weekday must be that of the date.",
	  "$ dtx eval \"date('5 feb 24', '%d %b %y')\"\n"
	  "2024-02-05\n"
	  "$ dtx eval \"date('2024-W06', '%G-W%V')\"\n"
	  "2024-02-05\n"
	  "$ dtx eval \"datetime('2/5/2024 3:07 pm', '%m/%d/%Y %I:%M %p')\"\n"
	  "2024-02-05T15:07:00\n"
	  "$ dtx eval \"format_date(date('2024-02-05'), '%a %d.%m.%y, day %j')\"\n"
	  "Mon 05.02.24, day 036\n" },
	{ "Paths of JSON",
	  "items[0].name: a member by its name, in its letter case, and an element by its number "
	  "from 0. $ or $. may come first; ['a.b'] is a name with a dot or a bracket. Elements are "
	  "not counted from the end, and there are no wildcards. Of several members of one name it "
	  "is the last. The value is a text, in the digits of the document, objects and lists "
	  "without blanks; null where the path is not there. A text that is not JSON is an error.",
	  "$ dtx eval \"json_get(t, '\\$.items[1].name')\" \\\n>   --row '{\"t\": "
	  "\"{\\\"items\\\": [7, {\\\"name\\\": \\\"Ann\\\"}]}\"}'\n"
	  "Ann\n"
	  "$ dtx eval \"json_get('{\\\"a.b\\\": [1.50, 2]}', '[\\\"a.b\\\"]')\"\n"
	  "[1.50,2]\n"
	  "$ dtx eval \"json_get('{\\\"a\\\": 1}', 'A')\"\n"
	  "null\n" },
	{ "Exponential means",
	  "ewm_mean(x, alpha) weighs the current row 1, the row before 1 - alpha, the one before "
	  "that (1 - alpha) ** 2 and so on, and divides by the sum of the weights: "
	  "ewm(alpha=alpha, adjust=True, ignore_na=False).mean() of pandas. A null has no weight, "
	  "but older values lose weight at its row, too; the result there is null, where pandas "
	  "repeats the last one.",
	  "$ printf 'x\\n1\\n\\n2\\n' | dtx pipe -- window 'm=ewm_mean(x, 0.5)'\n"
	  "x,m\n"
	  "1,1.0\n"
	  ",\n"
	  "2,1.8\n" },
};
const struct dtx_manual *const dtx_formula_rules = of_formulas;
const size_t dtx_nformula_rules = DTX_COUNT(of_formulas);
