# scipy, and what pandas has from there, for programs that tell of it
. "$LIB"
needs_module scipy
needs_module matplotlib
cat > stats.py <<'PY'
import numpy as np
import pandas as pd
from scipy import optimize, stats
df = pd.DataFrame({"a": [1, 2, 3, 4], "b": [3.0, 1, 2, 5]})
print(df.corr(method="kendall").round(3).to_string())
print(stats.linregress(df["a"], df["b"]).slope.round(3), stats.zscore(df["b"]).round(3).tolist())
print(optimize.brentq(lambda x: x * x - 2, 0, 2).__round__(6))
print(pd.Series([0, 2, np.nan, 8]).interpolate(method="polynomial", order=2).round(3).tolist())
print(df.rolling(2, win_type="triang").mean()["b"].tolist())
df.plot.kde()
PY
"$DTX" exec stats.py -o res || echo "exit $?"
ls res
"$DTX" exec -c 'import importlib
importlib.import_module("sci" + "py")' 2> said || echo "exit $?"
grep -A1 ^dtx said | sed 's/ while the code runs[;,].*//' # the rest depends on user namespaces
"$DTX" exec -c 'import matplotlib.pyplot as plt, numpy as np
plt.contourf(np.arange(12).reshape(3, 4))
plt.savefig("/out/a.webp")
from dateutil import tz
import datetime
print(datetime.datetime(2024, 7, 1, tzinfo=tz.gettz("Europe/Paris")).utcoffset(), tz.gettz("nowhere"))' -o figures || echo "exit $?"
ls figures
