"""Flips random bits of a real store: either all that the store reports stays the same, or verify finds the damage.
Usage: /usr/bin/python3 tests/fault/flips.py DTX [COUNT [SEED]]"""
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 120
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 11
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures")
passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok - " if ok else "not ok - ") + name + ("" if ok else "\n# " + str(why)[:2000].replace("\n", "\n# ")))


def dtx(*args, store):
    done = subprocess.run([DTX, *args, "--store", store], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=120)
    return done.returncode, done.stdout + done.stderr


def content(path):
    """All that a store reports, from its tables and, where there are indexes, also from these."""
    db = sqlite3.connect(path)
    db.text_factory = bytes
    try:
        out = [db.execute("PRAGMA application_id").fetchall(), db.execute("PRAGMA user_version").fetchall()]
        schema = db.execute("SELECT type,name,tbl_name,sql FROM sqlite_schema ORDER BY 1,2").fetchall()
        out.append(schema)
        for kind, name, table, _ in schema:
            if kind == b"table":
                out.append(sorted(map(repr, db.execute("SELECT * FROM %s NOT INDEXED" % name.decode()))))
            elif kind == b"index":
                cols = [c[2].decode() for c in db.execute("PRAGMA index_info('%s')" % name.decode())]
                where = {b"cell_live": " WHERE state='approved'",
                         b"ledger_snippet": " WHERE kind>='snippet.' AND kind<'snippet/'"}.get(name, "")
                out.append(sorted(map(repr, db.execute("SELECT %s FROM %s INDEXED BY '%s'%s" % (
                    ",".join(cols), table.decode(), name.decode(), where)))) if not name.startswith(b"sqlite_") else None)
        return out
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as e:
        return str(e)
    finally:
        db.close()


def made():
    """Makes a store with all kinds of content: runs, an author, snippets, snapshots, purged bodies, signatures."""
    for name in ("xlsx/weeks.xlsx", "plans/balance.json", "snippets/balance.txt"):
        shutil.copy(os.path.join(FIXTURES, name), ".")
    with open("in.csv", "w") as f:
        f.write("k,v\n" + "".join("%d,%d\n" % (i % 7, i) for i in range(300)))
    with open("plan.json", "w") as f:
        f.write('{"dtx":1,"steps":[{"op":"group_by","by":["k"],"agg":{"v":"sum(v)"}},'
                '{"op":"assert","that":"v > 0","name":"positive"}]}')
    with open("seen.csv", "w") as f:
        f.write("k,v\n" + ("7,%s\n" % ("x" * 1000)) * 9000)
    os.environ["DTX_INPUT_SETTLE"] = "0"
    dtx("run", "plan.json", "seen.csv", "-o", "seen_out.csv", "-q", store="s.db")
    dtx("run", "plan.json", "in.csv", "-o", "kept.csv", "-q", "--snapshot-inputs", store="s.db")
    dtx("store", "forget", "--snapshots", store="s.db")
    dtx("run", "balance.json", "weeks.xlsx", "-q", "-o", "b.csv", "--author", "cat > /dev/null; cat balance.txt",
        "--approve", "auto", store="s.db")
    dtx("run", "plan.json", "in.csv", "-o", "out.csv", "-q", "--lineage", "rows", store="s.db")


def put(files):
    """Copies both files and removes other files of the copies."""
    for name in ("t.db", "u.db"):
        for stale in (name, name + "-wal", name + "-shm"):
            if os.path.exists(stale):
                os.unlink(stale)
        for f, data in files.items():
            with open(name[0] + f[1:], "wb") as g:
                g.write(data)


def flips(name, files, turn, count, rng, upto=None):
    """Changes something in the first of the files; the others are next to it."""
    whole = {f: open(f, "rb").read() for f in files}
    put(whole)
    before = content("u.db")
    status, out = dtx("verify", store="t.db")
    check("%s: whole at first" % name, status == 0 and isinstance(before, list), out)
    missed, found, same = [], 0, 0
    for _ in range(count):
        data = bytearray(whole[files[0]])
        at = rng.randrange(upto or len(data))
        data[at] = turn(data[at], rng)
        put({**whole, files[0]: data})
        is_same = content("u.db") == before
        status, out = dtx("verify", store="t.db")
        if status in (1, 9) and out:
            found += 1
        elif status == 0 and is_same:
            same += 1
        else:
            missed.append((files[0], at, whole[files[0]][at], data[at], status, out))
    check("%s: of %d all are found (%d) or change nothing (%d)" % (name, count, found, same), not missed, missed)


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="dtx-flips-") as folder:
        os.chdir(folder)
        for key in ("DTX_STORE", "XDG_STATE_HOME"):
            os.environ.pop(key, None)
        made()
        bit = lambda old, rng: old ^ (1 << rng.randrange(8))
        byte = lambda old, rng: (old + rng.randrange(1, 256)) % 256
        # as it is after runs: a database and its log
        flips("bits of the log", ["s.db-wal", "s.db"], bit, COUNT // 6, rng)
        db = sqlite3.connect("s.db")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        flips("bits of the file", ["s.db"], bit, COUNT // 2, rng)
        flips("bytes of the file", ["s.db"], byte, COUNT // 4, rng)
        # the first page has the file's header and the schema
        flips("bits of the first pages", ["s.db"], bit, COUNT // 12, rng, 4096)
        os.chdir("/")
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0)


main()
