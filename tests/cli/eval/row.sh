. "$LIB"
dtx eval 'hours / (headcount * 40)' --row '{"hours": 1300, "headcount": 40}'
dtx eval 'hours / (headcount * 40)' --row '{"hours": 1300, "headcount": 40}' --json
dtx eval 'year(d) + 1' --row '{"d": "2024-02-29"}' --json
dtx eval 'd + 1' --row '{"d": "2024-02-29"}' --json
dtx eval 'upper(name)' --row '{"name": "zoë"}' --json
dtx eval 'x is null' --row '{"x": null}' --json
dtx eval "case when n > 1 then 'many' else 'one' end" --row '{"n": 2}'
