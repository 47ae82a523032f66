# Any bytes come through both streams as they were: what is kept, their number, nothing mixed up.
cat > noise.py <<'P'
import random, sys
a = random.Random(5).randbytes(1 << 20)
for k in range(24):
    sys.stdout.buffer.write(a[k:] + a[:k])
    sys.stderr.buffer.write((a[k:] + a[:k])[::-1])
P
"$DTX" exec --json noise.py > j
/usr/bin/python3 - <<'P'
import base64, json, random
a = random.Random(5).randbytes(1 << 20)
report = json.load(open("j"))["report"]
for name, step, keep in (("stdout", 1, 1 << 20), ("stderr", -1, 256 << 10)):
    s = report[name]
    all_of = b"".join((a[k:] + a[:k])[::step] for k in range(24))
    got, head = base64.b64decode(s["base64"]), keep * 3 // 4
    print(name, s["total"] == len(all_of), s["truncated"], len(got) == keep,
          got[:head] == all_of[:head], got[head:] == all_of[head - keep:])
P
# over the limit of a stream it is ended, with the name of the limit
"$DTX" exec -c 'import sys
while True: sys.stdout.buffer.write(bytes(1 << 20))' > out || echo "exit $?"
wc -c < out
