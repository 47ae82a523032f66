# What is proposed for each kind of table that is not tidy: steps, evidence, and the result of the plan.
. "$LIB"
show() { # FILE [OPTION...]
	echo "== $1"
	dtx suggest "$@" --json > found.json
	/usr/bin/python3 -c 'import json
best = json.load(open("found.json"))[0]
print("sure" if best["sure"] else "not sure", *best["evidence"][:1], sep=": ")
for s in best["plan"]["steps"]: print("  ", json.dumps(s))
json.dump(best["plan"], open("plan.json", "w"))'
	dtx run plan.json --to csv --store :memory: | sed -n '1,5s/^/   | /p'
}
printf 'team,Jan,Feb,Mar,Apr\nA,1,2,3,5\nB,4,,6,7\nC,8,9,1,3\n' > months.csv
printf 'Country,2019,2020,2021\nPeru,31.2,32.5,33.1\nChad,15.1,15.9,16.4\nFiji,0.8,0.9,0.9\n' > years.csv
printf 'team,Hours Jan,Hours Feb,Hours Mar\nA,10,20,35\nB,41,22,63\n' > prefix.csv
printf 'id,cost_2022,units_2022,cost_2023,units_2023\na,10.5,3,11.5,4\nb,20.25,7,22.75,9\nc,7.5,2,8.25,1\n' > groups.csv
printf 'field,content\nname,Ann\ncity,Oslo\nage,31\nname,Bob\ncity,Rome\nage,47\nname,Cid\ncity,Bern\nage,25\n' > records.csv
printf 'name: Ann\ncity: Oslo\nname: Bob\ncity: Rome\nname: Cid\ncity: Bern\n' > lines.csv
printf 'name,hours,cost\nNorth,,\nAnn,15,20\nBob,20,31\nSouth,,\nCid,35,12\nDee,5,77\n' > titles.csv
printf 'region,name,hours\nNorth,Ann,15\n,Bob,20\n,Cid,7\nSouth,Dee,35\n,Eva,22\n' > fill.csv
printf 'film,genres\nHeat,drama;action\nAlien,horror\nClue,comedy;horror\nBig,drama;comedy;romance\n' > explode.csv
printf 'Field,Ann,Bob,Cid\nAge,31,47,25\nCity,Oslo,Rome,Bern\nSalary (EUR),4100.50,3900.25,5210.00\nStart,2019-04-01,2020-11-15,2021-02-01\n' > transpose.csv
printf 'region,name,Jan,Feb,Mar,Apr\nNorth,Ann,15,16,17,18\n,Bob,20,21,22,23\n,Cid,7,8,9,6\nSouth,Dee,35,36,37,38\n,Eva,22,23,24,25\n' > fill_stack.csv
printf 'name,2021,2022,2023,2024\nNorth,,,,\nAnn,15,20,3,4\nBob,20,31,2,7\nSouth,,,,\nCid,35,12,6,8\nDee,5,77,9,1\n' > titles_stack.csv
for kind in months years prefix groups records lines titles fill explode transpose fill_stack titles_stack; do
	show $kind.csv
done
echo "== what a person sees"
dtx suggest years.csv
echo "== more pieces than are kept, and names that are cut within a character"
{ echo 'id,tags'; for i in $(seq 200); do echo "$i,a$i;b;c;d"; done; } > pieces.csv
dtx suggest pieces.csv -q
{ printf 'k'; for y in 2015 2016 2017 2018 2019; do printf ',aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéé %s' $y; done; echo; for i in $(seq 9); do echo "x$i,$i,2$i,3$i,4$i,5$i"; done; } > letters.csv
dtx suggest letters.csv -q | grep '"op"'
