. "$LIB"
printf '{"dtx": 1, "steps": [}' > a.json
printf '{"dtx": 1, "steps": [], "steps": []}' > b.json
printf '{"dtx": 2, "steps": [{"op": "filter", "where": "true"}]}' > c.json
printf '{"dtx": 1, "steps": [{"op": "filtr", "where": "true"}]}' > d.json
for f in a b c d missing; do dtx check $f.json --typed || echo "$f: exit $?"; done
