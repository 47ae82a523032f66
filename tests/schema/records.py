"""Records against their published schema; OpenLineage events and PROV documents against what their
specifications ask for.  Runs of every kind: typed, failed, cancelled, killed, with pivots, with
several outputs, from a workbook, by a snippet, replayed.
Where DTX_OPENLINEAGE_SPEC names a folder with OpenLineage.json and facets/ as
OpenLineage publishes them, the events are held against those files too.
Usage: /usr/bin/python3 tests/schema/records.py DTX"""
import copy
import json
import os
import signal
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator, FormatChecker, RefResolver

DTX = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
HERE = os.getcwd()
results = []

TEXT = {"type": "string"}
INT = {"type": "integer"}
SPEC = "https://openlineage.io/spec/"


def obj(required=(), **members):
    return {"type": "object", "properties": members, "required": list(required)}


def facet(file, since, required=(), **members):
    url = {"const": "%sfacets/%s/%s.json#/$defs/%s" % (SPEC, since, file, file)}
    return obj(("_producer", "_schemaURL", *required), _producer={"type": "string", "format": "uri"}, _schemaURL=url,
               **members)


def several(item):
    return {"type": "array", "items": item}


# Members and requirements of the OpenLineage core 2-0-2 and of the facets that are written.
OWN = obj(("_producer", "_schemaURL"), _producer=TEXT, _schemaURL={"type": "string", "pattern": "^urn:dtx:facet:"})
FIELD = obj(("namespace", "name", "field"), namespace=TEXT, name=TEXT, field=TEXT, transformations=several(
    obj(("type",), type={"enum": ["DIRECT", "INDIRECT"]}, subtype=TEXT, description=TEXT, masking={"type": "boolean"})))


def only(**facets):
    return {"type": "object", "properties": facets, "additionalProperties": False}


DATASET = only(
    schema=facet("SchemaDatasetFacet", "1-2-0", fields=several(obj(("name",), name=TEXT, type=TEXT))),
    version=facet("DatasetVersionDatasetFacet", "1-0-1", ("datasetVersion",), datasetVersion=TEXT),
    columnLineage=facet("ColumnLineageDatasetFacet", "1-2-0", ("fields",), fields={
        "type": "object", "additionalProperties": obj(("inputFields",), inputFields=several(FIELD))},
        dataset=several(FIELD)))


def dataset(kind, statistics):
    return obj(("namespace", "name"), namespace=TEXT, name=TEXT, facets=DATASET, **{kind: only(**statistics)})


EVENT = obj(
    ("eventType", "eventTime", "run", "job", "inputs", "outputs", "producer", "schemaURL"),
    eventType={"enum": ["START", "COMPLETE", "ABORT", "FAIL"]}, eventTime={"type": "string", "format": "date-time"},
    producer={"type": "string", "format": "uri"}, schemaURL={"const": SPEC + "2-0-2/OpenLineage.json#/$defs/RunEvent"},
    run=obj(("runId", "facets"), runId={"type": "string", "format": "uuid"}, facets=only(
        processing_engine=facet("ProcessingEngineRunFacet", "1-1-1", ("version",), version=TEXT, name=TEXT,
                                openlineageAdapterVersion=TEXT),
        executionParameters=facet("ExecutionParametersRunFacet", "1-0-0", parameters=several(
            obj(("key",), key=TEXT, name=TEXT, description=TEXT, value=TEXT))),
        parent=facet("ParentRunFacet", "1-2-0", ("run", "job"), run=obj(("runId",), runId={"type": "string", "format": "uuid"}),
                     job=obj(("namespace", "name"), namespace=TEXT, name=TEXT)),
        errorMessage=facet("ErrorMessageRunFacet", "1-0-1", ("message", "programmingLanguage"), message=TEXT,
                           programmingLanguage=TEXT),
        test=facet("TestRunFacet", "1-0-1", ("tests",), tests=several(
            obj(("name", "status"), name=TEXT, status={"enum": ["pass", "fail", "skip"]}, severity=TEXT, expected=TEXT,
                actual=TEXT))),
        dtx_provenance=OWN)),
    job=obj(("namespace", "name"), namespace=TEXT, name=TEXT, facets=only(
        jobType=facet("JobTypeJobFacet", "2-0-4", ("processingType", "integration"), processingType={"const": "BATCH"},
                      integration=TEXT, jobType=TEXT),
        sourceCode=facet("SourceCodeJobFacet", "1-0-1", ("language", "sourceCode"), language=TEXT, sourceCode=TEXT))),
    inputs=several(dataset("inputFacets", {"inputStatistics": facet(
        "InputStatisticsInputDatasetFacet", "1-0-0", rowCount=INT, size=INT)})),
    outputs=several(dataset("outputFacets", {"outputStatistics": facet(
        "OutputStatisticsOutputDatasetFacet", "1-0-2", rowCount=INT, size=INT)})))

