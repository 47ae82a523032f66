// Prints what Polars reads in Parquet files, one line of JSON for each: the columns, and all values as text.
// Usage: polars.mjs FOLDER FILE...   (FOLDER has node_modules/nodejs-polars)
import { createRequire } from "node:module";
import path from "node:path";

const pl = createRequire(path.resolve(process.argv[2], "x.js"))("nodejs-polars");
for (const file of process.argv.slice(3)) {
	const t = pl.readParquet(file);
	const text = t.columns.length ? t.select(...t.columns.map((c) => pl.col(c).cast(pl.Utf8))) : t;
	console.log(JSON.stringify({ types: t.columns.map((c) => String(t.schema[c])), columns: t.columns, rows: text.rows() }));
}
