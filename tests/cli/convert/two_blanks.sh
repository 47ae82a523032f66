# One column whose texts have two blanks in them is one column, not three with an empty one.
printf 'name\nAnn  Lee\nBob  Jones\n  Eve\n' > in.csv
"$DTX" convert in.csv --to csv
