"""Random plans over random tables."""
import datetime as dt
import random

import steps
import steps_more
from steps import SIDE
from tables import chance, column, one_of, table, to_csv  # noqa: F401


def side():
    n = random.randint(0, 4)
    return {"k": ("key", ["red", "green", "green", None][:n]), "w": ("int", [1, 2, 2, None][:n]),
            "e": ("date", [dt.date(2024, 1, 31 - i) for i in range(n)]), "f": ("float", column("float", n, 0.2))}


SQL = [steps.step_filter, steps.step_derive, steps.step_sort, steps.step_select, steps.step_drop, steps.step_rename,
       steps.step_limit, steps.step_distinct, steps.step_join, steps.step_union, steps.step_longer, steps.step_group,
       steps.step_group, steps.step_fill_null, steps.step_set, steps.step_window, steps.step_window, steps_more.step_short,
       steps_more.step_top]


def plan_steps(cols):
    """Steps until one whose columns only the data tell, or enough of them."""
    out = []
    if chance(0.02):
        return [steps_more.step_keep_range(cols)[0]]
    sql = chance(0.15)  # steps that an SQL statement can say
    for _ in range(random.randint(1, 4)):
        step, cols = random.choice(SQL if sql else one_of(steps.STEPS, steps_more.STEPS))(cols)
        out.append(step)
        if not cols:
            return out
    if chance(0.3):
        out.append(one_of(steps.step_wider, steps.step_group)(cols)[0])
    return out


KINDS = ["int", "float", "text", "bool", "date", "amount", "list", "day", "stamp", "dec"]
TYPES = {"int": "int", "float": "float", "bool": "bool", "date": "date", "stamp": "datetime", "dec": "decimal(12,2)"}


def case():
    """Tables by name and a plan over them."""
    n = one_of(0, 1, 2, 10, 60)
    kinds = ["key"] + random.sample(KINDS, random.randint(2, 6))
    tables = {"main": table(n, kinds), "side": side()}
    types = [[{"name": c, "type": TYPES.get(kind, "text")}
              for c, (kind, _) in t.items()] for t in tables.values()]
    plan = {"dtx": 1, "inputs": [{"name": name, "types": t} for name, t in zip(tables, types)],
            "steps": plan_steps({c: kind for c, (kind, _) in tables["main"].items()})}
    return tables, plan
