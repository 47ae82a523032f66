// CSV to Parquet or Arrow, or one of these to CSV, with Polars. Prints the seconds of elapsed and of processor time,
// start-up left out.  Usage: node polars_convert.mjs IN OUT [CODEC]   (run with build/peers as the module root)
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const pl = createRequire(pathToFileURL(process.cwd() + "/build/peers/x.js"))("nodejs-polars");
const [input, output, codec] = process.argv.slice(2);
const before = process.cpuUsage();
const t0 = performance.now();
if (output.endsWith(".arrow")) pl.readCSV(input).writeIPC(output);
else if (input.endsWith(".arrow")) pl.readIPC(readFileSync(input)).writeCSV(output);
else if (codec) pl.readCSV(input).writeParquet(output, { compression: codec });
else pl.readParquet(input).writeCSV(output);
const s = (performance.now() - t0) / 1000;
const used = process.cpuUsage(before);
console.log(JSON.stringify([s, (used.user + used.system) / 1e6]));
