#!/usr/bin/python3
"""Puts sources into groups that are compiled as one file: gen-unity.py FOLDER VARIABLE SOURCE...

A group parses the headers and starts the compiler only once, which makes a whole build three times as
fast.  Sources may only be in one group if they share no name at file scope, if no macro of one
occurs as a word in another, and if none defines a macro that a header of another has.  The compiler would report the first; the second could change the meaning
of a source without an error.  Writes FOLDER/uN.c, and FOLDER/groups.mk, which sets VARIABLE to their
objects; files that would not change are not written, so that they are not compiled again."""
import functools
import os
import re
import sys

LINES = 2500  # lines in a group: enough to share headers, few enough to keep all cores busy
COMMENT = re.compile(r"/\*.*?\*/", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
DIRECTIVE = re.compile(r"^\s*#.*$", re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*$")
FUNCTION = re.compile(r"(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")
ENUM = re.compile(r"^(?:typedef )?enum\s*\w*\s*\{([^}]*)\}", re.M)


def outside(text):
    """The text at file scope; bodies are replaced by {}."""
    out, depth = [], 0
    for c in text:
        depth -= c == "}"
        if not depth:
            out.append(c)
        depth += c == "{"
    return "".join(out)


def names_of(text):
    """Names that the source declares at file scope.  Names too many only make groups smaller."""
    names = {w for body in ENUM.findall(text) for w in WORD.findall(body)}
    for part in re.split(r"[;}]", outside(text)):
        part = part.split("{")[0].split("=")[0].strip()
        for kind in TAG, FUNCTION, VARIABLE:
            found = kind.search(part)
            if found:
                names.add(found.group(1))
                if found.group(1).isupper():  # a macro that defines a function named by its argument
                    names.update(WORD.findall(found.group(0)))
    return names


class Group:
    def __init__(self):
        self.sources, self.lines = [], 0
        self.names, self.macros, self.words = set(), set(), set()
        self.given = set()  # macros of the headers

    def add(self, other):
        self.sources += other.sources
        self.lines += other.lines
        self.names |= other.names
        self.macros |= other.macros
        self.words |= other.words
        self.given |= other.given

    def fits(self, other):
        return (self.lines + other.lines <= LINES and not self.names & other.names
                and not self.macros & (other.words | other.given)
                and not other.macros & (self.words | self.given))


@functools.cache
def macros_of_header(path):
    try:
        with open(path, encoding="utf-8") as f:
            return frozenset(MACRO.findall(f.read()))
    except FileNotFoundError:  # it is generated
        return frozenset()


def read(path):
    one = Group()
    with open(path, encoding="utf-8") as f:
        raw = f.read()
    text = COMMENT.sub(" ", raw).replace("\\\n", " ")
    bare = TEXT.sub("0", text)
    one.sources, one.lines = [path], raw.count("\n")
    one.macros = set(MACRO.findall(bare))
    one.given = set().union(*map(macros_of_header, INCLUDE.findall(raw)))
    one.words = set(WORD.findall(bare))
    one.names = names_of(DIRECTIVE.sub("", bare))
    return one


def grouped(paths):
    groups = []
    for one in map(read, paths):
        fit = next((g for g in groups if g.fits(one)), None)
        if not fit:
            groups.append(fit := Group())
        fit.add(one)
    return groups


def write(path, text):
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(folder, variable, paths):
    os.makedirs(folder, exist_ok=True)
    groups = grouped(paths)
    names = [f"{folder}/u{i}" for i in range(len(groups))]
    for name, g in zip(names, groups):
        write(name + ".c", "".join(f'#include "{s}"\n' for s in g.sources))
    # the longest first, so that no core works alone at the end
    order = sorted(zip(names, groups), key=lambda x: -x[1].lines)
    with open(f"{folder}/groups.mk", "w", encoding="utf-8") as f:
        f.write(variable + " := " + " ".join(n + ".o" for n, _ in order) + "\n")


main(sys.argv[1], sys.argv[2], sys.argv[3:])
