// npm run check: types, lint (zero warnings), format, architecture. Seconds, no network, no system packages.
import { checks } from "./checks.mjs";
import { install, run, runtime } from "./setup.mjs";

await install();
const results = [
  ...checks.map(({ name, run: check }) => ({ name, good: check() })),
  {
    name: "architecture",
    good: run(runtime(), [
      "--conditions=orch-source",
      "--test",
      "--test-reporter=./scripts/reporter.mjs",
      "test/architecture.test.ts",
    ]),
  },
];
for (const { name, good } of results) console.log(`${good ? "✔" : "✖"} ${name}`);
process.exitCode = results.every(({ good }) => good) ? 0 : 1;
