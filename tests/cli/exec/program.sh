# A program has tables, files and arguments; what it prints comes out as it is; what it leaves in
# /out comes back, and the record knows of it.
printf 'k,n\na,1\nb,2\na,3\n' > in.csv
printf 'a note\n' > note.txt
cat > p.py <<'P'
import glob, os, sys
print(sys.argv[1:], os.getcwd(), os.listdir("/in"), list(tables))
print(open("note.txt").read(), end="", file=sys.stderr)
print(glob.glob("*.txt"), os.listdir("/out"))
df = tables["t"].groupby("k", as_index=False)["n"].sum()
df.to_csv("sums.csv", index=False)
os.makedirs("/out/deep/er")
with open("/out/deep/er/x.bin", "wb") as f:
    f.write(bytes(range(256)))
left = open("/out/open.txt", "w")
left.write("never closed")
left.flush()
for path, mode in (("/etc/passwd", "r"), ("../../etc/shadow", "r"), ("/in/note.txt", "a"),
                   ("/home/x", "w"), ("/out/no/such/folder", "w")):
    try:
        open(path, mode)
    except OSError as e:
        print(mode, e)
sys.stdout.buffer.write(b"\xff\x00\n")
P
"$DTX" exec p.py --table t=in.csv --file note.txt=note.txt -o res one two > out
od -c out | tail -3
tr -d '\000\377' < out
find res -type f | sort
cat res/sums.csv
od -An -tu1 res/deep/er/x.bin | tail -1
cat res/open.txt; echo
"$DTX" provenance | sed -n 's/^\(how .*\|from .*\|     *note.*\)  sha.*/\1/p; s/^how/how/p' | head -3
"$DTX" verify | cut -c1-40
# its own files beside given ones of a folder
"$DTX" exec -c 'import glob, os
os.makedirs("data", exist_ok=True)
open("data/out.txt", "w").write(open("data/in.txt").read().upper())
os.mkdir("data/more")
print(sorted(glob.glob("data/*")), os.listdir("/out/data"))' --file data/in.txt=note.txt -o res && cat res/data/out.txt
