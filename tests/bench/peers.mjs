// One case on one peer, file to file.  Prints the milliseconds of elapsed and of processor time in the
// process, start-up left out.
// Usage: node peers.mjs duckdb|polars CASE OUT IN [OTHER]   (run with build/peers as the module root)
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.cwd() + "/build/peers/x.js"));
const [peer, name, output, input, other] = process.argv.slice(2);
const keys = ["id1", "id2", "id3", "id4", "id5", "id6"];

const sql = {
  sum_by_id1: "SELECT id1, sum(v1)::BIGINT AS v1 FROM t GROUP BY id1",
  sum_by_id1_id2: "SELECT id1, id2, sum(v1)::BIGINT AS v1 FROM t GROUP BY id1, id2",
  sum_mean_by_id3: "SELECT id3, sum(v1)::BIGINT AS v1, avg(v3) AS v3 FROM t GROUP BY id3",
  means_by_id4: "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM t GROUP BY id4",
  sums_by_id6:
    "SELECT id6, sum(v1)::BIGINT AS v1, sum(v2)::BIGINT AS v2, sum(v3) AS v3 FROM t GROUP BY id6",
  median_std: "SELECT id4, id5, median(v3) AS m, stddev_samp(v3) AS s FROM t GROUP BY id4, id5",
  range_by_id3: "SELECT id3, max(v1) - min(v2) AS r FROM t GROUP BY id3",
  product_mean: "SELECT id2, id4, avg(v1 * v2) AS p FROM t GROUP BY id2, id4",
  six_keys: `SELECT ${keys}, sum(v3) AS v3, count(*) AS n FROM t GROUP BY ${keys}`,
  count_rows: "SELECT count(*) AS n FROM t",
  top_two:
    "SELECT id6, v3 FROM t QUALIFY row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) <= 2",
  filter_wide: "SELECT * FROM t WHERE v1 = 3 AND id4 > 50",
  sort_v3: "SELECT * FROM t ORDER BY v3 DESC",
  join_small: "SELECT t.*, w FROM t JOIN u USING (id6)",
  join_big: "SELECT t.*, w FROM t JOIN u USING (id)",
  unpivot:
    `SELECT ${keys}, name, value FROM (UNPIVOT (SELECT ${keys}, v1::DOUBLE AS v1, ` +
    "v2::DOUBLE AS v2, v3 FROM t) ON v1, v2, v3)",
  pivot:
    "SELECT * FROM (PIVOT (SELECT id4, id5, v1, v2 FROM t) ON v1 IN (1, 2, 3, 4, 5) USING sum(v2)::BIGINT)",
  distinct: "SELECT DISTINCT id3, id6 FROM t",
  distinct_few: "SELECT DISTINCT id1, id2 FROM t",
  window_sum: "SELECT id3, v1, sum(v1) OVER (PARTITION BY id3)::BIGINT AS s FROM t",
  wide_sum: "SELECT c1, sum(c2)::BIGINT AS s FROM t GROUP BY c1",
  wide_filter: "SELECT * FROM t WHERE c1 = 3",
  wide_sort: "SELECT * FROM t ORDER BY c2, c1, c4",
  one_sum: "SELECT sum(v)::BIGINT AS s, min(v) AS a, max(v) AS b FROM t",
  one_count: "SELECT v, count(*) AS n FROM t GROUP BY v",
  long_length: "SELECT g, max(length(t)) AS n FROM t GROUP BY g",
  long_filter: "SELECT * FROM t WHERE g = 3",
  lists: "SELECT k, string_agg(v, ';' ORDER BY v) AS v FROM t GROUP BY k",
  lists_medians: "SELECT k, median(v) AS m FROM t GROUP BY k",
  window_rank: "SELECT id1, v3, rank() OVER (PARTITION BY id1 ORDER BY v3) AS r FROM t",
};

async function duckdb() {
  const { DuckDBInstance } = require("@duckdb/node-api");
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  const limit = process.env.BENCH_MEMORY; // "64M"
  if (limit) await db.run(`SET memory_limit = '${limit}iB'`);
  if (limit) await db.run(`SET temp_directory = '${process.env.TMPDIR || "/tmp"}'`);
  const more = name.startsWith("long") ? ", max_line_size = 8000000, buffer_size = 64000000" : "";
  const read = (path) => path.endsWith(".parquet") ? `read_parquet('${path}')` : `read_csv('${path}'${more})`;
  if (name === "to_parquet") return timed(() => db.run(`COPY (FROM ${read(input)}) TO '${output}' (FORMAT parquet)`));
  const query = sql[name]
    .replace(/FROM t\b/, `FROM ${read(input)} t`)
    .replace(/JOIN u\b/, other ? `JOIN ${read(other)} u` : "JOIN u");
  return timed(() => db.run(`COPY (${query}) TO '${output}' (HEADER)`));
}

