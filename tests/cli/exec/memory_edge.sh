# Around the limit of memory a program ends well or by the name of the limit, also where a library in
# C takes what it could not have for granted and crashes.
try() { # FIRST LAST PROGRAM: a mebibyte more each time
	for n in $(seq "$1" "$2"); do
		"$DTX" exec --json --jail-memory 64M -c "n = $n
$3" | grep -o '"status":"[a-z_]*"' | head -1
	done | sort -u
}
echo bytes; try 62 66 'x = bytearray(n << 20)'
echo columns; try 18 28 'import pandas as pd, numpy as np
d = pd.DataFrame({"a": np.arange(n << 15)})
d.merge(d, on="a").groupby("a").sum()'
