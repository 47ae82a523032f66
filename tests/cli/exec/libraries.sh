# libraries that open files, wait or start threads by themselves
printf '1,2\n3,4\n' > n.csv
cat > files.py <<'PY'
import bz2, os, sqlite3, tempfile
import numpy as np, pandas as pd
np.savetxt("t.csv", np.loadtxt("n.csv", delimiter=",") * 2, fmt="%g", delimiter=",")
print(open("t.csv").read().split(), np.genfromtxt("/in/n.csv", delimiter=",").sum())
pd.DataFrame({"a": [1, 2]}).to_csv("t.csv.bz2", index=False)
print(pd.read_csv("t.csv.bz2").shape, bz2.open("t.csv.bz2", "rt").read().split())
np.save("a.npy", np.arange(3))
print(np.load("a.npy", mmap_mode="r").tolist(), np.fromfile("a.npy", dtype="u1", count=6)[1:].tobytes())
pd.DataFrame({"a": [1]}).to_html("t.html")
print(pd.read_html("t.html")[0].shape)
number, path = tempfile.mkstemp(".csv")
with os.fdopen(number, "w") as f:
    f.write("a,b\n1,2\n")
print(pd.read_csv(path).shape, path.startswith(tempfile.gettempdir()))
number, path = tempfile.mkstemp()
os.write(number, b"a")
os.write(number, b"b")
os.close(number)
print(open(path).read())
try:
    os.close(number)
except OSError as error:
    print(error.strerror)
a = sqlite3.connect("a.db")
pd.DataFrame({"x": [1, 2]}).to_sql("t", a, index=False)
with sqlite3.connect("/out/a.db") as b:  # one file, one database
    b.execute("insert into t values (3)")
b.close()
print(pd.read_sql("select * from t", a)["x"].tolist(), os.path.getsize("a.db") > 0)
a.execute("insert into t values (4)")  # not committed
try:
    sqlite3.connect("/nowhere/x.db")
except sqlite3.OperationalError as error:
    print(error)
exit()
PY
"$DTX" exec files.py --file n.csv=n.csv -o res || echo "exit $?"
ls res
/usr/bin/python3 -c 'import sqlite3
print(sqlite3.connect("res/a.db").execute("select x from t").fetchall())'
"$DTX" exec -c 'import sqlite3
print(sqlite3.connect("a.db").execute("select count(*) from t").fetchall())' --file a.db=res/a.db || echo "exit $?"
cat > waits.py <<'PY'
import asyncio, concurrent.futures, threading
async def after(n):
    await asyncio.sleep(0.01 * n)
    return n
async def main():
    print(await asyncio.gather(after(3), after(1)), await asyncio.to_thread(lambda: 7))
    try:
        await asyncio.wait_for(after(1000), 0.05)
    except asyncio.TimeoutError:
        print("late")
async def never():
    await asyncio.get_running_loop().create_future()
asyncio.run(main())
try:
    asyncio.run(never())
except RuntimeError as error:
    print(error)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda x: x * x, range(4))), type(pool.submit(int, "x").exception()).__name__)
with concurrent.futures.ProcessPoolExecutor() as pool:
    done = [pool.submit(pow, 2, k) for k in range(3)]
    print(sorted(d.result() for d in concurrent.futures.as_completed(done)))
try:
    pool.submit(abs, 1)
except RuntimeError as error:
    print(error)
try:
    threading.Thread(target=print).start()
except RuntimeError as error:
    print(error)
PY
"$DTX" exec waits.py || echo "exit $?"
# What programs ask of the system and only print; what is not there says so and ends nothing.
cat > asks.py <<'PY'
import getpass, os, platform, resource, shutil, socket
import multiprocessing.shared_memory as shared
print(os.umask(0), len(os.sched_getaffinity(0)), os.uname().nodename, platform.node(), socket.gethostname(),
      getpass.getuser(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
for call in (lambda: shutil.disk_usage("/"), lambda: shared.SharedMemory(create=True, size=10)):
    try:
        call()
    except OSError as e:
        print(e)
PY
"$DTX" exec asks.py || echo "exit $?"
