# From the file alone: rows that are no data are removed before the makers look, and columns that belong together are found where
# their names do not say so.
. "$LIB"
first() { # the first proposal for in.csv
	echo "== $1"
	dtx suggest in.csv --json | /usr/bin/python3 -c 'import json, sys
for p in json.load(sys.stdin)[:1]:
    print("  ", "sure" if p["sure"] else "possible", p["evidence"][0])
    for s in p["plan"]["steps"]: print("  ", json.dumps(s))
    for r in [p["result"]["columns"]] + p["result"]["rows"][:2]: print("     ", r)'
}
printf 'place,2019,2020,2021,\nRome,1,2,3,\n,,,,\nOslo,4,5,6,\nSource: city hall,,,,\n' > in.csv
first "blank row, note below, blank column without a name"
printf 'time,north,east,wind\nUTC,deg,deg,m s-1\n2020-01-01,1,5,3.5\n2020-01-02,2,6,4.5\n2020-01-03,3,7,5.5\n' > in.csv
first "units below the names"
printf 'Year,Births,Deaths\n(1),(2),(3)\n1990,10,20\n1991,30,40\n1992,50,60\n' > in.csv
first "numbers of columns below the names"
printf 'state,2019,2020,2021\nOhio,12,13,14\nIowa,34,35\nUtah,9,8,7\n' > in.csv
first "rows of other widths"
printf 'Wheels,Tyres,Bells,All,Shop\n8,9,6,23,Rome\n5,6,8,19,Oslo\n7,8,5,20,Bern\n' > in.csv
first "a total beside its parts stays"
printf 'No,Team,Member,Points\n1,Red,Ann,3\n2,,Bob,4\n3,,Cid,5\n4,Blue,Dee,6\n5,,Eva,7\n' > in.csv
first "labels written once, after the number of the row"
printf 'who,Pet 1,Age,Pet 2,Age.1\nAnn,cat,3,dog,7\nBob,fox,5,owl,2\nCid,cow,4,hen,6\n' > in.csv
first "pairs of columns"
printf 'place,Male,Female,Male,Female\nRome,10,20,0.1,0.2\nOslo,30,40,0.3,0.4\nBern,35,45,0.35,0.45\n' > in.csv
first "names repeated for another measure"
printf 'School,Women,School,Men\nUCLA,64,UCLA,78\nYale,79,Yale,114\nNYU,67,NYU,94\n' > in.csv
first "labels repeated before each column"
printf 'land,year,type,count\nPeru,1999,cases,745\nPeru,1999,population,199870\nPeru,2000,cases,2666\nPeru,2000,population,205953\nChad,1999,cases,37\nChad,1999,population,17200\n' > in.csv
first "rows that are columns"
printf 'age,<18,18-24,25-34,35-44,refused\nRome,1,2,3,4,5\nOslo,2,3,4,5,6\nBern,6,5,4,3,2\n' > in.csv
first "a series and what it leaves over"
printf 'id,"2001","2002","2003"\na,"1.5","",""\nb,"","","2.5"\nc,"2.0","1.0","3.0"\n' > in.csv
dtx suggest in.csv --json > list.json
/usr/bin/python3 -c 'import json
for p in json.load(open("list.json"))[:2]: print("  ", p["plan"]["inputs"][0].get("null_values"), p["plan"]["steps"][0].get("drop_nulls"), len(p["result"]["rows"]))'
