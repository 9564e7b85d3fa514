import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCommand, planText, previewText } from "./node-command.ts";

test("why-evict lists each signal with its thresholds and the pods in order", () => {
  const text = previewText({
    pressures: ["MemoryPressure"],
    signals: [
      {
        signal: "memory.available",
        available: "512Mi",
        thresholds: [{ kind: "hard", quantity: "1Gi", met: true }],
        order: [{ pod: "default/a", priority: 5, used: 20, requested: 10 }],
      },
      { signal: "pid.available", thresholds: [], order: [] },
    ],
  });
  assert.equal(
    text,
    "pressure: MemoryPressure\n\nmemory.available: 512Mi left, evicts below hard 1Gi (met)\n" +
      "  1. default/a  priority 5, uses 20 of 10 requested\n\n" +
      "pid.available: unknown left, evicts below \n  no pod can be evicted\n",
  );
});

test("shutdown-plan lists the groups in order", () => {
  assert.equal(
    planText({ inhibitSeconds: 0, groups: [] }),
    "graceful shutdown is not enabled on this node\n",
  );
  const groups = [{ priority: 0, seconds: 20, pods: [{ pod: "default/a", graceSeconds: 5 }] }];
  assert.match(
    planText({ inhibitSeconds: 20, groups }),
    /priority 0 and above, 20 s:\n {2}default\/a {2}5 s to end/,
  );
});

test("an unknown command, or one without a node, prints the usage", async () => {
  const printed: string[] = [];
  const output = {
    out: (text: string) => void printed.push(text),
    err: (text: string) => void printed.push(text),
  };
  assert.equal(await nodeCommand(["what", "n1"], output), 1);
  assert.equal(await nodeCommand(["--help"], output), 0);
  assert.match(printed[0]!, /orch node why-evict NODE/);
});
