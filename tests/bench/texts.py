"""Times the way of a million short texts into the jail and back, on the Python side of a worker.

Usage: /usr/bin/python3 texts.py [ROWS]    (processor time, best of 5)
"""
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "sandbox", "guest", "dx"))

import numpy as np  # noqa: E402

import frames  # noqa: E402


def best(call, *args):
    times = []
    for _ in range(5):
        start = time.process_time()
        got = call(*args)
        times.append(time.process_time() - start)
    return min(times) * 1000, got


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    random.seed(1)
    reader = object.__new__(frames.Reader)
    for name, make in (("short, most differ", "item %d"), ("few", "item %.1s"),
                       ("17 to 22 bytes", "an item with no %d")):
        texts = [make % random.randrange(900000) for _ in range(rows)] if "%d" in make else \
            [make % str(random.randrange(9)) for _ in range(rows)]
        values, missing = frames.objects(texts), np.zeros(rows, bool)
        back, out = best(frames.object_out, values, missing, None, None)
        views, blob = bytes(out.a), bytes(out.b)
        reader.view = memoryview(views + blob)
        there, got = best(frames.texts, reader, 0, len(views), rows)
        if list(got) != texts or missing.any():
            raise SystemExit("wrong texts")
        print(f"{rows} texts, {name}: in {there:.0f} ms, out {back:.0f} ms, both {there + back:.0f} ms")


if __name__ == "__main__":
    main()
