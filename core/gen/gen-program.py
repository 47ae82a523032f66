"""Prints a C table of the definitions that a program of `dtx compile --to pandas` may need: those of the
module dx (sandbox/guest/dx/dx*.py) and of its reading and writing (cli/plan/program.py), as one flat module.

Usage: gen-program.py FILE...   A module is given after those that it imports.

Each definition has its text and the numbers of those that it uses. Names that two modules define, or
that hide a name of Python, get the name of their module before them. An entry of the tables of
formula functions is a definition too, so that a program holds only the functions it calls."""
import ast
import builtins
import collections
import os
import symtable
import sys

TABLES = ("FUNCTIONS", "NULL_FUNCTIONS")  # entries are looked up by name, see dx.fn


class Module:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-3]
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.lines = self.text.encode().split(b"\n")
        self.tree = ast.parse(self.text)
        self.names = {}  # name -> (module, name) of a definition, "import ..." or a Module


class Definition:
    def __init__(self, key, text, uses):
        self.key, self.text, self.uses = key, text, uses


def own_names(node):
    """The names that a statement at the top level defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [x.id for t in node.targets for x in ast.walk(t) if isinstance(x, ast.Name)]
    return []


def exported(module):
    for node in module.tree.body:
        if own_names(node) == ["__all__"]:
            return ast.literal_eval(node.value)
    return [n for n in module.names if n[0] != "_"]


def fill_names(module, modules):
    for node in module.tree.body:
        if isinstance(node, ast.Import):
            for a in node.names:
                line = "import " + a.name + (" as " + a.asname if a.asname else "")
                module.names[a.asname or a.name] = modules.get(a.name, line)
        elif isinstance(node, ast.ImportFrom):
            source = modules[node.module]
            for a in node.names:
                for name in exported(source) if a.name == "*" else [a.name]:
                    module.names[name if a.name == "*" else a.asname or name] = source.names[name]
        for name in own_names(node):
            module.names[name] = (module.name, name)


SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_in(node):
    """The names that are local to a function or comprehension."""
    out, todo = set(), []
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        a = node.args
        out |= {x.arg for x in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg] if x}
        todo = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    else:
        todo = [g.target for g in node.generators]
    while todo:
        x = todo.pop()
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store):
            out.add(x.id)
        elif isinstance(x, ast.ExceptHandler) and x.name:
            out.add(x.name)
        elif isinstance(x, (ast.Import, ast.ImportFrom)):
            out |= {a.asname or a.name for a in x.names}
        if isinstance(x, ast.FunctionDef):
            out.add(x.name)
        elif not isinstance(x, SCOPES):
            todo += ast.iter_child_nodes(x)
    return out


def references(node, module, local=frozenset()):
    """(node, what it means) of all uses of names of the module's top level."""
    if isinstance(node, SCOPES):
        inner = local | bound_in(node)
        outside = []  # evaluated in the scope around it
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            outside = node.args.defaults + [d for d in node.args.kw_defaults if d]
        for child in ast.iter_child_nodes(node):
            if child not in outside and not isinstance(child, ast.arguments):
                yield from references(child, module, inner)
        for child in outside:
            yield from references(child, module, local)
        return
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in local:
        source = module.names.get(node.value.id)
        if isinstance(source, Module):
            yield node, source.names[node.attr]
            return
    if isinstance(node, ast.Name) and node.id not in local and node.id in module.names:
        yield node, module.names[node.id]
    for child in ast.iter_child_nodes(node):
        yield from references(child, module, local)


