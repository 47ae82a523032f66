# A snippet has scipy, and what pandas has from there, when its text tells of it.
. "$LIB"
printf 'a,b\n1,3.5\n2,1\n3,\n4,5\n' > t.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "fit_it"}]}' > plan.json
try() {
	printf '%s\n' "$@" > s.py
	dtx run plan.json t.csv --snippet s.py 2> err.txt || sed -n '1s/.*No module/No module/p' err.txt
}
try 'from scipy import stats' 'def transform(tables, params):' \
	'    t = tables["main"].dropna()' \
	'    return t.assign(z=stats.zscore(t["a"]).round(6))'
try 'def transform(tables, params):' '    t = tables["main"]' \
	'    return t.corr(method="kendall").round(6)'
try 'def transform(tables, params):' '    t = tables["main"]' \
	'    return t.assign(c=t["b"].interpolate(method="quadratic").round(6), w=t["a"].rolling(2, win_type="triang").mean())'
try 'def transform(tables, params):' '    t = tables["main"]' '    return t.assign(c=t["b"].interpolate())'
try 'def transform(tables, params):' '    t = tables["main"]' '    return t.corr(method="kend" "all")'
# triangulation, whose messages are a file elsewhere
try 'from scipy.spatial import ConvexHull' 'def transform(tables, params):' \
	'    t = tables["main"].dropna()' \
	'    return t.head(1).assign(h=round(ConvexHull(t[["a", "b"]]).volume, 6))'
