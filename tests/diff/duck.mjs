// Answers statements with DuckDB: one JSON object per line in and out.  Argument: a folder with
// node_modules/@duckdb/node-api.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import path from "node:path";

const need = createRequire(path.resolve(process.argv[2], "x.js"));
const { DuckDBInstance } = need("@duckdb/node-api");
const TYPES = { int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", dec: "DECIMAL(12,2)" };
const name = (text) => `"${text.replaceAll('"', '""')}"`;
const value = (v) => (v === null ? "NULL" : typeof v === "string" ? `'${v.replaceAll("'", "''")}'` : String(v));

async function load(db, table, columns) {
	const names = Object.keys(columns);
	const types = names.map((c) => `${name(c)} ${TYPES[columns[c][0]] ?? "VARCHAR"}`);
	await db.run(`CREATE OR REPLACE TABLE ${name(table)} (${types.join(", ")})`);
	const rows = columns[names[0]][1].map((_, i) => `(${names.map((c) => value(columns[c][1][i])).join(", ")})`);
	if (rows.length) await db.run(`INSERT INTO ${name(table)} VALUES ${rows.join(", ")}`);
}

// Numbers as JSON has them, ints that it would round as {int: digits}; dates and times as ISO text.
function plain(v) {
	if (typeof v === "bigint") return Number.isSafeInteger(Number(v)) ? Number(v) : { int: String(v) };
	if (typeof v === "string") return v.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/g, "$1T$2"); // as SQLite has times
	if (v === null || typeof v !== "object") return v;
	if ("scale" in v) return Number(String(v)); // a decimal
	return String(v).replace(/ 00:00:00$/, "").replace(" ", "T");
}

async function answer(db, { sql, tables }) {
	for (const [table, columns] of Object.entries(tables)) await load(db, table, columns);
	const got = await db.runAndReadAll(sql);
	const names = got.columnNames();
	return { rows: got.getRows().map((row) => Object.fromEntries(row.map((v, i) => [names[i], plain(v)]))) };
}

let db = await (await DuckDBInstance.create(":memory:")).connect();
for await (const line of createInterface({ input: process.stdin })) {
	const out = await answer(db, JSON.parse(line)).catch((error) => ({ error: String(error) }));
	if (out.error?.includes("INTERNAL Error")) {
		// its own mistake, after which it answers nothing more
		out.internal = true;
		db = await (await DuckDBInstance.create(":memory:")).connect();
	}
	console.log(JSON.stringify(out));
}
