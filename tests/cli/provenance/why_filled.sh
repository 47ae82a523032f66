. "$LIB"
# a filled cell has its value from another row: down, up, in groups, as far as the limit goes
id() { sed 's/run .*/run ID/'; }
printf 'region,city,jan,feb,mar\nEast,A,1,2,3\n,B,4,5,6\nWest,C,7,8,9\n,D,10,11,12\nTotal,,22,26,30\n' > sales.csv
plan() { printf '{"dtx":1,"inputs":[{"name":"main"}],"steps":[%s]}' "$1" > plan.json; dtx run plan.json sales.csv -o out.csv -q; }
plan '{"op":"fill","cols":["region"]}'
dtx why out.csv --row 2 --col region | id
dtx why out.csv --row 3 --col region | id
dtx why out.csv --row 2 --col region --no-values | id
plan '{"op":"fill","cols":["region"],"dir":"up"}'
dtx why out.csv --row 2 --col region | id
plan '{"op":"fill","cols":["region"],"dir":"right"}'
dtx why out.csv --row 2 --col region | id
printf 'k,v\na,1\nb,\na,\nb,2\na,\na,\n' > groups.csv
printf '{"dtx":1,"inputs":[{"name":"main"}],"steps":[{"op":"fill","cols":["v"],"by":["k"],"limit":2}]}' > groups.json
dtx run groups.json groups.csv -o g.csv -q
for row in 2 3 5 6; do dtx why g.csv --row $row --col v | id | grep -v decided; done
# through a step that drops rows, and columns made rows
plan '{"op":"drop_rows","kinds":["blank","totals"],"where":"city == '"'B'"'"},{"op":"fill","cols":["region"]},
	{"op":"pivot_longer","cols":["jan","feb","mar"],"names_to":"month","values_to":"n"}'
dtx why out.csv --row 8 --col n | id
dtx why out.csv --row 8 --col region | id | head -3
# which kind of row a dropped one was taken for
plan '{"op":"drop_rows","kinds":["totals","blank","footnotes"]}'
dtx why-not out.csv sales.csv!L6 | id
dtx why-not out.csv sales.csv!L6 --no-values | id
plan '{"op":"drop_rows","kinds":["totals"],"where":"jan == 4"}'
dtx why-not out.csv sales.csv!L3 | id
# a transposed table
plan '{"op":"transpose"}'
dtx why out.csv --row 1 --col column_3 | id || dtx why out.csv B2 | id
