# Two tables of a sheet, parted by a row of delimiters: read as one, and told; the first by --repair
. "$LIB"
printf 'Sales North,,\nmonth,units,price\nJan,10,1.5\nFeb,12,1.6\n,,\nCosts,,\ncategory,amount,\nrent,100,\npower,20,\n' > two.csv
dtx convert two.csv --to csv -o -
dtx convert two.csv --repair --to csv -o -
