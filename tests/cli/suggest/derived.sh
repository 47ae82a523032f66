# With an example: the parameters of steps are derived from it, where names do not say them, and up to three steps are put together.
. "$LIB"
steps() { # the best plan for in.csv and want.csv, and whether its run makes the example
	echo "== $1"
	dtx suggest in.csv --to want.csv --json > found.json || return 0
	/usr/bin/python3 -c 'import json
best = json.load(open("found.json"))[0]
print("  ", "sure" if best["sure"] else "not sure", best["evidence"])
for s in best["plan"]["steps"]: print("  ", json.dumps(s))
json.dump(best["plan"], open("plan.json", "w"))'
	dtx run -q plan.json -o - | sort > got; sort want.csv | cmp - got && echo "   the plan makes it"
}
printf 'who,lives,Pet 1,Age,Pet 2,Age.1\nAnn,Rome,cat,3,dog,7\nBob,Oslo,fox,5,owl,2\n' > in.csv
printf 'who,lives,n,Pet,Age\nAnn,Rome,1,cat,3\nAnn,Rome,2,dog,7\nBob,Oslo,1,fox,5\nBob,Oslo,2,owl,2\n' > want.csv
steps "pairs of columns whose names have nothing in common"
printf 'place,Male,Female,Male,Female\nRome,10,20,0.1,0.2\nOslo,30,40,0.3,0.4\n' > in.csv
printf 'place,sex,count,share\nRome,Male,10,0.1\nRome,Female,20,0.2\nOslo,Male,30,0.3\nOslo,Female,40,0.4\n' > want.csv
steps "the same names for two measures"
printf 'id,pop_m2019,pop_f2019,pop_m2020\nA,1,2,3\nB,4,5,6\n' > in.csv
printf 'id,sex,year,n\nA,m,2019,1\nA,f,2019,2\nA,m,2020,3\nB,m,2019,4\nB,f,2019,5\nB,m,2020,6\n' > want.csv
steps "names of two values without a separator"
printf 'id,2019 births,2020 births,2019 deaths,2020 deaths\nA,1,2,3,4\nB,5,6,7,8\n' > in.csv
printf 'id,year,births,deaths\nA,2019,1,3\nA,2020,2,4\nB,2019,5,7\nB,2020,6,8\n' > want.csv
steps "names of a value and a measure"
printf 'Jan sales (EUR),shop,Feb sales (EUR)\n1,A,2\n3,B,4\n' > in.csv
printf 'shop,month,sales\nA,Jan,1\nA,Feb,2\nB,Jan,3\nB,Feb,4\n' > want.csv
steps "words around the name"
printf 'Town,Pop,,Town,Pop\nRome,9,,Oslo,7\nBern,8,,,\n' > in.csv
printf 'Town,Pop\nRome,9\nBern,8\nOslo,7\n' > want.csv
steps "blocks side by side"
printf 'item,2019,2020\nFood,30,50\nBread,10,20\nMilk,20,30\nTools,5,9\nSaw,5,9\n' > in.csv
printf 'kind,item,year,n\nFood,Bread,2019,10\nFood,Bread,2020,20\nFood,Milk,2019,20\nFood,Milk,2020,30\nTools,Saw,2019,5\nTools,Saw,2020,9\n' > want.csv
steps "titles with sums beside them, then columns that are values"
printf 'day,HI POINTS,HI ASSISTS\nMon,Ray 32,Lee 10\nTue,Ray 23,Ray 11\n' > in.csv
printf 'day,stat,player,n\nMon,POINTS,Ray,32\nMon,ASSISTS,Lee,10\nTue,POINTS,Ray,23\nTue,ASSISTS,Ray,11\n' > want.csv
steps "cells of two values"
printf 'name,height\n,cm\nAnn,170\nBob,180\n' > in.csv
printf 'name,height\nAnn,170\nBob,180\n' > want.csv
steps "units below the header"
printf 'a,b,c\nA,1,2\nB,3\nsource: me\n' > in.csv
printf 'a,name,value\nA,b,1\nA,c,2\nB,b,3\n' > want.csv
steps "short rows"
printf 'who,b,c\nA,x1,NA\nB,NA,y2\n' > in.csv
printf 'who,name,value\nA,b,x1\nB,c,y2\n' > want.csv
steps "words for nothing are left out"
printf '"x" "y"\n"a" 1 2\n"b" 3 4\n' > in.csv
printf 'k,name,value\na,x,1\na,y,2\nb,x,3\nb,y,4\n' > want.csv
steps "blanks between quoted cells"
printf 'report\n\nshop,n\nRome,1\nOslo,2\n\nday,n,m\nMon,5,6\nTue,7,8\n' > in.csv
printf 'shop,n\nRome,1\nOslo,2\n' > want.csv
steps "one of two tables"
