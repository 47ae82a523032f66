"""Finds errors in the text of a snippet early and explains them, and lists what the text tells
about it. Nothing of the snippet runs.

This is not a security boundary; the jail is. A snippet that passes may be as hostile as before."""
import ast
import re

import toplevel

NAMED = frozenset("""pandas numpy dx math re datetime decimal fractions statistics itertools
functools collections operator string json unicodedata""".split())  # listed in the prompt
# other modules that only compute
IMPORTS = NAMED | frozenset("""__future__ abc array ast base64 binascii bisect calendar cmath codecs
colorsys contextlib copy csv dataclasses dateutil difflib enum fnmatch graphlib gzip hashlib heapq
hmac html inspect io ipaddress keyword locale logging lxml numbers pprint pytz random reprlib scipy
secrets shlex struct sys textwrap time traceback types typing urllib.parse uuid warnings weakref xml
zlib zoneinfo""".split())
MODULE_FLAGS = {"time": "clock", "random": "random", "numpy.random": "random", "uuid": "random",
                "secrets": "random"}
BANNED_NAMES = frozenset("open exec eval compile __import__ input breakpoint".split())
# attributes that tell what a thing is, or do what an operator does
PLAIN_DUNDERS = frozenset("""__abs__ __add__ __and__ __annotations__ __bool__ __call__ __contains__
__dataclass_fields__ __dict__ __doc__ __enter__ __eq__ __exit__ __float__ __floordiv__ __ge__
__getitem__ __gt__ __hash__ __index__ __init__ __int__ __invert__ __iter__ __le__ __len__ __lt__
__members__ __mod__ __mul__ __name__ __ne__ __neg__ __next__ __or__ __post_init__ __pow__
__qualname__ __repr__ __round__ __setitem__ __str__ __sub__ __truediv__ __version__
__xor__""".split())
# methods that read or write files with any arguments
BANNED_METHODS = frozenset("""read_parquet read_feather read_orc read_hdf read_pickle read_sql
read_sql_query read_sql_table read_sas read_spss read_stata read_gbq read_clipboard ExcelFile ExcelWriter HDFStore to_excel
to_parquet to_feather to_orc to_hdf to_pickle to_sql to_stata to_gbq to_clipboard savez
savez_compressed savetxt fromfile tofile memmap open_memmap fromregex DataSource
ctypeslib f2py""".split())
# other objects have a harmless method of that name, such as json.load
OF_NUMPY = frozenset("load save".split())
# methods that may read a text in memory
TEXT_METHODS = frozenset("""read_csv read_table read_fwf read_excel read_json read_html
read_xml loadtxt genfromtxt""".split())
TEXT_WORDS = frozenset("filepath_or_buffer path_or_buffer path_or_buf io fname".split())
BUFFERS = frozenset("StringIO BytesIO".split())
# these also accept the text itself
LITERAL_METHODS = {"read_json": "[{", "read_html": "<", "read_xml": "<"}
DUMPS = frozenset("dumps to_json to_html to_xml".split())
# methods that write a file only if they get a path
PLACE_METHODS = frozenset("to_csv to_json to_html to_xml to_latex to_string to_markdown".split())
PLACE_WORDS = frozenset("path_or_buf buf path path_or_buffer".split())
CLOCK = frozenset("now today utcnow".split())
RANDOM = frozenset("""random default_rng rand randn randint shuffle choice permutation sample
normal uniform RandomState""".split())
WHOLE = frozenset("columns values T select_dtypes to_numpy items iteritems keys".split())
UNLESS_NAMED = {"melt": ("value_vars", 1), "dropna": ("subset", None),
                "drop_duplicates": ("subset", 0)}
POSITIONAL = frozenset("iat iloc itertuples insert".split())
NAMES_MAX = 2000
# What lets code run that a person takes for a comment: Python ends a line at a carriage return too and
# counts the indentation from a form feed, and a terminal reorders the text between bidirectional controls.
UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Refused(Exception):
    def __init__(self, kind, node, message):
        Exception.__init__(self, message)
        self.kind, self.line = kind, getattr(node, "lineno", 0)


def modules(node):
    return [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]


def check_import(node):
    if isinstance(node, ast.ImportFrom) and node.level:
        raise Refused("import_denied", node, "relative imports are not possible")
    for name in modules(node):
        if name not in IMPORTS and name.split(".")[0] not in IMPORTS:
            raise Refused("import_denied", node, "import of '%s'; a snippet may import %s"
                          % (name, ", ".join(sorted(NAMED))))


def check_top(tree):
    for node in tree.body:
        fault = toplevel.fault(node)
        if fault:
            raise Refused("screen_denied", node, fault)


def check_transform(tree):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "transform":
            a = node.args
            if len(a.posonlyargs) + len(a.args) != 2 or a.vararg or a.kwonlyargs or a.kwarg:
                raise Refused("screen_denied", node, "transform takes two arguments: "
                              "def transform(tables, params)")
            return
    raise Refused("screen_denied", tree, "there is no def transform(tables, params)")


def is_buffer(node):
    """Whether this may be a buffer; the value of a variable or attribute is not known."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        return name in BUFFERS
    return isinstance(node, (ast.Name, ast.Attribute))


def is_text(node, starts):
    """Whether this is the text itself and not the name of a file."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", None) in DUMPS
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and value.lstrip()[:1] in tuple(starts)


