# Nothing is proposed for a table that is tidy, and nothing is sure where two ways are about as good.
. "$LIB"
none() { # FILE
	printf '%s: ' "$1"
	dtx suggest "$1" --json | tr -d ' \n'
	echo
}
printf 'id,name,born,city,salary\n1,Ann,1990-04-01,Oslo,4100.50\n2,Bob,1985-11-15,Rome,3900.25\n3,Cid,1999-02-01,Bern,5210.00\n' > tidy.csv
printf 'date,open,high,low,close\n2024-01-02,10.1,10.9,10.0,10.5\n2024-01-03,10.5,11.2,10.4,11.0\n2024-01-04,11.0,11.1,10.2,10.3\n' > prices.csv
printf 'account,name,balance\n4000,Sales,-125.5\n4010,Fees,-48.25\n,Freight,61.0\n5100,Wages,73.5\n5200,Rent,12.5\n' > one_blank.csv
printf 'fac,score\nt1,1.5\nt1,1.25\nt1,2.5\nt2,3.5\nt2,4.25\nt2,2.75\n' > series.csv
printf 'name,address\nAnn,"Oslo, 5 High St"\nBob,"Rome, 3 Low Rd"\nCid,"Bern, 8 New Ln"\n' > address.csv
printf '14:54,-71,-65,-98\n14:55,-70,-66,-97\n14:56,-69,-64,-91\n' > negative.csv
printf 'a,b\n' > header.csv
for f in tidy prices one_blank series address negative header; do none $f.csv; done
echo "== words for a person"
dtx suggest tidy.csv
dtx suggest header.csv
sure() { # FILE: whether the proposals are sure, and their last steps
	echo "== $1"
	dtx suggest "$1" --json > found.json
	/usr/bin/python3 -c 'import json
for p in json.load(open("found.json"))[:2]: print(p["sure"], json.dumps(p["plan"]["steps"][-1])[:150])'
}
# by country or by sex; values of one year, or of both
printf 'age,Male-1986,Female-1986,Male-2050,Female-2050\n0-4,858,824,590,563\n5-9,810,795,601,577\n10-14,780,771,612,580\n' > two_ways.csv
printf 'x_1,x_2,x_3,x_4,y_1,y_2,y_3,y_4\n10,10,10,8,8.04,9.14,7.46,6.58\n8,8,8,8,6.95,8.14,6.77,5.76\n13,13,13,8,7.58,8.74,12.74,7.71\n' > pairs.csv
printf 'quarter,North_America,EMEA,APAC,LATAM\nQ1,56,66,48,48\nQ2,51,60,44,52\nQ3,58,71,49,45\n' > regions.csv
# blank cells: missing values, or no rows
printf 'item,2024-09-14,2024-09-15,2024-09-16\nA,900,,1800\nB,,,1200\nC,300,450,\n' > sparse.csv
# a list in columns: the number may have no meaning
printf 'shirt,colour 1,colour 2,colour 3\nA,red,blue,green\nB,blue,green,red\nC,green,red,blue\n' > numbered.csv
# rows that are measures
printf 'value,Y1,Y2,Y3,Y4\nmeans,0.52,0.57,0.6,0.63\nstddev,0.14,0.18,0.11,0.12\nlower range,0.39,0.44,0.47,0.5\n' > measures.csv
# keys without values are no records
printf 'Name:\nCity:\nAge:\nName:\nCity:\nAge:\nName:\nCity:\nAge:\n' > form.csv
none form.csv
# two tables, and no records
printf 'id,a\n1,2\n2,3\n\n\ntown,mayor\nOslo,Ann\nRome,Bob\n' > two.csv
dtx suggest two.csv || echo "exit $?"
for f in two_ways pairs regions sparse numbered measures; do sure $f.csv; done
dtx suggest regions.csv > plan.json
