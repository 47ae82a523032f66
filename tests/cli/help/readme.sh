. "$LIB"
# what the README says that commands print, on its workbooks (.xlsx)
ln -s "$FIX" fixtures
cat > readme.py <<'EOF'
import os, re, subprocess, sys
text = open(os.environ["FIX"] + "/../README.md", encoding="utf-8").read()
same = lines = 0
for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, want = part.partition("\n")
        got = subprocess.run(["sh", "-c", '. "$LIB"; { ' + command.partition("    #")[0] + "; } 2>&1 | plain"],
                             capture_output=True, text=True).stdout
        got = re.sub(r"SNIPPET ID|run RUNID", lambda m: m.group(0).replace("RUNID", "ID"), got)
        lines += want.count("\n")
        if got == want:
            same += 1
        else:
            print("$ " + command + "\n" + got + "--- the README has\n" + want)
print(f"{same} commands print what the README says")
rows = text.split("\n")
print("at most 120 lines:", len(rows) - 1 <= 120, "of 100 columns:", max(map(len, rows)) <= 100)
EOF
/usr/bin/python3 -B readme.py
