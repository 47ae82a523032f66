"""Runs the commands of a page and compares what they print with what the page shows.

A command is a line that begins with "$ "; lines that begin with "> " continue it; the lines after
it, up to the next command or the end of the block, are what it prints, on stdout and stderr. Blocks
are ```console in Markdown, and .nf to .fi that begin with a command in a page of the manual. Ids,
times and sizes count as equal (`plain` in lib.sh). A page of the manual breaks long lines, which
go on after eight blanks, and runs of blanks count as one there; it calls the current folder /home/ann/tutorial."""
import os
import re
import subprocess
import sys


def blocks(path):
    text = open(path, encoding="utf-8").read()
    if path.endswith(".md"):
        return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    raw = re.findall(r"^\.nf\n(.*?)^\.fi", text, re.M | re.S)
    raw = [re.sub(r"\\(.)", lambda m: {"&": "", "e": "\\"}.get(m.group(1), m.group(1)), b) for b in raw]
    return [b for b in raw if b.startswith("$ ")]


def shell(command):
    return subprocess.run(["sh", "-c", '. "$LIB"; ' + command], capture_output=True, text=True).stdout


def plain(text):
    got = subprocess.run(["sh", "-c", '. "$LIB"; plain'], input=text, capture_output=True, text=True).stdout
    got = re.sub(r"[0-9a-f]{8} as [0-9a-f]{8}", "ID as ID", got)  # of a replay
    return re.sub(r"SNIPPET ID|run RUNID", lambda m: m.group(0).replace("RUNID", "ID"), got)


def check(path):
    def equal(text):
        if path.endswith(".md"):
            return plain(text)
        return plain(re.sub(r"\n {8}(?=\S)", " ", text).replace(os.getcwd(), "/home/ann/tutorial")).split()

    same = 0
    for block in blocks(path):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.split("\n")
            n = 1
            while n < len(lines) and lines[n].startswith("> "):
                n += 1
            command = "\n".join([lines[0]] + [line[2:] for line in lines[1:n]])
            want = "\n".join(lines[n:]).rstrip("\n")
            got = shell("{ " + command.partition("    #")[0] + "\n} 2>&1").rstrip("\n")
            if equal(got) == equal(want):
                same += 1
            else:
                print("$ " + command + "\n" + got + "\n--- the page has\n" + want)
    return same


if __name__ == "__main__":
    print(check(sys.argv[1]), "commands print what the page says")
