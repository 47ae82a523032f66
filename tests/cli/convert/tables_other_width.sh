# A second table of another width right below the first is told; a short record or a total is not
. "$LIB"
printf 'id,name,n\n1,Ann,4\n2,Bob,5\ncode,price\nX,5\nY,6\n' > two.csv
printf 'id,name,n\n1,Ann,4\n2,Bob,5\n3,Eve\n4,Li\n5,Jo,6\nTotal,,15\n' > one.csv
dtx convert two.csv --repair --to csv -o -
dtx convert one.csv --repair --to csv -o -
# ... and of the same width
printf 'id,name\n1,Ann\n2,Bob\ncode,price\nX,5\nY,6\n' > same.csv
dtx convert same.csv --repair --to csv -o -
