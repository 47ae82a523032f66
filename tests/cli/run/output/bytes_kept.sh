. "$LIB"
# untouched cells come back byte for byte, quotes too
cat > in.csv <<'C'
id,amount,note
007,1.50,"a ""quoted"" one"
008,1e3,"plain"
009,,""
C
echo '[{"op":"filter","where":"id != '"'008'"'"}]' > plan.json
dtx run plan.json in.csv
dtx convert in.csv - --to csv | cmp - in.csv && echo same
