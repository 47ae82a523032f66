"""Checks that no cell reaches an author (the language model that writes snippets): the bytes
that it is sent must not depend on the cells.

Each case runs twice, over two inputs of the same shape.  The cells of one are ordinary English
words, names of Python's types, words of error messages and numbers of the snippet; the other has
different words and numbers in the same places.  The first answer of the author fails in a way
that puts the cell into an error.  What is sent for the next attempt must then be the same for
both inputs, byte for byte.  Half of the cases use a command as author, half a server on loopback.

The store is checked, too: no cell of a run may be found in its files.

Usage: canaries.py DTX [PART-OF-A-NAME]
"""
import codecs
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))

import author_server  # noqa: E402

# words that occur in messages, snippets or the plan, and others of the same shape
WORDS = ("negative", "value", "invalid", "column", "int", "status", "exception", "index", "total",
         "hours")
NUMBERS = ("42", "7", "3", "1000", "2", "1", "64", "5", "10", "8")
TYPES = ("ValueError", "KeyError", "Exception", "TypeError", "Decimal", "Timestamp", "Series",
         "DataFrame", "Canary", "Int")
OTHERS = tuple(codecs.encode(word, "rot13") for word in WORDS)
OTHER_TYPES = tuple(codecs.encode(word, "rot13") for word in TYPES)
OTHER_NUMBERS = ("97", "6", "4", "2986", "9", "5", "86", "3", "77", "1")

HEAD = """import pandas as pd
import numpy as np
import decimal
import json
import re
import warnings
KNOWN = {"negative": 42, "invalid": 7, "value": 3}

class Own(Exception):
    pass

class Told(Exception):
    def __str__(self):
        return "%s" % (self.args,)

def transform(tables, params):
    df = tables["main"]
    os = pd.io.common.os
    word, n, kind = df["word"].iloc[0], df["n"].iloc[0], df["kind"].iloc[0]
"""
GOOD = """```python
def transform(tables, params):
    return tables["main"].assign(total=1)
```
"""

