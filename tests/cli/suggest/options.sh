# The options for reading are used, and are written into the plan.
. "$LIB"
plan() { dtx suggest "$@" 2> /dev/null > plan.json; /usr/bin/python3 -c 'import json
p = json.load(open("plan.json"))
i = p["inputs"][0]
i["path"] = i["path"].rsplit("/", 1)[-1]
print(json.dumps(i), [s["op"] for s in p["steps"]])'; }
printf 'made by hand\nland|2019|2020|2021\nP\351rou|31.2|32.5|33.1\nChad|15.1|15.9|16.4\nFiji|0.8|0.9|0.9\n' > latin.txt
plan latin.txt --from csv --skip 1 --delimiter '|' --encoding iso-8859-1 --header-rows 1
dtx run plan.json latin.txt --to csv --store :memory: | head -3
plan latin.txt --from csv --skip 1 --delimiter '|' --encoding windows-1252
dtx inspect latin.txt --from csv --skip 1 --delimiter '|' --encoding iso-8859-1 --json | tr -d ' \n' | grep -o '"proposals":.*' | head -c 60
echo
plan "$FIX/xlsx/report.xlsx" --sheet FY24 --range A4:I17
plan "$FIX/xlsx/report.xlsx" --sheet FY24 --header-rows 2 --skip 3
