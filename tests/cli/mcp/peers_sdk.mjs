// The official SDK's client calls every tool of `dtx mcp`: node peers_sdk.mjs DTX, in a folder with in.csv.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp", "--sample", "all"], env: process.env }));
const called = new Set();
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args }); // checks structuredContent against outputSchema
  called.add(name);
  return result.structuredContent ?? result.content[0].text;
}
const { tools } = await client.listTools();
const plan = { dtx: 1, steps: [{ op: "filter", where: "n > 1" }] };
const steps = { dtx: 1, steps: [{ op: "group_by", by: ["k"], agg: { t: "sum(k)" } }] };
const described = await call("describe", { path: "in.csv" });
const ran = await call("run_plan", { plan, files: { main: "in.csv" } });
const needs = await call("run_plan", { plan: steps, files: { main: "in.csv" } });
const code = "def transform(tables, params):\n    return tables['main'].groupby('k', as_index=False).agg(t=('n', 'sum'))\n";
const answered = await call("submit_code", { ticket: needs.ticket, code });
const python = await call("run_python", { code: "print(len(tables['t']))", tables: { t: "in.csv" } });
const { session } = await call("open_session", {});
await call("run_python", { code: "x = 6", session });
const kept = await call("run_python", { code: "x * 7", session });
const closed = await call("close_session", { session });
const all = [described, ran, needs, answered, python, kept, closed];
for (const [name, args] of [
  ["list", {}],
  ["provenance", { run: ran.run_id }],
  ["why", { run: ran.run_id, column: "n", row: 1 }],
  ["replay", { run: ran.run_id }],
  ["wait", { run_id: ran.run_id }],
])
  all.push(await call(name, args));
console.log(all.map((r) => r.status ?? "refused").join(" "));
console.log("called", called.size, "of", tools.length);
const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const schema = await client.readResource({ uri: resources[0].uri });
const output = await client.readResource({ uri: ran.outputs[0].uri });
console.log("resources", resources.length, resourceTemplates.length, schema.contents[0].mimeType, JSON.stringify(output.contents[0].text));
console.log("python", JSON.stringify(python.stdout), kept.value.text);
const seen = [];
await client.callTool({ name: "run_python", arguments: { code: "import time\ntime.sleep(4)" } }, undefined,
  { onprogress: (p) => seen.push(p.progress) });
console.log("progress", seen.length > 0 && seen.every((p, i) => p > (seen[i - 1] ?? 0)));
await client.ping();
await client.close();
