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
printf 'from,Oslo,Rome,Bern,Lima\nOslo,,2.1,1.4,9.9\nRome,2.1,,0.7,10.2\nBern,1.4,0.7,,10.4\nLima,9.9,10.2,10.4,\n' > matrix.csv
printf 'class,Mon_8:00,Mon_9:00,Tue 8:00,Tue 9:00\n5A,art,sport,maths,music\n5B,maths,art,music,sport\n5C,sport,music,art,maths\n' > times.csv
printf 'rank,town,score,rank,town,score\n1,Oslo,99.5,4,Lima,81.5\n2,Rome,97.2,5,Bern,80.1\n3,Kyiv,88.0,,,\n' > blocks.csv
printf 'rate,Sept. 2023,Oct. 2023,Nov. 2023\nBase,5.1,5.2,5.3\nBills,,,\n1 month,5.0,5.1,5.1\n3 months,4.9,5.0,5.2\nBonds,,,\n3 months,4.1,4.2,4.0\n10 years,4.4,4.5,4.3\n' > sections.csv
printf 'town,2022 Q1 Sold,2022 Q1 Built,2022 Q2 Sold,2022 Q2 Built\nOslo,120,90,150,110\nRome,60,30,20,40\nBern,210,160,180,190\n' > quarters.csv
printf 'car,drivers\nA1,Ann Lee / Bob Ray\nB2,Cid Fox / Dee Orr / Eva Ash\nC3,Fay Kim\nD4,Gus Elm / Hal Yew\n' > drivers.csv
printf 'name,Ann\nphone,555 1\ntown,Oslo\n,\nname,Bob\nphone,555 2\nfax,555 3\ntown,Rome\n,\nname,Cid\nphone,555 4\ntown,Bern\n,\nname,Dee\nphone,555 5\ntown,Lima\n' > cards.csv
printf 'hair,brown,hazel,green,grey\nblond,7,10,16,94\nblack,68,15,5,20\nauburn,119,54,29,84\nred,26,14,14,17\n' > kinds.csv
printf 'fish,copper,zinc,lead,water\nPerch,12.1,133.5,0.9,lake\nRoach,10.4,129.8,1.1,lake\nTrout,8.9,125.1,0.4,river\nPike,14.2,138.0,1.3,lake\n' > amounts.csv
printf 'Mill Cafe\n3 Canal Walk\n01332 960\nThe Forge\n17 Iron Street\n01782 961\nOld Barn\n2 Farm Lane\n01872 962\nGreen Leaf\n9 Park Road\n01582 963\n' > cafes.csv
printf 'booked,order,article,pieces\n2021-02-01,7001,Screws,200\n,,Nails,150\n2021-02-03,7002,Hammer,3\n,,Saw,2\n2021-02-09,7003,Glue,12\n2021-02-10,7004,Tape,20\n,,Paint,4\n' > orders.csv
printf 'pupil,before_sums,after_sums,before_spelling,after_spelling\nP1,12,15,18,19\nP2,17,18,11,16\nP3,9,14,13,13\nP4,20,20,15,17\n' > crossed.csv
printf ',,2018,,2019,\n,,tonnes ,%% all,tonnes ,%% all\nCoast,,920,12.5,940,12.6\n,Ada,310,4.2,320,4.3\n,Bex,610,8.3,620,8.3\nHills,,640,8.7,655,8.8\n,Cor,240,3.3,250,3.4\n,Dun,400,5.4,405,5.4\n' > harvest.csv
printf 'Shift,Task,Red,Blue\nEarly,Sort,12,40\n,Pack,300,18\nLate,Sort,7,95\n,Pack,21,600\n' > counts.csv
printf ',Exports,Exports,Imports,Imports\nCountry,2019,2020,2019,2020\nPeru,12.1,13,5,6\nChile,22,23,15,16\nCuba,2,3,5,4\n' > pairs.csv
printf 'age,under 18,18 - 64,65 and over\nrent,12,40,8\nfood,30,18,9\nfun,7,9,6\n' > ages.csv
printf 'place,codes\nQuay,AD\nPier,"AE,OM,RE"\nDock,BF\nMole,"BE,LU"\nRoad,CY\nSea,DJ\n' > codes.csv
printf ',2021,,2022,\nCost,first,second,first,second\nRent,10,11,12,13\nFood,4,5,6,7\nFuel,2,3,3,4\n' > levels.csv
printf 'town,Wood | oak,Wood | ash,Stone | slate,Stone | marble,Glass | all\nOslo,5,6,7,8,9\nRome,6,7,8,9,7\nBern,4,5,9,6,8\n' > bars.csv
printf 'Row Labels,Sum of Sales\n2019,6.5\nQtr1,1.5\nQtr2,5\n2020,9\nQtr1,4\nQtr2,3\nQtr3,2\nGrand Total,15.5\n' > pivot.csv
printf 'word,user\nFrom Ann,NA\noak,@bob\nash,@cid\nFrom Dee,NA\nelm,@eva\nfir,@fay\nyew,@gus\n' > words.csv
printf 'State,Area (km2) Low risk,Share Low risk,Area (km2 ) High risk,Share High risk\nWA,55.5,0.4,41,0.3\nOR,81,0.5,56,0.4\nCA,131,0.9,7,0.1\n' > risks.csv
printf 'famid,named,incd,namem,incm\n1,Bill,30000,Bess,15000\n2,Art,22000,Amy,18000\n3,Paul,25000,Pat,50000\n' > endings.csv
printf 'list,version,code,price\nMain list,v1,AP32,52.92\n,,SZ40,17.99\n,,WK30,33.36\n,,RK10,10.13\n' > once.csv
printf 'Season,Jan,Feb,Mar,Year\n2001,1,2,3,6\n2002,4,5,6,15\nSeason,Jan,Feb,Mar,Year\n2003,7,8,9,24\n' > again.csv
printf 'rater,Alien,Up: the film,F9 (fast),It\nAnn,3,5,4,2\nBob,3,2,4,5\nCid,1,5,2,4\nDee,3,4,4,1\nEva,2,2,5,5\nFay,4,3,1,2\n' > marks.csv
printf ',Monday,Tuesday,Wednesday\nPeriod 1,art,maths,sport\nPeriod 2,music,art,maths\nPeriod 3,sport,music,art\nPeriod 4,maths,sport,music\n' > periods.csv
printf 'ID1,ID2,Score_2020,Score_2021\n1,A,85,88\n2,B,90,93\n3,C,78,81\n' > years_at_end.csv
printf 'First plan\nPlace,2007,2008,2009\nAttic,12,14,15\nCellar,10,16,12\n\nSecond plan\nPlace,2007,2008,2009\nAttic,11,13,14\nCellar,9,15,10\n' > plans.csv
printf 'Yearly report,,,\n,New York,Bonn,Bern\nState,old,new,old\nSize,12.5,13.25,9.75\nPrice,1310,1405,990\n' > report.csv
printf 'Name,Ann Lee\nTown,Oslo\nName,Bob Ray\nName,Cid Fox\nTown,Rome\nPhone,555\n' > optional.csv
printf 'Day report,,,\n,2020-03-07,2020-03-08,2020-03-09\nA,78,80,13\nB,9,89,95\n' > dated.csv
for kind in plans report optional dated counts pairs ages codes months years prefix groups records lines titles fill explode transpose fill_stack titles_stack \
	matrix times blocks sections quarters drivers cards kinds amounts cafes orders crossed harvest \
	levels bars pivot words risks endings once again marks periods years_at_end; do
	show $kind.csv
done
echo "== what a person sees"
dtx suggest years.csv
echo "== more pieces than are kept, and names that are cut within a character"
{ echo 'id,tags'; for i in $(seq 200); do echo "$i,a$i;b;c;d"; done; } > pieces.csv
dtx suggest pieces.csv -q
{ printf 'k'; for y in 2015 2016 2017 2018 2019; do printf ',aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéé %s' $y; done; echo; for i in $(seq 9); do echo "x$i,$i,2$i,3$i,4$i,5$i"; done; } > letters.csv
dtx suggest letters.csv -q | grep '"op"'
