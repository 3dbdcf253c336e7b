// Calls `echo` of several servers in turns, by the official client for TypeScript, and prints how long that takes.
//
// node client.mjs PACKAGES ROUNDS CALLS TARGETS: targets are JSON, [{ "tool": …, "command": […] }, …]. What is printed
// is JSON, too: the fastest, the median and the 99th percentile for each of them, in microseconds.

import { createRequire } from "node:module";

const [packages, rounds, calls, targets] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const message = "what was said comes back";
const servers = [];
for (const { tool, command } of JSON.parse(targets)) {
  const [program, ...args] = command;
  const client = new Client({ name: "bench", version: "1" });
  const transport = { command: program, args, env: process.env, stderr: "ignore" };
  await client.connect(new StdioClientTransport(transport));
  servers.push({ client, tool, times: [] });
}

async function call({ client, tool }) {
  const begun = process.hrtime.bigint();
  const result = await client.callTool({ name: tool, arguments: { message } });
  const took = Number(process.hrtime.bigint() - begun) / 1000;
  if (!JSON.stringify(result).includes(message)) throw new Error(JSON.stringify(result));
  return took;
}

for (const server of servers) for (let n = 0; n < 300; n++) await call(server);
for (let round = 0; round < Number(rounds); round++) {
  for (const server of servers) {
    for (let n = 0; n < Number(calls); n++) server.times.push(await call(server));
  }
}
const told = servers.map(({ times }) => {
  times.sort((a, b) => a - b);
  return [0, 0.5, 0.99].map((part) => times[Math.floor(times.length * part)]);
});
for (const { client } of servers) await client.close();
console.log(JSON.stringify(told));
