"""Tells what a snippet may have at its top level besides functions: constants, and settings that
its result needs.

Not only literals are constants: re.compile(...), Decimal("0.01"), 24 * 60 and a set are, too.
Code that computes anything else belongs into a function."""
import ast

# calls that make a constant of constants
MAKERS = frozenset("""bool bytes complex dict float frozenset int list range set str tuple zip
enumerate sorted Decimal Fraction Counter OrderedDict defaultdict namedtuple NamedTuple Enum
compile maketrans fromkeys getLogger NewType TypeVar partial itemgetter attrgetter
date time datetime timedelta timezone tzinfo ZoneInfo gettz
Timestamp Timedelta DateOffset MonthEnd MonthBegin QuarterEnd YearEnd BDay BusinessDay Day Hour
Minute Second Period Interval IntervalIndex from_tuples from_breaks CategoricalDtype
DatetimeTZDtype Index Series DataFrame to_datetime to_timedelta to_numeric date_range
period_range array arange linspace float64 float32 int64 int32 datetime64 timedelta64 dtype""".split())
SETTERS = frozenset("""set_option reset_option filterwarnings simplefilter seterr set_printoptions
basicConfig disable""".split())
VERBATIM = frozenset(("FORMULAS", "ASSUMES"))  # read from the text, not run
PARTS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp, ast.Name,
         ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.keyword, ast.JoinedStr,
         ast.FormattedValue, ast.Compare, ast.BoolOp, ast.IfExp, ast.DictComp, ast.ListComp,
         ast.SetComp, ast.GeneratorExp, ast.comprehension, ast.expr_context, ast.operator,
         ast.unaryop, ast.cmpop, ast.boolop)
# methods that make a constant of one constant
VIEWS = frozenset("""items keys values lower upper title strip split join replace format escape union
difference copy sqrt log exp radians""".split())


def name_of(func):
    return getattr(func, "attr", getattr(func, "id", None))


def is_literal(node):
    try:
        ast.literal_eval(node)
        return True
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def is_constant(node):
    """Whether this is a constant. A lambda is: its body is checked like that of a function."""
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.Call):
        if name_of(node.func) not in MAKERS | VIEWS:
            return False
    elif not isinstance(node, PARTS):
        return False
    return all(map(is_constant, ast.iter_child_nodes(node)))


def is_main_guard(node):
    """Whether this is `if __name__ == "__main__":`, which has no effect in a module."""
    test = getattr(node, "test", None)
    return (isinstance(node, ast.If) and isinstance(test, ast.Compare) and not node.orelse
            and isinstance(test.left, ast.Name) and test.left.id == "__name__")


def is_setting(node):
    call = node.value
    return (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            and call.func.attr in SETTERS and all(map(is_constant, call.args)))


def value_fault(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    verbatim = sorted(VERBATIM & {getattr(t, "id", None) for t in targets})
    if verbatim and not (node.value and is_literal(node.value)):
        return "%s must be a literal: nothing runs when it is read" % verbatim[0]
    if node.value is not None and not is_constant(node.value):
        return "a value at the top level must be a constant; compute inside a function"
    return None


def fault(node):
    """What is wrong with a statement at the top level, or None."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
        return None
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return value_fault(node)
    if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or is_setting(node)):
        return None
    if is_main_guard(node):
        return None
    return "the top level holds imports, constants, settings, functions and classes only"
