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
