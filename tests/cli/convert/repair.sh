. "$LIB"
printf 'id,name,city\n1,Ann,Rome\n2,"Bob,Oslo\n3,Jos\351,Lima,extra\n4,Eve\n' > dirty.csv
dtx convert dirty.csv || echo "exit $?"
dtx convert --verbose --repair dirty.csv -o tidy.csv && cat tidy.csv
printf 'n,t\n1,a\n2\n3,c,d\n' > ragged.csv
dtx convert ragged.csv --ragged quarantine || echo "exit $?"
dtx convert --verbose ragged.csv --ragged quarantine -o kept.csv && cat kept.csv kept.csv.rejects.csv
printf 'a,b\n1,2\n3,4\n\nk,v\n5,6\n7,8\n' > two.csv
dtx convert two.csv 2> /dev/null || echo "exit $?"
dtx convert --verbose --repair two.csv
printf 'a,b,c\n1,"x "quoted" y",3\n4,"open,5\n6,7,8\n' > quotes.csv
dtx convert quotes.csv
printf '1,x\n2,y\n' | dtx convert --repair - --errors=json
dtx inspect --repair dirty.csv | head -2
# names that are numbers, above bools, dates or decimals; a first row of numbers above numbers is data
printf 'probe,70021,70044\nA1,true,false\nA2,false,false\n' | dtx convert --repair -
printf 'probe,70021,70044\nA1,0.5,1.25\nA2,0.75,2.5\n' | dtx convert --repair -
printf 'probe,7,9\nA1,0.5,1.25\nA2,0.75,2.5\n' | dtx convert --repair -
# each kind of change is listed, with its count and its first line
printf 'day,price,n\n2024-05-01,12.25,4\n2024-05-02,2,417.50,5\n2024-05-03,1,000.00,6\n' > prices.csv
dtx convert prices.csv || echo "exit $?"
dtx convert --repair prices.csv
printf 'id,who,n\n1,Ann,5\n2,Roe, Jane,6\n3,Eve\n4,Li,7,more\nid,who,n\n5,Bo,8\n' | dtx convert --repair -
printf 'id,who,n\n1,Ann,5\n# a word\n2,Bo,6\n# two\n3,Li,7\n\nSource: the office\nNote: a guess\n' | dtx convert --repair -
# never more lines left out than stay; lines of texts that come again are rows
printf 'a,b\n1,2\n\nk,v\n5,6\n7,8\n9,9\n' | dtx convert --repair - || echo "exit $?"
printf 'one\ntwo\nthree\nfour\nfive\nid,n\n1,2\n3,4\n' | dtx convert --repair - || echo "exit $?"
printf 'pet,hue\ncat,red\npet,hue\ndog,blue\n' | dtx convert --repair -
# numbers that name columns of words; two numbers with commas in one row
printf '1,2\nx,y\nz,w\n' | dtx convert --repair -
printf 'day,price,n\n2024-05-01,1,234.50,1,200\n2024-05-02,999.00,12\n2024-05-03,2,000.00,15\n' | dtx convert --repair -
# files joined to one: their header comes again far below the first rows
{ echo id,n; seq 1 1500 | sed 's/.*/&,&/'; echo id,n; seq 1501 1600 | sed 's/.*/&,&/'; } > joined.csv
dtx convert --repair joined.csv | wc -l
