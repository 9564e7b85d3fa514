// The API server program; also started by test harnesses (`orch envtest`).
import { runApiserver } from "./apiserver-program.ts";
import { envtestVariable } from "./envtest/variables.ts";

// Bundled as a script, which does not support top-level await.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

async function main(args: readonly string[]): Promise<number> {
  if (process.env[envtestVariable] !== "1") return await runApiserver(args);
  return await (await import("./envtest/apiserver.ts")).envtestApiserver(args);
}
