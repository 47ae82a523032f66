# Around the limit of memory a program ends well or by the name of the limit, also where a library in
# C takes what it could not have for granted and crashes.  Which of the two is sure away from the
# edge alone.
try() { # FIRST LAST PROGRAM: a mebibyte more each time
	for n in $(seq "$1" "$2"); do
		"$DTX" exec --json --jail-memory 64M -c "n = $n
$3" | grep -o '"status":"[a-z_]*"' | head -1
	done | sort -u
}
bytes='x = bytearray(n << 20)'
columns='import pandas as pd, numpy as np
d = pd.DataFrame({"a": np.arange(n << 15)})
d.merge(d, on="a").groupby("a").sum()'
echo within; try 1 2 "$bytes"; try 1 1 "$columns"
echo beyond; try 100 100 "$bytes"; try 36 36 "$columns"
echo at the edge, something else
{
	try 62 66 "$bytes"
	try 18 28 "$columns"
} | grep -vcE '"(ok|memory_limit)"' || true