def check_text(node):
    starts = LITERAL_METHODS.get(node.func.attr, "")
    texts = node.args[:1] + [k.value for k in node.keywords if k.arg in TEXT_WORDS]
    if not texts or not all(is_buffer(t) or starts and is_text(t, starts) for t in texts):
        raise Refused("screen_denied", node, "'%s' reads or writes files; a snippet has none"
                      % node.func.attr)


def check_call(node):
    if not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr in TEXT_METHODS:
        check_text(node)
    if node.func.attr not in PLACE_METHODS:
        return
    places = node.args[:1] + [k.value for k in node.keywords if k.arg in PLACE_WORDS]
    if not all(is_buffer(p) or isinstance(p, ast.Constant) and p.value is None for p in places):
        raise Refused("screen_denied", node, "'%s' to a file; return the DataFrame"
                      % node.func.attr)


def check_attribute(node):
    name = node.attr
    if name.startswith("__") and name.endswith("__") and name not in PLAIN_DUNDERS:
        raise Refused("screen_denied", node, "attribute '%s'" % name)
    of_numpy = isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
    if name in BANNED_METHODS or name in OF_NUMPY and of_numpy:
        raise Refused("screen_denied", node, "'%s' reads or writes files; a snippet has none" % name)


def used_class(node):
    """The object in x.__class__.__name__ or x.__class__(...), which is another form of type(x)."""
    if isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__"):
        return node.value
    return node.func if isinstance(node, ast.Call) else None


def check_node(node, own):
    """Checks one node. `own` are the names that the snippet defines."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        check_import(node)
    elif isinstance(node, ast.Name) and node.id in BANNED_NAMES and node.id not in own:
        raise Refused("screen_denied", node, "'%s' is not available in a snippet" % node.id)
    elif isinstance(node, ast.Attribute):
        check_attribute(node)
    elif isinstance(node, ast.Call):
        check_call(node)


def own_names(tree):
    """The names that the snippet defines: a column of prices may be called open, a table input."""
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            out.add(node.id)
        elif isinstance(node, ast.arg):
            out.add(node.arg)
    return out


def check_nodes(tree):
    own = own_names(tree)
    nodes = list(ast.walk(tree))
    classes = {id(node) for node in map(used_class, nodes)
               if isinstance(node, ast.Attribute) and node.attr == "__class__"}
    for node in nodes:
        if id(node) not in classes:
            check_node(node, own)


def words(tree):
    """Strings and attributes in the code: all column names that it uses are among them."""
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            out.add(node.value)
        elif isinstance(node, ast.Attribute):
            out.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            out.add(node.arg)  # as in df.assign(name=...) and agg(name=...)
    return out


def unnamed_call(node):
    """Whether this calls a method such as melt() without column names, so that it uses every
    column."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    word, place = UNLESS_NAMED.get(node.func.attr, (None, None))
    if word is None:
        return False
    named = any(k.arg == word for k in node.keywords)
    return not named and (place is None or len(node.args) <= place)


def flags(tree):
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if node.attr in CLOCK:
                out.add("clock")
            if node.attr in RANDOM:
                out.add("random")
            if node.attr in WHOLE:
                out.add("whole_frame")
            if node.attr in POSITIONAL:
                out.add("positional")
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            out.update(MODULE_FLAGS[m] for m in modules(node) if m in MODULE_FLAGS)
        elif isinstance(node, ast.keyword) and node.arg == "axis":
            out.add("whole_frame")
        if unnamed_call(node):
            out.add("whole_frame")
    return sorted(out)


def literal(tree, name, wanted):
    """The value of `name = {...}` at the top level, or None if there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in node.targets):
            value = ast.literal_eval(node.value)
            if not isinstance(value, wanted):
                raise Refused("screen_denied", node, "%s must be a %s" % (name, wanted.__name__))
            return node, value
    return None, None


def formulas(tree):
    node, value = literal(tree, "FORMULAS", dict)
    if value is None:
        return None
    for k, v in value.items():
        if not isinstance(k, str) or not isinstance(v, str):
            raise Refused("screen_denied", node, "FORMULAS maps column names to formula texts")
    return value


def assumes(tree):
    node, value = literal(tree, "ASSUMES", list)
    if value is None:
        return None
    if not all(isinstance(v, str) for v in value):
        raise Refused("screen_denied", node, "ASSUMES is a list of formula texts")
    return value


def needs(tree, columns):
    """The columns that the code names; if the tables are unknown, everything that could be a
    column."""
    found = words(tree)
    if columns:
        known = {c for names in columns.values() for c in names}
        return sorted(found & known)
    return sorted(found)[:NAMES_MAX]


def unseen(source):
    for number, line in enumerate(source.split("\n"), 1):
        found = UNSEEN.search(line)
        if found:
            return {"class": "syntax", "line": number, "message":
                    "invalid control character U+%04X; in a string it is written as an escape" % ord(found[0])}
    return None


def check(source, columns):
    """Checks a snippet. Returns {"class": None or the class of the first finding, "line",
    "message"} and what the text tells: "needs", "flags", "formulas", "assumes"."""
    found = unseen(source)
    if found:
        return found
    try:
        tree = ast.parse(source, "<snippet>")
        check_top(tree)
        check_nodes(tree)
        check_transform(tree)
        return {"class": None, "needs": needs(tree, columns), "flags": flags(tree),
                "formulas": formulas(tree), "assumes": assumes(tree)}
    except Refused as error:
        return {"class": error.kind, "line": error.line, "message": str(error)}
    except SyntaxError as error:
        return {"class": "syntax", "line": error.lineno or 0, "message": error.msg}
    except (ValueError, RecursionError) as error:
        return {"class": "syntax", "line": 0, "message": str(error)[:200]}