class Flat:
    def __init__(self, modules):
        self.modules = {m.name: m for m in modules}
        for m in modules:
            fill_names(m, self.modules)
        self.dicts = {(m.name, own_names(n)[0]): n.value for m in modules for n in m.tree.body
                      if isinstance(n, ast.Assign) and isinstance(n.value, ast.Dict)}
        count = collections.Counter(n for m in modules for s in m.tree.body for n in set(own_names(s)))
        self.unique = {}
        for m in modules:
            for n in (n for s in m.tree.body for n in own_names(s)):
                twice = count[n] > 1 or hasattr(builtins, n)
                self.unique[m.name, n] = "%s_%s" % (m.name[2:] if m.name[2:] and m.name[:2] == "dx" else m.name, n) if twice else n
        assert len(set(self.unique.values())) == len(self.unique), "two definitions would have one name"
        self.out, self.imports = [], []
        for m in modules:
            for node in m.tree.body:
                self.statement(m, node)

    def word(self, meaning):
        return self.unique[meaning]

    def piece(self, module, node, first=None):
        """The text of a node with the flat names, and what it uses. `first`: the line that it begins with."""
        found = list(references(node, module))
        uses, edits = [], []
        for x, meaning in found:
            if isinstance(meaning, str):
                if meaning not in self.imports:
                    self.imports.append(meaning)
            elif isinstance(meaning, tuple):
                edits.append((x.lineno, x.col_offset, x.end_lineno, x.end_col_offset, self.word(meaning)))
                meaning = self.word(meaning)
            uses.append(meaning)
        for x in ast.walk(node):
            if isinstance(x, ast.Subscript) and isinstance(x.value, ast.Name) and x.value.id in TABLES \
                    and isinstance(x.slice, ast.Constant):
                uses.append("%s[%s]" % (x.value.id, x.slice.value))
            if isinstance(x, ast.Starred) and isinstance(x.value, ast.Attribute):  # the keys of a table
                meaning = next(m for y, m in found if y is x.value)
                if meaning in self.dicts:
                    keys = ", ".join('"%s"' % k.value for k in self.dicts[meaning].keys)
                    edits = [e for e in edits if e[:2] != (x.value.lineno, x.value.col_offset)]
                    edits.append((x.lineno, x.col_offset, x.end_lineno, x.end_col_offset, keys))
                    uses.remove(self.word(meaning))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            at = len(b"class " if isinstance(node, ast.ClassDef) else b"def ")
            name = self.unique[module.name, node.name]
            edits.append((node.lineno, node.col_offset + at, node.lineno, node.col_offset + at + len(node.name), name))
        lines = module.lines[:node.end_lineno]
        lines[-1] = lines[-1][:node.end_col_offset]
        for line, col, end, end_col, text in sorted(edits, reverse=True):
            assert line == end
            tail = lines[line - 1][end_col:]
            lines[line - 1] = lines[line - 1][:col] + text.encode() + tail
        lines = lines[(first or node.lineno) - 1:]
        if not first:
            lines[0] = lines[0][node.col_offset:]
        return b"\n".join(lines).decode(), uses

    def entries(self, module, table, node):
        """The entries of a table of functions, one definition each."""
        for key, value in zip(node.keys, node.values):
            if key is not None:
                text, uses = self.piece(module, value)
                yield key.value, text, uses
                continue
            source, call, more = value, "%s", []
            if isinstance(value, ast.DictComp):  # {name: number(call) for name, call in dxwords.FLOATS.items()}
                more = [self.word(module.names[value.value.func.id])]
                source, call = value.generators[0].iter.func.value, more[0] + "(%s)"
            home = self.modules[source.value.id]
            for name, text, uses in self.entries(home, table, self.dicts[home.names[source.attr]]):
                yield name, call % text, uses + more

    def statement(self, module, node):
        names = own_names(node)
        if names and names[0] in TABLES:
            self.out.append(Definition(names[0], names[0] + " = {}", []))
            for name, text, uses in self.entries(module, names[0], node.value):
                self.entry(names[0], name, text, uses)
        elif names and names != ["__all__"]:
            first = node.lineno
            while module.lines[first - 2].startswith(b"#") and not module.lines[first - 2].startswith(b"# ---"):
                first -= 1
            text, uses = self.piece(module, node, first)
            for name in names:
                self.out.append(Definition(self.unique[module.name, name], text if name == names[0] else "",
                                           uses if name == names[0] else [self.unique[module.name, names[0]]]))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # FUNCTIONS.update(name=function)
            table = node.value.func.value.id
            for k in node.value.keywords:
                self.entry(table, k.arg, *self.piece(module, k.value))

    def entry(self, table, name, text, uses):
        lines = text.split("\n")
        text = "\n".join([lines[0]] + [line.strip() for line in lines[1:]]) if len(lines) > 1 else text
        text = "%s[\"%s\"] = %s" % (table, name, "(" + text.replace("\n", "\n    ") + ")" if "\n" in text else text)
        self.out.append(Definition("%s[%s]" % (table, name), text, uses + [table]))


def globals_of(table):
    """The names that a text takes from its module."""
    out = {x.get_name() for x in table.get_symbols() if x.is_referenced() and not (
        x.is_assigned() or x.is_parameter() or x.is_free() or x.is_imported() or x.is_namespace())}
    return out.union(*(globals_of(t) for t in table.get_children()))


def check(definition, own):
    """A name that was not resolved would be missing in a program."""
    have = {u.split(" as ")[-1].replace("import ", "") for u in definition.uses} | {definition.key} | own
    for name in globals_of(symtable.symtable(definition.text, definition.key, "exec")) - have:
        if not hasattr(builtins, name):
            sys.exit("gen-program.py: %s uses %s, which no module defines" % (definition.key, name))


def c_text(text):
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "\n".join('\t"%s\\n"' % line for line in out.split("\n"))


def main(paths):
    modules = [Module(p) for p in paths]
    flat = Flat(modules)
    dx = flat.modules["dx"].names
    attributes = {flat.word(m): n for n, m in dx.items() if isinstance(m, tuple)}
    more = [(n, m) for n, m in dx.items() if isinstance(m, tuple) and attributes[flat.word(m)] != n]
    assert not more, "dx has two names for one function: %s" % more
    all_of = [Definition(line, line, []) for line in sorted(flat.imports)] + flat.out
    for d in flat.out:
        check(d, {"INPUTS", "DELIMITER", "transform"})
    number = {d.key: i for i, d in enumerate(all_of)}
    print('/* Generated from sandbox/guest/dx/dx*.py and cli/plan/program.py. */\n#include "cli/plan/program.h"')
    print("const struct dtx_program_part dtx_program_parts[] = {")
    for d in all_of:
        uses = sorted({number[u] for u in d.uses} - {number[d.key]})
        print("\t{ \"%s\", %s, (const int16_t[]){ %s }, \n%s }," % (
            d.key, '"%s"' % attributes[d.key] if d.key in attributes else "NULL",
            ", ".join(map(str, [*uses, -1])), c_text(d.text) if d.text else '\t""'))
    print("\t{ NULL, NULL, NULL, NULL }\n};")


main(sys.argv[1:])
