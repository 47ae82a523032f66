# A value too long for a column name is a limit and says so; it is not a lack of memory
. "$LIB"
{ echo 'k,q,v'; printf '1,'; head -c 1100000 /dev/zero | tr '\0' a; echo ',2'; } > in.csv
echo '[{"op":"pivot_wider","names_from":["q"],"values_from":["v"]}]' > plan.json
dtx run plan.json in.csv; echo $?
cat > long.json <<'P'
[{"op":"derive","set":{"p":"q"}},{"op":"pivot_wider","names_from":["q","p"],"values_from":["v"]}]
P
{ echo 'k,q,v'; printf '1,'; head -c 600000 /dev/zero | tr '\0' a; echo ',2'; } > half.csv
dtx run long.json half.csv; echo $?
