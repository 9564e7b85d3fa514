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
  ["its own pods are not foreign", labels(orch, "a", ownerOf(root, orch)), 0],
  ["nor are those of an earlier version that it has a directory for", labels(orch, "kept"), 0],
  ["those of the machine's agent are", labels(kubernetes, "b"), 1],
  ["those of another cluster are", labels(orch, "c", "other"), 1],
  ["what is no pod is nobody's", {}, 0],
];
for (const [name, found, count] of cases)
  test(name, async () => {
    const runtime = { listPodSandboxes: async () => [{ labels: found }] as never };
    assert.equal(await countForeignPods(runtime, root), count);
  });
