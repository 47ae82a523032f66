// One case on one peer, file to file.  Prints the milliseconds in the process, start-up left out.
// Usage: node peers.mjs duckdb|polars CASE IN OUT   (run with build/peers as the module root)
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.cwd() + "/build/peers/x.js"));
const [peer, name, input, output] = process.argv.slice(2);

const sql = {
  sum_by_id1: "SELECT id1, sum(v1)::BIGINT AS v1 FROM t GROUP BY id1",
  sum_mean_by_id3: "SELECT id3, sum(v1)::BIGINT AS v1, avg(v3) AS v3 FROM t GROUP BY id3",
  filter_wide: "SELECT * FROM t WHERE v1 = 3 AND id4 > 50",
  count_rows: "SELECT count(*) AS n FROM t",
  sort_v3: "SELECT * FROM t ORDER BY v3 DESC",
};

async function duckdb() {
  const { DuckDBInstance } = require("@duckdb/node-api");
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  const t0 = performance.now();
  await db.run(`COPY (${sql[name].replace("FROM t", `FROM read_csv('${input}')`)}) TO '${output}' (HEADER)`);
  return performance.now() - t0;
}

const lazy = {
  sum_by_id1: (t, pl) => t.groupBy("id1").agg(pl.col("v1").sum()),
  sum_mean_by_id3: (t, pl) => t.groupBy("id3").agg(pl.col("v1").sum(), pl.col("v3").mean()),
  filter_wide: (t, pl) => t.filter(pl.col("v1").eq(3).and(pl.col("id4").gt(50))),
  count_rows: (t, pl) => t.select(pl.len().alias("n")),
  sort_v3: (t, pl) => t.sort("v3", true),
};

async function polars() {
  const pl = require("nodejs-polars").default ?? require("nodejs-polars");
  const t0 = performance.now();
  const frame = await lazy[name](pl.scanCSV(input), pl).collect();
  frame.writeCSV(output);
  return performance.now() - t0;
}

console.log((await (peer === "duckdb" ? duckdb() : polars())).toFixed(0));