RELATIONS = {"used": ("prov:activity", "prov:entity"), "wasGeneratedBy": ("prov:entity", "prov:activity"),
             "wasDerivedFrom": ("prov:generatedEntity", "prov:usedEntity"),
             "wasAssociatedWith": ("prov:activity", "prov:agent"),
             "actedOnBehalfOf": ("prov:delegate", "prov:responsible")}


def ok(name, good, why=""):
    results.append(bool(good))
    print(("ok - " if good else "not ok - ") + name + ("" if good else "\n# " + str(why)[:600]))


def dtx(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def stopped(how, rows=b"", interrupt=signal.SIG_DFL):
    """A run that waits for its input gets a signal, and then the input: it has begun once its start is recorded."""
    os.path.exists("wait") or os.mkfifo("wait")
    hold = os.open("wait", os.O_RDWR)
    before = len(json.loads(dtx("provenance", "log", "--json").stdout))
    was = signal.signal(signal.SIGINT, interrupt)
    run = subprocess.Popen([DTX, "run", "some.json", "wait", "-o", "never.csv"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, was)
    for _ in range(2000):
        if len(json.loads(dtx("provenance", "log", "--json").stdout)) > before:
            break
    run.send_signal(how)
    if not rows:
        run.wait()
    os.write(hold, rows)
    os.close(hold)
    return run.wait()


def odd():
    """What ends otherwise than well, and what has more than one result."""
    with open("some.json", "w") as f:
        json.dump({"dtx": 1, "steps": [{"op": "filter", "where": "v > 0"}]}, f)
    with open("unknown.json", "w") as f:
        json.dump({"dtx": 1, "steps": [{"op": "no_such_op"}]}, f)
    with open("pivots.json", "w") as f:
        json.dump({"dtx": 1, "steps": [
            {"op": "derive", "set": {"t": "'all'"}},
            {"op": "group_by", "by": ["t", "k"], "agg": {"s": "sum(v)"}, "out": "g"},
            {"op": "pivot_wider", "in": "g", "id": ["t"], "names_from": ["k"], "values_from": ["s"], "out": "wide"},
            {"op": "pivot_longer", "in": "wide", "cols": ["a", "b"], "names_to": ["k"], "values_to": "s", "out": "long"}],
            "output": [{"path": "wide.csv", "table": "wide"}, {"path": "long.csv", "table": "long"},
                       {"path": "g.xlsx", "table": "g"}]}, f)
    open("empty.csv", "w").close()
    ends = [dtx(*args, "-o", "none.csv").returncode for args in (
        ("run", "some.json", "not_there.csv"), ("run", "some.json", "empty.csv"), ("run", "unknown.json", "in.csv"))]
    ok("runs end with 4, 4 and 5 as they are to", ends == [4, 4, 5], ends)
    made = dtx("run", "pivots.json", "in.csv")
    ok("pivots give three results", made.returncode == 0, made.stderr)
    stopped(signal.SIGINT)
    stopped(signal.SIGKILL)
    ended = stopped(signal.SIGINT, b"k,v\na,1\n", signal.SIG_IGN)
    ok("a run that was started with SIGINT ignored goes on", ended == 0, ended)


def runs(jail):
    """Names of runs and what each stands for."""
    with open("in.csv", "w") as f:
        f.write("k,v\na,1\nb,2\na,\n")
    with open("rates.csv", "w") as f:
        f.write("k,r\na,10\nb,20\n")
    with open("plan.json", "w") as f:
        json.dump({"dtx": 1, "name": "a \"name\"", "inputs": [{"name": "main"}, {"name": "rates"}], "steps": [
            {"op": "filter", "where": "v > 0"}, {"op": "join", "with": "rates", "on": ["k"]},
            {"op": "derive", "set": {"c": "v * r"}}, {"op": "window", "set": {"t": "cum_sum(c)"}},
            {"op": "group_by", "by": ["k"], "agg": {"c": "sum(t)"}}, {"op": "sort", "by": ["c"]}],
            "expect": {"rows": {"min": 1}}}, f)
    with open("bad.json", "w") as f:
        json.dump({"dtx": 1, "steps": [{"op": "filter", "where": "v > 0", "expect": {"rows": {"min": 9}}}]}, f)
    dtx("run", "plan.json", "in.csv", "rates=rates.csv", "-o", "typed.csv")
    dtx("run", "plan.json", "in.csv", "rates=rates.csv", "-o", "weak.xlsx", "--input-hash", "xxh3")
    dtx("run", "plan.json", "in.csv", "rates=rates.csv", "-o", "tree.csv", "--input-hash", "fsverity")
    dtx("run", "plan.json", "in.csv", "rates=rates.csv", "-o", "rows.csv", "--lineage", "rows")
    dtx("run", "bad.json", "in.csv", "-o", "bad.csv")
    dtx("replay", "typed.csv", "--into", "again")
    odd()
    if not jail:
        return
    for name in ("xlsx/weeks.xlsx", "plans/balance.json", "snippets/balance.txt"):
        subprocess.run(["cp", os.path.join(ROOT, "fixtures", name), "."], check=True)
    dtx("run", "balance.json", "weeks.xlsx", "--snippet", "balance.txt", "-o", "snippet.csv")


def errors(validator, value):
    return ["%s: %s" % ("/".join(map(str, e.path)), e.message[:200]) for e in validator.iter_errors(value)]


def records(ids, validator):
    bad = []
    for run in ids:
        for more in ([], ["--full"]):
            record = json.loads(dtx("provenance", run, "--json", *more).stdout)
            bad += errors(validator, record)
    ok("records of %d runs are as the schema says" % len(ids), not bad and len(ids) > 3, bad)
    broken = [("dtx_record", 2), ("run", {}), ("steps", [{"op": 1}]), ("extra", 1), ("outputs", [{"sha": "x"}])]
    taken = []
    for key, value in broken:
        other = copy.deepcopy(record)
        other[key] = value
        taken += [key] if validator.is_valid(other) else []
    ok("the schema refuses what is not a record", not taken, taken)


def published(folder):
    """A function that loads a published schema by the last part of its address.  Older ones keep in
    `definitions` what newer ones keep in `$defs`."""
    def load(uri):
        name = uri.partition("#")[0].rpartition("/")[2]
        path = os.path.join(folder, name if name == "OpenLineage.json" else os.path.join("facets", name))
        with open(path) as f:
            schema = json.load(f)
        schema.setdefault("$defs", schema.get("definitions", {}))
        return schema
    return load


def facets_of(event):
    for part in [event["run"], event["job"], *event["inputs"], *event["outputs"]]:
        for group in ("facets", "inputFacets", "outputFacets"):
            yield from part.get(group, {}).items()


def official(ids, folder):
    """Every event against the published core, and every facet against the published facet."""
    load, bad, seen, absent = published(folder), [], set(), set()

    def check(schema, value):
        resolver = RefResolver(schema.get("$id", SPEC + "OpenLineage.json"), schema, handlers={"https": load})
        return errors(Draft202012Validator(schema, resolver=resolver, format_checker=FormatChecker()), value)

    for run in ids:
        for line in dtx("provenance", run, "--openlineage").stdout.splitlines():
            event = json.loads(line)
            bad += check(load("OpenLineage.json"), event)
            for key, one in facets_of(event):
                name = one["_schemaURL"].partition("#")[0].rpartition("/")[2]
                if not one["_schemaURL"].startswith(SPEC):
                    continue
                if not os.path.exists(os.path.join(folder, "facets", name)):
                    absent.add(name)
                    continue
                schema = load(name)
                seen.add(name)
                bad += ["%s: %s" % (name, e) for e in check(schema, {key: one})]
                bad += [] if key in schema["properties"] else ["%s is not called %s" % (name, key)]
    ok("events are as the published OpenLineage schemas say", not bad and seen, bad or "no facet is published there")
    print("# published facets held: %s; not in the folder: %s" % (", ".join(sorted(seen)), ", ".join(sorted(absent)) or "none"))


def openlineage(ids, status):
    validator = Draft202012Validator(EVENT, format_checker=FormatChecker())
    bad, kinds = [], set()
    for run in ids:
        events = [json.loads(line) for line in dtx("provenance", run, "--openlineage").stdout.splitlines()]
        for event in events:
            bad += errors(validator, event)
        end = {"ok": "COMPLETE", "failed": "FAIL"}.get(status[run], "ABORT")
        if [e["eventType"] for e in events] != ["START", end] or {e["run"]["runId"] for e in events} != {run}:
            bad.append("%s: %s" % (run, [e["eventType"] for e in events]))
        kinds |= {e["eventType"] for e in events}
        if end == "FAIL" and events[-1]["outputs"]:
            bad.append("a failed run has outputs")
        bad += ["a failed run counts rows that nobody counted" for e in events for i in e["inputs"]
                if end == "FAIL" and ("schema" in i["facets"] or "rowCount" in i["inputFacets"]["inputStatistics"])]
    ok("events of %d runs are as OpenLineage asks" % len(ids), not bad and kinds == {"START", "COMPLETE", "FAIL", "ABORT"}, bad)
    event = json.loads(dtx("provenance", "typed.csv", "--openlineage").stdout.splitlines()[1])
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    ok("column lineage names source columns", {f["field"] for f in fields["c"]["inputFields"]} == {"v", "r"}, fields)


def prov(ids):
    bad = []
    for run in ids:
        doc = json.loads(dtx("provenance", run, "--prov").stdout)
        things = {**doc["entity"], **doc["activity"], **doc["agent"]}
        if any(name.split(":")[0] not in doc["prefix"] for name in things):
            bad.append("a name without its prefix")
        for relation, ends in RELATIONS.items():
            for one in doc.get(relation, {}).values():
                bad += ["%s: %s" % (relation, one[end]) for end in ends if one[end] not in things]
    ok("PROV documents of %d runs name what they relate" % len(ids), not bad, bad)


def main():
    schema = json.loads(dtx("schema", "--record").stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    with tempfile.TemporaryDirectory(prefix="dtx-records-") as folder:
        os.chdir(folder)
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        runs("asan" not in DTX)
        log = json.loads(dtx("provenance", "log", "--json").stdout)
        ids, status = [r["run_id"] for r in log], {r["run_id"]: r["status"] for r in log}
        ok("the log has runs of every end", set(status.values()) == {"ok", "failed", "cancelled", "abandoned"}, status)
        records(ids, validator)
        openlineage(ids, status)
        if os.environ.get("DTX_OPENLINEAGE_SPEC"):
            official(ids, os.path.join(HERE, os.environ["DTX_OPENLINEAGE_SPEC"]))
        else:
            print("ok - events are as the published OpenLineage schemas say # SKIP DTX_OPENLINEAGE_SPEC names no folder")
        prov(ids)
        os.chdir("/")
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


sys.exit(main())
