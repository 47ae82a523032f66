// One statement in DuckDB.  Prints the milliseconds of processor time, then those that it took;
// start-up left out.  Usage: node duckdb.mjs SQL   (run with build/peers as the module root)
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.cwd() + "/build/peers/x.js"));
const { DuckDBInstance } = require("@duckdb/node-api");
const db = await (await DuckDBInstance.create(":memory:")).connect();
const before = process.cpuUsage();
const t0 = performance.now();
await db.runAndReadAll(process.argv[2]);
const ms = performance.now() - t0;
const used = process.cpuUsage(before);
console.log(((used.user + used.system) / 1000).toFixed(0));
console.log(ms.toFixed(0));
