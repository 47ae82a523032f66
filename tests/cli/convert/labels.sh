# Names that are years or bools, as a pivot writes them.
crosstab() { printf '%s\n' "$@" > t.csv && "$DTX" convert t.csv --to csv; }

crosstab ,2019,2020 A,3,5 B,4,1
crosstab ,2019,2020 A,3.5,5.1
crosstab flag,False,True A,3,5 B,0,1
crosstab ,true,false A,3,5
echo "-- years or bools that go on are rows"
crosstab ,2019,2020 A,2021,2022 || echo "exit $?"
crosstab flag,False,True A,True,False || echo "exit $?"
echo "-- dates, times and addresses above their like are rows"
crosstab 2020-01-01,x,y 2020-01-02,z,w || echo "exit $?"
crosstab Ann,2020 Bob,n/a Cy,2021 || echo "exit $?"
crosstab Ann,10:15 Bob,11:15 || echo "exit $?"
crosstab Ann,a@example.org Bob,b@example.org || echo "exit $?"
crosstab https://a.org/x https://b.org/y || echo "exit $?"
crosstab 'name,home page' Ann,https://a.org
echo "-- keys above one row, and decimals above texts, are names for --repair"
repaired() { printf '%s\n' "$@" > t.csv && "$DTX" convert --repair -q t.csv --to csv; }
repaired id,100022,100025 id1,TRUE,TRUE
repaired nm,400.5,401.5 a,x,y b,z,w
repaired Ann,5,6 Bob,x,y
crosstab kind,2016,2017,2018 a,1979,x,2005-12-18 b,1983,y,1995-07-17
crosstab Rome,1990,1991,1992 Oslo,1991,1992,1993 || echo "exit $?"
echo "-- NA is a name beside others"
crosstab year,NA,EU 2020,5,6 2021,7,8
crosstab Ann,NA 5,6 Bob,8 || echo "exit $?"
echo "-- dates below a blank name"
crosstab ,2024-01-31,2024-02-29 A,1.5,2 B,3,4.5
crosstab ,2024-01-31,2024-02-29 A,2024-03-31,2024-04-30 || echo "exit $?"
crosstab ,2024-02-29,2024-01-31 A,1,2 || echo "exit $?"
