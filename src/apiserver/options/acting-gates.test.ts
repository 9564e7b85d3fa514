import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dialects } from "#dialect";
import { knownGates, settle } from "#options";
import { actingGates, gatesRead } from "./acting-gates.ts";
import { apiserverOptions } from "./options.ts";

const rooms = [
  "admission",
  "endpoints",
  "filters",
  "virtual",
  "extensions",
  "apiserver",
  "registry",
  "audit",
];
const source = join(import.meta.dirname, "..", "..");

function* sources(): Generator<string> {
  for (const room of rooms) {
    let files: string[];
    try {
      files = readdirSync(join(source, room), { recursive: true }) as string[];
    } catch {
      continue;
    }
    for (const file of files)
      if (file.endsWith(".ts") && !file.endsWith(".test.ts"))
        yield readFileSync(join(source, room, file), "utf8");
  }
}

test("the list of gates matches exactly the gates that the code reads", () => {
  const names = new Set(knownGates.map(({ name }) => name));
  const read = new Set<string>();
  for (const text of sources())
    for (const [, name] of text.matchAll(/\benabled\("(\w+)"\)/g)) if (names.has(name!)) read.add(name!);
  assert.deepEqual([...read].toSorted(), [...gatesRead].toSorted());
});

test("gates of the bootstrap roles are effective, too, and every effective gate is known", () => {
  const acting = actingGates(dialects.orch);
  const names = new Set(knownGates.map(({ name }) => name));
  assert.deepEqual(
    acting.filter((name) => !names.has(name)),
    [],
  );
  assert.ok(acting.includes("DynamicResourceAllocation"));
});

test("an effective gate is not reported as having no effect", () => {
  const { warnings } = settle(apiserverOptions(dialects.orch), [
    "--feature-gates=APIServerIdentity=false,ComponentSLIs=false,DynamicResourceAllocation=true,CronJobTimeZone=true,WinOverlay=false",
  ]);
  const idle = warnings.filter((line) => line.includes("of no effect"));
  assert.equal(idle.length, 1);
  assert.match(idle[0]!, /of no effect: WinOverlay$/);
});