# name: the end of the snippet
FAILS = {
    "raise": "raise ValueError(word)",
    "raise with text": "raise ValueError('negative value of %s: %r, %d' % (word, word, n))",
    "raise a number": "raise ValueError(n) if n != 43 else KeyError('42')",
    "key": "raise KeyError(word)",
    "key of a number": "raise KeyError(n)",
    "key beside its own words": "raise KeyError(word if word != 'other' else 'another')",
    "lookup": "return {'other': 1}[word + 'x']",
    "column": "return df[word + ' ']",
    "columns": "return df[['other', word + ' ']]",
    "attribute": "return getattr(df, word + '_')",
    "assert": "assert word == 'other', word",
    "assert without a message": "assert word == 'other'",
    "float": "return df.assign(x=float(word))",
    "astype": "return df['word'].astype(float)",
    "to_numeric": "return pd.to_numeric(df['word'])",
    "to_datetime": "return pd.to_datetime(df['word'])",
    "decimal": "return decimal.Decimal(word)",
    "json": "return json.loads(word)",
    "regex": "return re.compile('(' + word)",
    "unicode": "return word.encode('utf-16').decode('utf-8')",
    "text and number": "return word + n",
    "index": "return df['n'].iloc[[n + 100]]",
    "lengths": "return df.assign(x=[word] * int(n + 100))",
    "merge": "return df.merge(df, on=word + '_')",
    "own class": "raise Own(word)",
    "class of a cell": "raise type(kind, (Exception,), {})(word)",
    "class of a cell that says it is Python's":
        "raise type(kind, (Exception,), {'__module__': 'builtins'})(word)",
    "str of its own": "raise Told(word)",
    "chained": "try:\n        raise ValueError(word)\n    except ValueError as e:\n"
               "        raise KeyError('x') from e",
    "in a handler": "try:\n        raise ValueError(word)\n    except ValueError:\n"
                    "        return df[word + '!']",
    "a note": "e = ValueError('x')\n    e.add_note(word)\n    raise e",
    "a group": "raise ExceptionGroup(word, [ValueError(word), KeyError(word)])",
    "exit": "raise SystemExit(word)",
    "an interrupt": "raise KeyboardInterrupt(word)",
    "stop": "raise StopIteration(word)",
    "os error": "raise OSError(int(n), word, word)",
    "syntax of a text": "raise SyntaxError(word, ('<snippet>', 3, 1, word))",
    "a table as the message": "raise ValueError(df)",
    "deep": "def down(k):\n        raise ValueError(word) if not k else down(k - 1)\n    down(9)",
    "lambda": "return df.assign(x=df['word'].map(lambda w: KNOWN[w + ' ']))",
    "apply": "return df.apply(lambda row: int(row['word']), axis=1)",
    "print": "print(word, n)\n    print(df)\n    raise ValueError('x')",
    "stderr": "os.sys.stderr.write(word)\n    raise ValueError('x')",
    "warning": "warnings.warn(word)\n    raise ValueError('x')",
    "warning as an error": "warnings.simplefilter('error')\n    warnings.warn(word)",
    "no table": "return word",
    "no table but numbers": "return df['n']",
    "nested": "return pd.DataFrame({word: [[1, 2]]})",
    "nested in a named column": "return df.assign(total=[[word]] * len(df))",
    "mixed": "return pd.DataFrame({word: [1, 'x', 2.5]})",
    "type of a cell": "return pd.DataFrame({word: [type(kind, (), {})()]})",
    "two columns of a name": "out = pd.DataFrame([[1, 2]], columns=[word, word])\n    return out",
    "zone": "return pd.DataFrame({word: pd.to_datetime(['2024-01-01']).tz_localize('UTC')})",
    "dtype": "return pd.DataFrame({word: pd.Series([word]).astype('category'), 'c': [1j]})",
    "columns of a pivot": "out = df.pivot_table(index='n', columns='word', values='m')\n"
                          "    return out.assign(bad=[[1]] * len(out))",
    "level of an index": "out = df.set_index('word')\n    out.index.name = word\n"
                         "    out[word] = 1\n    return out.set_index('n', append=True)",
    "big integer": "return pd.DataFrame({word: [2 ** 70]})",
    "an own column is missing": "return pd.DataFrame({word: [1]})",
    "a type of a column": "return df.assign(total=word)",
    "other results": "return df.assign(total=hash(word) % 1000)",
    "the call": "os.kill(int(n) + 100000, 0)",
    "an end": "os._exit(int(n) % 2)",
    "forged message": "boot = os.sys.modules['layout']\n    raise boot.BadResult(word, word, n)",
    "forged fault": "raise os.sys.modules['layout'].BadResult(\"'%s'\" % word, 'name', 0)",
    "forged screen":
        "f = os.sys._getframe()\n    while not hasattr(f.f_locals.get('self'), 'report'):\n"
        "        f = f.f_back\n    job = f.f_locals['self']\n"
        "    job.report['check'] = {'class': 'syntax', 'line': 0, 'message': word}\n"
        "    job.finish = lambda *a, **k: type(job).finish(job, 4)\n    raise ValueError",
    "forged lines":
        "f = os.sys._getframe()\n    while not hasattr(f.f_locals.get('self'), 'report'):\n"
        "        f = f.f_back\n    boot = f.f_globals\n"
        "    boot['describe'] = lambda e, s: {'type': word, 'message': word, 'line': 1,\n"
        "        'frames': [{'line': 1, 'function': word, 'text': word}]}\n    raise ValueError",
}
# cases that need more: further steps of the plan, the head of the module, the expected columns
TABLE = "    return df.assign(total=df['word'])\n"
MORE = {
    "a later step": {"body": "return df.assign(total=df['word'])",
                     "after": [{"op": "cast", "columns": {"total": "int"}}]},
    "a later step and a pivot":
        {"body": "return df.pivot_table(index='n', columns='word', values='m').reset_index()",
         "after": [{"op": "filter", "where": "absent > 1"}]},
    "assumes": {"top": "ASSUMES = [\"word = 'other'\"]\n", "body": "return df"},
    "assumes what cannot be": {"top": "ASSUMES = [\"word + 1 > 2\"]\n", "body": "return df"},
    "formulas": {"top": "FORMULAS = {\"total\": \"n + 1\"}\n", "body": "return df.assign(total=n)"},
    "forged assumes":
        {"top": "ASSUMES = [\"word = 'other'\"]\n", "body":
         "f = os.sys._getframe()\n    while not hasattr(f.f_locals.get('self'), 'report'):\n"
         "        f = f.f_back\n    job = f.f_locals['self']\n"
         "    job.report['check']['assumes'] = [\"'%s' = 'x'\" % word]\n    return df"},
    "not expected": {"body": "return df.rename(columns={'word': word})",
                     "expect": {"extra": "forbid", "columns": [{"name": "n"}]}},
    "expected values": {"body": "return df",
                        "expect": {"columns": [{"name": "word", "enum": ["x"]},
                                               {"name": "n", "max": 0}]}},
    "expected names": {"body": "return df.rename(columns={'n': word})",
                       "expect": {"columns": [{"name": "n"}]}},
}

