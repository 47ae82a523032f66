# What is proposed for tables as people publish them: the last step, and whether it is sure.
. "$LIB"
show() { # NAME, with the table on standard input
	cat > "$1.csv"
	dtx suggest "$1.csv" --json > found.json
	/usr/bin/python3 -c 'import json, sys
found = json.load(open("found.json"))
print(sys.argv[1], len(found) and ("sure" if found[0]["sure"] else "not sure"), sep=": ")
for s in found[0]["plan"]["steps"] if found else []: print("  ", json.dumps(s, ensure_ascii=False))' "$1"
}
echo "== texts with several numbers are one measure"
printf 'Site,Season,oak,ash\nMarsh,Dry,0.29 ± 0.16 (0.06-0.65),0.71 ± 0.16 (0.35-0.94)\nMarsh,Wet,0.21 ± 0.13 (0.02-0.54),0.79 ± 0.13 (0.46-0.98)\nBay,Dry,0.43 ± 0.13 (0.16-0.66),0.57 ± 0.13 (0.34-0.84)\n' | show measures
printf 'Fish,North,South,West\nPerch,"189 - 3,394","361 - 6,007","1,661 - 19,217"\nRoach,"72 - 1,729","523 - 9,633","219 - 6,445"\nTrout,--,0 - 92,--\nPike,"719 - 8,954",--,"20 - 1,127"\n' | show ranges
printf 'who,mondays,tuesdays,wednesdays,thursdays\nAnn,"16, 23, F","18, 22, D",0,"8, 16, F"\nBob,"15, 23, E",0,"16, 24, S","16, 24, F"\nCid,0,"7, 16, E","12, 16, S","16, 25, S"\nDee,"6, 15, E","15, 23, E",0,"7, 15, E"\n' | show rota
echo "== endings of several words"
printf 'Bird,Nest area (ha),Nest points,Home Range area (ha),Home Range points,overlap %%\nRED,1.43,13,0.74,24,0\nFOX,0.64,23,0.80,14,5\nOWL,5.47,8,2.31,7,1\nELK,1.41,10,1.63,30,0\n' | show birds
echo "== the whole of a total, and no total of texts"
printf 'Place,Total,20-24,25-29,30-34,35-39,no age\nA,10010,2000,3000,4000,1000,10\nB,5012,1000,2000,1500,500,12\nC,8020,4000,2000,1000,1000,20\n' | show ages
printf 'State,JAN 2021,FEB 2021,MAR 2021,ALL YEAR\nA,1,2,3,6\nB,4,9,6,19\nC,7,8,1,16\n' | show months
echo "== a last row of sums"
printf 'Day,Red,Blue,Grey,All\nx,1,2,3,6\ny,4,9,6,19\nz,7,8,1,16\nAll,12,19,10,41\n' | show sums
echo "== tables below each other, beside blank columns"
printf ',Plan A,,,\n,Place,Size,Cost,\n,Attic,big,12\n,Hall,small,10\n,,,,\n,Plan B,,,\n,Place,Size,Cost,\n,Attic,tiny,11\n,Hall,big,9\n' | show beside
echo "== another separator between columns, lines of one text, and a second header row: not sure"
printf '="",="w=0",="w=1"\n="a",="2.2",="3"\n="b",="0.1",="4"\n="c",="5",="6"\n' | show quoted
printf 'Kind,Details,n\na,"Long Name\nID 5",1\nb,"Other Name\nID 6",1\nc,8 items,9\n' | show wrapped
printf ' ,No,Yes,No,Yes\n"",(N=49),(N=32),(N=45),(N=23)\nage,7 (5),7 (6),7 (3),7 (4)\nmale,28 (58),20 (60),13 (57),13 (58)\nold,5 (2),4 (3),6 (1),8 (2)\n' | show twice
