. "$LIB"
# rows of other widths are read by a guess where that gives a proposal, which says so; else they are refused
printf 'city,year,n\nOslo,2020,1\n,2021,2\n,2022,3,see note\nBergen,2020,4\n,2021,5\n,2022,6\n' > fill.csv
dtx suggest fill.csv
printf 'n,t\n1,a\n2,b,x\n3,c\n4,e\n' > plain.csv
dtx suggest plain.csv || echo "exit $?"
