# With an example: names are taken from it, equality folds blanks, numbers and words for nothing, and a plan is sure only if
# it makes the whole example.
. "$LIB"
steps() { # INPUT EXAMPLE: the best plan's steps, and why
	echo "== $1 $2"
	dtx suggest "$1" --to "$2" --json > found.json || return 0
	/usr/bin/python3 -c 'import json
best = json.load(open("found.json"))[0]
print("  ", "sure" if best["sure"] else "not sure", best["evidence"])
for s in best["plan"]["steps"]: print("  ", json.dumps(s))'
}
printf 'team,Jan,Feb,Mar\nA,1,2,3\nB,4,,6\n' > wide.csv
printf 'who,when,much\nA,Jan,1.0\nA,Feb,2.00\nA,Mar," 3"\nB,Jan,4\nB,Feb,NaN\nB,Mar,6\n' > long.csv
printf 'team,month,hours\nA,Jan,1\nA,Feb,2\n' > piece.csv
printf 'A,Jan,1\nA,Feb,2\nA,Mar,3\nB,Jan,4\nB,Feb,\nB,Mar,6\n' > bare.csv
cp wide.csv same.csv
for e in long piece bare same; do steps wide.csv $e.csv; done
dtx suggest wide.csv --to piece.csv > plan.json
printf 'North\nAnn,15\nBob,20\nSouth\nCid,35\n' | sed 's/^\([A-Z][a-z]*\)$/\1,/' > bare_titles.csv
printf 'North,Ann,15\nNorth,Bob,20\nSouth,Cid,35\n' > bare_titled.csv
steps bare_titles.csv bare_titled.csv
echo "== columns that a formula makes of others"
printf 'label,Mon_am,Mon_pm,Tue_am\nA,1,2,3\nB,4,5,6\n' > slots.csv
printf 'label,slot,n,day,half,many\nA,Mon_am,1,Mon,am,False\nA,Mon_pm,2,Mon,pm,False\nA,Tue_am,3,Tue,am,False\nB,Mon_am,4,Mon,am,True\nB,Mon_pm,5,Mon,pm,True\nB,Tue_am,6,Tue,am,True\n' > slots_want.csv
steps slots.csv slots_want.csv
printf 'first,last,day\nAnn,Lee,1/5/14\nBob,Ray,3/9/14\n' > names.csv
printf 'first,last,day,whole,month\nAnn,Lee,1/5/14,Ann Lee,1\nBob,Ray,3/9/14,Bob Ray,3\n' > names_want.csv
steps names.csv names_want.csv
echo "== one row without a header"
printf '12345,a,,35\n' > row.csv
printf 'x,y\n12345,35\n' > row_want.csv
steps row.csv row_want.csv
echo '== "" in cells is what the example leaves out, also when the plan runs'
printf '"k","2001","2002"\n"a","1",""\n"b","2","4"\n' > empty.csv
printf 'k,year,v\na,2001,1\nb,2001,2\nb,2002,4\n' > empty_want.csv
$DTX suggest empty.csv --to empty_want.csv > empty.json 2> /dev/null
$DTX run -q empty.json -o - 2> /dev/null
echo "== rows and columns of which nothing is wanted"
printf 'place,2019,2020\nA,1,2\nB,3,5\nC,4,7\nTotal,8,14\n,,\nCounted in May.,,\n' > noted.csv
printf 'place,year,n\nA,2019,1\nA,2020,2\nB,2019,3\nB,2020,5\nC,2019,4\nC,2020,7\n' > noted_want.csv
steps noted.csv noted_want.csv
printf 'area,town,n\nN,Oslo,1\n,Bergen,2\n,Total N,3\nS,Rome,4\n,Bari,5\n,Total S,9\n' > parts.csv
printf 'area,town,n\nN,Oslo,1\nN,Bergen,2\nS,Rome,4\nS,Bari,5\n' > parts_want.csv
steps parts.csv parts_want.csv
printf 'what,one,two,three,Total\nsize,5,7,8,20\ncolour,red,blue,pink,\n' > turned.csv
printf 'item,size,colour\none,5,red\ntwo,7,blue\nthree,8,pink\n' > turned_want.csv
steps turned.csv turned_want.csv
echo "== an example with some of the rows: none is left out"
printf 'place,year,n\nA,2019,1\nA,2020,2\nB,2019,3\nB,2020,5\n' > part_want.csv
printf 'place,2019,2020\nA,1,2\nB,3,5\nC,4,7\n' > part.csv
steps part.csv part_want.csv
printf 'id,tags\n1,"a\nb"\n2,c\n' > lines.csv
printf 'id,tags\n1,a\n1,b\n2,c\n' > lines_want.csv
steps lines.csv lines_want.csv
