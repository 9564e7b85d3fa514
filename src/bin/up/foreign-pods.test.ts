import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { dialects } from "#dialect";
import { ownerOf, runtimeLabelNames } from "#nodeagent";
import { countForeignPods } from "./foreign-pods.ts";

const root = mkdtempSync(join(tmpdir(), "orch-foreign-"));
after(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "pods", "kept"), { recursive: true });
const { orch, kubernetes } = dialects;
const labels = (dialect: typeof orch, uid: string, owner?: string) => {
  const names = runtimeLabelNames(dialect);
  return { [names.podUid]: uid, ...(owner !== undefined && { [names.owner]: owner }) };
};

const cases: [name: string, labels: Record<string, string>, count: number][] = [
  ["pods of this cluster are not foreign", labels(orch, "a", ownerOf(root, orch)), 0],
  ["pods of an earlier version with a directory are not foreign", labels(orch, "kept"), 0],
  ["pods of the machine's agent are foreign", labels(kubernetes, "b"), 1],
  ["pods of another cluster are foreign", labels(orch, "c", "other"), 1],
  ["other sandboxes are ignored", {}, 0],
];
for (const [name, found, count] of cases)
  test(name, async () => {
    const runtime = { listPodSandboxes: async () => [{ labels: found }] as never };
    assert.equal(await countForeignPods(runtime, root), count);
  });
