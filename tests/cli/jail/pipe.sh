. "$LIB"
# A step of a pipe that only a snippet can do: the same offer, prompt, answer and replay as of dtx run.
printf 'k,n\na,1\nb,2\na,3\n' > in.csv
cat > answer.txt <<'X'
```python
def transform(tables, params):
    df = tables["main"].copy()
    df["n"] = df["n"] * params["steps"][0]["args"][0]
    return df
```
X
dtx pipe in.csv -- multiply_all 10 then sort -n -o out.csv 2>&1 | plain || true
dtx pipe in.csv -- multiply_all 10 then sort -n -o out.csv > /dev/null 2>&1 || echo "exit $?"
run=$(dtx provenance log | head -1 | grep -oE '\b[0-9a-f]{8}\b' | head -1)
dtx prompt "$run" | sed -n '/^TASK/,/^END/p' | sed -E 's/(DATA|END) [0-9a-f]+/\1 ID/'
dtx pipe in.csv -- multiply_all 10 then sort -n -o out.csv --snippet answer.txt
cat out.csv
dtx replay out.csv | sed 's/^replay .*/replay/' | plain
