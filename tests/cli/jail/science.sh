# A snippet has scipy, and what pandas has from there, when its text tells of it.
. "$LIB"
needs_module scipy
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
# what reads markup is there for a snippet that tells of it
try 'import sys' 'import xml.etree.ElementTree as ET' 'def transform(tables, params):' \
	'    t = tables["main"]' '    root = ET.fromstring("<r><v>7</v><v>8</v></r>")' \
	'    print(len(root), file=sys.stderr)' '    return t.head(2).assign(v=[int(v.text) for v in root])'
try 'import io' 'import pandas as pd' 'def transform(tables, params):' \
	'    text = tables["main"].head(2).to_xml(index=False)' '    return pd.read_xml(io.StringIO(text))'
try 'import pandas as pd' 'def transform(tables, params):' \
	'    return pd.read_html("<table><tr><th>x</th></tr><tr><td>5</td></tr></table>")[0]'
# and so are parts of numpy that few name
try 'import numpy as np' 'def transform(tables, params):' '    t = tables["main"]' \
	'    np.testing.assert_allclose(t["a"], [1, 2, 3, 4])' '    return t.head(1)'
