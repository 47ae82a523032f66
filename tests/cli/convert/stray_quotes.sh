. "$LIB"
# two quotes that pair up over lines by accident: said where, or repaired and listed
printf 'id,name,n\n1,"Ann,5\n2,Bob,6\n3,Eve",7\n4,"Li, Lo",8\n5,"x\ny",9\n' > pair.csv
dtx convert pair.csv
dtx convert --repair pair.csv
# far behind what is sniffed, and in the header
{ echo id,name,n; seq 1 200000 | sed 's/.*/&,name&,&0/; s/^150000,/150000,"/; s/^\(150003,[^,]*\),/\1",/'; } > late.csv
dtx convert --repair late.csv -o late.out.csv
wc -l < late.out.csv
printf 'id,"name,n\n1,Ann,5\n2,Bob",6\n3,Eve,7\n' | dtx convert --repair -
# texts of several lines, some of which look nearly like rows
printf 'id,note,n\n1,"a, b\nc, d",5\n2,"e\nf",6\n' | dtx convert --repair -
# quotes that open on each line of one column, one of which never closes: no records are joined
printf 'quote\n"one, two"\n"three, four\n"five"\n"six, seven"\n' | dtx convert --repair -
printf 'quote\n"one, two\nthree "four"\nfive\n' | dtx convert --repair -