# steps that fail with a cell in their message, which starts the fallback
TRIGGERS = {
    "no such op": [{"op": "do_the_impossible", "note": "negative value"}],
    "a cell is not an int": [{"op": "cast", "columns": {"word": "int"}}],
    "a cell is not a date": [{"op": "cast", "columns": {"word": {"type": "date"}}}],
    "a word and a number": [{"op": "mutate", "columns": {"x": "word + 1"}}],
    "a pivot is not unique": [{"op": "pivot_wider", "names_from": "same", "values_from": "word",
                               "id": ["same"]}],
    "no such column": [{"op": "select", "columns": ["word", "negative"]}],
    "no such function": [{"op": "mutate", "columns": {"x": "negative(word)"}}],
}


class Server(author_server.Handler):
    """POST /CASE/... answers what the case says, and keeps what it was sent."""

    answers, seen, lock = {}, {}, threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        case = self.path.split("/")[1]
        with self.lock:
            seen = self.seen.setdefault(case, [])
            seen.append(body)
            text = self.answers[case][min(len(seen), len(self.answers[case])) - 1]
        self.send(200, author_server.reply(choices=[
            {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]))


def table(words, numbers, kinds):
    rows = ["word,n,kind,m,same"]
    rows += ["%s,%s,%s,%d,k" % (*row, i) for i, row in enumerate(zip(words, numbers, kinds))]
    return "\n".join(rows) + "\n"


class Bench:
    def __init__(self, dtx, home):
        self.dtx, self.home, self.numbers = dtx, home, 0
        self.lock = threading.Lock()
        self.server = author_server.Server(("127.0.0.1", 0), Server)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.inputs = [table(WORDS, NUMBERS, TYPES),
                       table(OTHERS, OTHER_NUMBERS, OTHER_TYPES)]

    def folder(self):
        with self.lock:
            self.numbers += 1
            path = "%s/%d" % (self.home, self.numbers)
        os.mkdir(path)
        return path

    def run(self, folder, *args):
        env = dict(os.environ, DTX_STORE=folder + "/store.db", XDG_CONFIG_HOME=folder)
        return subprocess.run((self.dtx,) + args, cwd=folder, env=env, capture_output=True,
                              text=True, timeout=300)

    def sent(self, rows, plan, answer, over_http):
        """All that the author was sent, and how the run ended."""
        folder = self.folder()
        for name, text in (("in.csv", rows), ("plan.json", json.dumps(plan)), ("bad.txt", answer),
                           ("good.txt", GOOD)):
            with open("%s/%s" % (folder, name), "w") as f:
                f.write(text)
        case = os.path.basename(folder)
        if over_http:
            Server.answers[case] = [answer, GOOD]
            author = ("--author-url", "%s/%s" % (self.url, case), "--author-model", "m")
        else:
            author = ("--author", "n=$(ls prompt.* 2>/dev/null | wc -l); cat > prompt.$n; "
                      "if [ $n = 0 ]; then cat bad.txt; else cat good.txt; fi")
        done = self.run(folder, "run", "plan.json", "in.csv", "--approve", "auto",
                        "--max-attempts", "2", *author)
        if over_http:
            return Server.seen.get(case, []), done, folder
        names = sorted(glob.glob(folder + "/prompt.*"))
        return [open(name, "rb").read() for name in names], done, folder


def differing(a, b):
    for x, y in zip(a.split(b"\n"), b.split(b"\n")):
        if x != y:
            return "%r\n%r" % (x[-300:], y[-300:])
    return "%d and %d bytes" % (len(a), len(b))


def check_case(bench, name, plan, answer, over_http, attempts):
    (a, done, folder), (b, _, other) = (bench.sent(rows, plan, answer, over_http)
                                        for rows in bench.inputs)
    problem = None
    if len(a) < attempts or len(a) != len(b):
        problem = "%d and %d prompts: %s" % (len(a), len(b), done.stderr)
    for x, y in zip(a, b):
        if x != y:
            problem = differing(x, y)
    if attempts == 2 and not any(b"PREVIOUS ATTEMPT" in x for x in a):
        problem = "no prompt has a previous attempt: %s" % done.stderr
    for path in (folder, other):
        shutil.rmtree(path, ignore_errors=True)
    return name, problem


def module(top, body):
    return "```python\n%s%s    %s\n```\n" % (top, HEAD, body)


def cases():
    step = {"op": "do_the_impossible"}
    n = 0
    for name, body in FAILS.items():
        n += 1
        expect = {"columns": [{"name": "total", "type": "int"}]}
        plan = {"dtx": 1, "steps": [dict(step, expect=expect)]}
        yield name, plan, module("", body), n % 2 == 0, 2
    for name, case in MORE.items():
        n += 1
        plan = {"dtx": 1, "steps": [step] + case.get("after", [])}
        if "expect" in case:
            plan["steps"][0] = dict(step, expect=case["expect"])
        yield name, plan, module(case.get("top", ""), case["body"]), n % 2 == 0, 2
    for name, steps in TRIGGERS.items():
        n += 1
        yield name, {"dtx": 1, "fallback": "step", "steps": steps}, GOOD, n % 2 == 0, 1


def check_store(bench):
    """Words that occur only in cells are in no file of the store, and in no recording."""
    rows = bench.inputs[1]
    found = []
    for body in ("raise ValueError(word)", "raise Own(word, n, df)", "print(df); raise KeyError(word)",
                 "return pd.DataFrame({word: [[1]]})"):
        plan = {"dtx": 1, "steps": [{"op": "do_the_impossible"}]}
        _, _, folder = bench.sent(rows, plan, module("", body), False)
        with open(folder + "/snippet.py", "w") as f:
            f.write(module("", body))
        bench.run(folder, "run", "plan.json", "in.csv", "--snippet", "snippet.py")
        bench.run(folder, "run", "plan.json", "in.csv", "--cassette", "tape", "--cassette-record",
                  "--retry-author", "--author", "cat > prompt.9; cat bad.txt")
        for path in glob.glob(folder + "/store.db*") + glob.glob(folder + "/tape/*") + glob.glob(
                folder + "/prompt.*"):
            with open(path, "rb") as f:
                data = f.read()
            found += ["%s: %s has %s" % (body, os.path.basename(path), w) for w in OTHERS
                      if len(w) > 4 and w.encode() in data]
    return "\n".join(found)


def main():
    dtx = os.path.abspath(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    home = tempfile.mkdtemp(prefix="dtx-canaries-")
    bench = Bench(dtx, home)
    passed = failed = 0

    def tell(name, problem):
        nonlocal passed, failed
        passed, failed = passed + (not problem), failed + bool(problem)
        if problem:
            print("\n".join("# " + line for line in problem.splitlines()[:12]))
        print("%s - %s" % ("not ok" if problem else "ok", name), flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            todo = [c for c in cases() if part in c[0]]
            for name, problem in pool.map(lambda c: check_case(bench, *c), todo):
                tell(name, problem)
        if part in "the store":
            tell("the store", check_store(bench))
    finally:
        bench.server.shutdown()
        shutil.rmtree(home, ignore_errors=True)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
