# What people bring along from other languages: each answer says how it is written here.
. "$LIB"
printf 'id,Order Date,region,n\n1,2024-01-05,N,2\n2,2024-02-06,,3\n' > in.csv
say() {
	printf '{ "dtx": 1, "inputs": [{"name": "main", "path": "in.csv"}], "steps": [%s] }\n' "$1" > plan.json
	dtx run plan.json --fallback off || echo "exit $?"
}
say '{"op": "derive", "set": {"m": "month(Order Date)"}}'
say '{"op": "window", "by": "region", "set": {"r": "sum(n) over (partition by region)"}}'
say '{"op": "group_by", "by": "region", "agg": {"d": "count(distinct id)"}}'
say '{"op": "derive", "set": {"y": "if n > 2 then 1 else 0"}}'
say '{"op": "derive", "set": {"y": "case region when 1 then 2 end"}}'
say '{"op": "derive", "set": {"y": "region || region"}}'
say '{"op": "derive", "set": {"y": "region + id"}}'
say '{"op": "derive", "set": {"y": "region + region"}}'
say '{"op": "derive", "set": {"y": "strftime(id, region)"}}'
say '{"op": "filter", "where": "region != null"}'
say '{"op": "filter", "where": "region = N"}'
say '{"op": "join", "with": "other", "on": "id"}'
say '{"op": "melt", "id_vars": ["id"], "value_vars": ["n"]}'
printf 'at\n2024-01-05T10:00:00+01:00\n' > in.csv
say '{"op": "derive", "set": {"d": "date(at)"}}'
say '{"op": "derive", "set": {"d": "date(date_trunc(at, '"'day'"'))"}}'