const lazy = {
  sum_by_id1: (t, pl) => t.groupBy("id1").agg(pl.col("v1").sum()),
  sum_by_id1_id2: (t, pl) => t.groupBy(["id1", "id2"]).agg(pl.col("v1").sum()),
  sum_mean_by_id3: (t, pl) => t.groupBy("id3").agg(pl.col("v1").sum(), pl.col("v3").mean()),
  means_by_id4: (t, pl) =>
    t.groupBy("id4").agg(pl.col("v1").mean(), pl.col("v2").mean(), pl.col("v3").mean()),
  sums_by_id6: (t, pl) => t.groupBy("id6").agg(pl.col("v1").sum(), pl.col("v2").sum(), pl.col("v3").sum()),
  median_std: (t, pl) =>
    t.groupBy(["id4", "id5"]).agg(pl.col("v3").median().alias("m"), pl.col("v3").std().alias("s")),
  range_by_id3: (t, pl) => t.groupBy("id3").agg(pl.col("v1").max().minus(pl.col("v2").min()).alias("r")),
  product_mean: (t, pl) => t.groupBy(["id2", "id4"]).agg(pl.col("v1").mul(pl.col("v2")).mean().alias("p")),
  six_keys: (t, pl) => t.groupBy(keys).agg(pl.col("v3").sum(), pl.len().alias("n")),
  count_rows: (t, pl) => t.select(pl.len().alias("n")),
  top_two: (t, pl) =>
    t.select("id6", "v3").sort("v3", true).groupBy("id6").agg(pl.col("v3").head(2)).explode("v3"),
  filter_wide: (t, pl) => t.filter(pl.col("v1").eq(3).and(pl.col("id4").gt(50))),
  sort_v3: (t, pl) => t.sort("v3", true),
  join_small: (t, pl, u) => t.join(u, { on: "id6", how: "inner" }),
  join_big: (t, pl, u) => t.join(u, { on: "id", how: "inner" }),
  unpivot: (t) => t.unpivot(keys, ["v1", "v2", "v3"], { variableName: "name", valueName: "value" }),
  pivot: (t, pl) =>
    t.groupBy(["id4", "id5"]).agg(...[1, 2, 3, 4, 5].map((v) =>
      pl.col("v2").filter(pl.col("v1").eq(v)).sum().alias(String(v)))),
  distinct: (t) => t.select("id3", "id6").unique(),
  distinct_few: (t) => t.select("id1", "id2").unique(),
  window_sum: (t, pl) => t.select(pl.col("id3"), pl.col("v1"), pl.col("v1").sum().over("id3").alias("s")),
  wide_sum: (t, pl) => t.groupBy("c1").agg(pl.col("c2").sum().alias("s")),
  wide_filter: (t, pl) => t.filter(pl.col("c1").eq(3)),
  wide_sort: (t) => t.sort(["c2", "c1", "c4"]),
  one_sum: (t, pl) =>
    t.select(pl.col("v").sum().alias("s"), pl.col("v").min().alias("a"), pl.col("v").max().alias("b")),
  one_count: (t, pl) => t.groupBy("v").agg(pl.len().alias("n")),
  long_length: (t, pl) => t.groupBy("g").agg(pl.col("t").str.lengths().max().alias("n")),
  long_filter: (t, pl) => t.filter(pl.col("g").eq(3)),
  lists: (t, pl) =>
    t.groupBy("k").agg(pl.col("v").sort().cast(pl.Utf8).alias("v")).withColumn(pl.col("v").lst.join(";")),
  lists_medians: (t, pl) => t.groupBy("k").agg(pl.col("v").median().alias("m")),
  window_rank: (t, pl) =>
    t.select(pl.col("id1"), pl.col("v3"), pl.col("v3").rank({ method: "min" }).over("id1").alias("r")),
};

// Polars has no limit of its own: the kernel refuses what is beyond what the process has now and the limit.
function limitMemory(limit) {
  const now = readFileSync("/proc/self/status", "utf8").match(/VmData:\s+(\d+)/)[1] * 1024;
  execFileSync("prlimit", ["--pid", process.pid, `--data=${now + parseInt(limit) * 1048576}`]);
}

async function polars() {
  const pl = require("nodejs-polars").default ?? require("nodejs-polars");
  if (process.env.BENCH_MEMORY) limitMemory(process.env.BENCH_MEMORY);
  const read = (path) => path.endsWith(".parquet") ? pl.scanParquet(path) : pl.scanCSV(path);
  if (name === "to_parquet")
    return timed(async () => (await read(input).collect()).writeParquet(output, { compression: "snappy" }));
  return timed(async () => {
    const frame = lazy[name](read(input), pl, other && read(other));
    if (process.env.SINK) await frame.sinkCSV(output).collect();
    else (await frame.collect()).writeCSV(output);
  });
}

async function timed(work) {
  const t0 = performance.now();
  const c0 = process.cpuUsage();
  await work();
  const c = process.cpuUsage(c0);
  return `${(performance.now() - t0).toFixed(0)} ${((c.user + c.system) / 1000).toFixed(0)}`;
}

console.log(await (peer === "duckdb" ? duckdb() : polars()));
