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

test("the gates that act are those that the code reads, no more and no fewer", () => {
  const names = new Set(knownGates.map(({ name }) => name));
  const read = new Set<string>();
  for (const text of sources())
    for (const [, name] of text.matchAll(/\benabled\("(\w+)"\)/g)) if (names.has(name!)) read.add(name!);
  assert.deepEqual([...read].toSorted(), [...gatesRead].toSorted());
});

test("gates of the bootstrap roles act, too, and every gate that acts is known", () => {
  const acting = actingGates(dialects.orch);
  const names = new Set(knownGates.map(({ name }) => name));
  assert.deepEqual(
    acting.filter((name) => !names.has(name)),
    [],
  );
  assert.ok(acting.includes("DynamicResourceAllocation"));
});

test("a gate that acts is not reported as without effect", () => {
  const { warnings } = settle(apiserverOptions(dialects.orch), [
    "--feature-gates=APIServerIdentity=false,ComponentSLIs=false,DynamicResourceAllocation=true,CronJobTimeZone=true,WinOverlay=false",
  ]);
  const idle = warnings.filter((line) => line.includes("of no effect"));
  assert.equal(idle.length, 1);
  assert.match(idle[0]!, /of no effect: WinOverlay$/);
});
