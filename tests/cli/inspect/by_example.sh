. "$LIB"
steps() { # INPUT EXAMPLE: the best plan's steps, and why
	dtx suggest "$1" --to "$2" --json > found.json || return 0
	/usr/bin/python3 -c 'import json, sys
best = json.load(open("found.json"))[0]
for s in best["plan"]["steps"]: print("  ", json.dumps(s))
print("  ", best["evidence"][0])'
	/usr/bin/python3 -c 'import json; json.dump(json.load(open("found.json"))[0]["plan"], open("p.json", "w"))'
	dtx run p.json -o got.csv --store :memory: 
	if cmp -s got.csv "$2"; then echo "   the plan makes it"; else sed 's/^/   | /' got.csv; fi
}
printf 'team,Jan,Feb,Mar\nA,1,2,3\nB,4,,6\n' > wide.csv
printf 'team,month,hours\nA,Jan,1\nA,Feb,2\nA,Mar,3\nB,Jan,4\nB,Feb,\nB,Mar,6\n' > long.csv
printf 'item,tags\n1,a;b\n2,c\n' > tags.csv
printf 'item,tags\n1,a\n1,b\n2,c\n' > tag.csv
printf 'region,team,Jan,Feb\nN,A,1,2\n,B,3,4\nS,C,5,6\n' > gaps.csv
printf 'region,team,month,hours\nN,A,Jan,1\nN,A,Feb,2\nN,B,Jan,3\nN,B,Feb,4\nS,C,Jan,5\nS,C,Feb,6\n' > full.csv
printf 'id,x_1,x_2,y_1,y_2\na,1,2,3,4\nb,5,6,7,8\n' > pairs.csv
printf 'id,t,x,y\na,1,1,3\na,2,2,4\nb,1,5,7\nb,2,6,8\n' > pair.csv
printf 'name,hours\nNorth,\na,1.5\nb,2\nSouth,\nc,3\n' > titles.csv
printf 'region,name,hours\nNorth,a,1.5\nNorth,b,2\nSouth,c,3\n' > titled.csv
printf 'k,Jan,Feb\nhours,1,2\ncost,3,4\n' > side.csv
printf 'month,hours,cost\nJan,1,3\nFeb,2,4\n' > turned.csv
printf 'id,Q1 2023,Q2 2023,Q1 2024\na,1,2,3\nb,4,5,6\n' > parts.csv
printf 'id,quarter,year,v\na,Q1,2023,1\na,Q2,2023,2\na,Q1,2024,3\nb,Q1,2023,4\nb,Q2,2023,5\nb,Q1,2024,6\n' > part.csv
printf 'id,hours_Jan,hours_Feb,cost_Jan,cost_Feb\na,1,2,3,4\n' > cross.csv
printf 'id,kind,Jan,Feb\na,hours,1,2\na,cost,3,4\n' > crossed.csv
printf 'Hours 2024,,\nteam,Jan,Feb\nA,1,2\nTotal,1,2\n' > report.csv
printf 'name,age,region\nAnn,31,N\nBob,52,S\nCid,47,N\nDee,25,N\n' > people.csv
printf 'name,age,region\nBob,52,S\nCid,47,N\n' > older.csv
printf 'Who,Home\nAnn,N\nBob,S\nCid,N\nDee,N\n' > renamed.csv
printf 'name,age,region\nDee,25,N\nAnn,31,N\nCid,47,N\nBob,52,S\n' > sorted.csv
printf 'region,mean,n\nN,34.33,3\nS,52,1\n' > groups.csv
printf 'id,hours,rate,pay\na,2,3,6\nb,4,5,20\n' > pay.csv
printf 'id,hours,rate\na,2,3\nb,4,5\n' > rate.csv
printf 'code,v\nA-1,7\nB-2,8\n' > code.csv
printf 'letter,number,v\nA,1,7\nB,2,8\n' > parted.csv
printf 'line\nAnn\n12 High St\nBob\n3 Low Rd\n' > blocks.csv
printf 'name,street\nAnn,12 High St\nBob,3 Low Rd\n' > block.csv
printf 'team,month,hours\nA,Jan,1\nA,Feb,2\n' > piece.csv
printf 'month,total\nJan,"5.00"\nFeb,"2.00"\nMar,"9.00"\n' > monthly.csv
printf ',2023,2023,2024,2024\nname,a,b,a,b\nAnn,1,2,3,4\nBob,5,6,7,8\n' > heads.csv
printf 'name,year,k,v\nAnn,2023,a,1\nAnn,2023,b,2\nAnn,2024,a,3\nAnn,2024,b,4\nBob,2023,a,5\nBob,2023,b,6\nBob,2024,a,7\nBob,2024,b,8\n' > head.csv
printf 't\nsize 12 cm\nsize 7 cm\n' > sizes.csv
printf 't,n\nsize 12 cm,12\nsize 7 cm,7\n' > size.csv
for pair in wide:long long:wide tags:tag gaps:full pairs:pair titles:titled side:turned parts:part cross:crossed people:older \
	people:renamed people:sorted people:groups rate:pay code:parted blocks:block wide:piece wide:monthly heads:head; do
	echo "$pair"
	steps "${pair%:*}.csv" "${pair#*:}.csv"
done
echo "nothing does it"
steps wide.csv tag.csv
steps sizes.csv size.csv
echo "from the file alone"
dtx suggest report.csv
