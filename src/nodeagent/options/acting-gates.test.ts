import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dialects } from "#dialect";
import { knownGates, settle } from "#options";
import { agentGates } from "./acting-gates.ts";
import { nodeagentOptions } from "./options.ts";

/** Names that the code composes at run time. */
const composed = ["CPUManagerPolicyAlphaOptions", "CPUManagerPolicyBetaOptions"];

test("the listed gates are exactly those that the code reads", () => {
  const folder = join(import.meta.dirname, "..");
  const names = new Set(knownGates.map(({ name }) => name));
  const read = new Set(composed);
  for (const file of readdirSync(folder, { recursive: true }) as string[])
    if (file.endsWith(".ts") && !file.endsWith(".test.ts"))
      for (const [, name] of readFileSync(join(folder, file), "utf8").matchAll(/\benabled\("(\w+)"\)/g))
        read.add(name!);
  assert.deepEqual([...read].toSorted(), agentGates.toSorted());
  assert.deepEqual(
    agentGates.filter((name) => !names.has(name)),
    [],
  );
});

test("a listed gate is not reported as having no effect", () => {
  const { warnings } = settle(nodeagentOptions(dialects.kubernetes), [
    "--feature-gates=EventedPLEG=true,MemoryQoS=true,SizeMemoryBackedVolumes=false,WinOverlay=false",
  ]);
  const idle = warnings.filter((line) => line.includes("of no effect"));
  assert.equal(idle.length, 1);
  assert.match(idle[0]!, /of no effect: WinOverlay$/);
});
