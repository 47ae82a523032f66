. "$LIB"
# A line as one types it: options last, as in a plan the record says what was done.
cat > sales.csv <<'X'
city,quantity,value
Bern,3,10.50
Bern,0,4.00
Basel,2,7.25
Zug,1,1.00
Basel,5,2.25
X
dtx pipe sales.csv -- filter 'quantity > 0' then group_by city n='count()' value='sum(value)' then sort -value then head 10 -o out.csv
cat out.csv
dtx provenance out.csv | grep -E '^(how|rows|formula|from)' | plain
dtx replay out.csv | sed 's/^replay .*/replay/' | plain
dtx why out.csv B2 | sed -n '2,$p' | plain
dtx provenance log | sed -E 's/^[^ ]+ +[^ ]+ [^ ]+/RUN/' | plain | head -3
echo "# the same as a plan"
dtx pipe sales.csv -- filter 'quantity > 0' then group_by city n='count()' value='sum(value)' then sort -value then head 10 -o out.csv --print-plan | tee plan.json
dtx run plan.json -o again.csv && cmp out.csv again.csv && echo "the same bytes"
rm out.csv
dtx run plan.json && cmp out.csv again.csv && echo "and by its own output"
