import assert from "node:assert/strict";
import { test } from "node:test";
import { explanationText } from "../why-pending.ts";
import { type SeenNode, type SeenPod, reportText, warningsOf } from "./status-report.ts";

const nodeOf = (name: string, ready: string, more: object[] = []): SeenNode =>
  ({ metadata: { name }, status: { conditions: [{ type: "Ready", status: ready }, ...more] } }) as SeenNode;
const podOf = (name: string, status: object): SeenPod =>
  ({ metadata: { namespace: "shop", name }, status }) as SeenPod;
const waiting = (name: string, reason: string, message: string): SeenPod =>
  podOf(name, {
    containerStatuses: [{ image: "registry.example/x:1", state: { waiting: { reason, message } } }],
  });

const cases: [name: string, nodes: SeenNode[], pods: SeenPod[], warnings: string[]][] = [
  ["nothing without problems", [nodeOf("a", "True")], [podOf("web", { phase: "Running" })], []],
  [
    "nodes that are not ready or under pressure",
    [nodeOf("a", "False"), nodeOf("b", "True", [{ type: "DiskPressure", status: "True", message: "full" }])],
    [],
    ["node a is not ready", "node b: DiskPressure: full"],
  ],
  [
    "unscheduled pods, and failing ones",
    [],
    [
      podOf("web", { conditions: [{ type: "PodScheduled", status: "False", message: "no room" }] }),
      waiting("db", "CrashLoopBackOff", "back-off"),
      waiting("new", "ContainerCreating", ""),
    ],
    ["pod shop/web has no node: no room", "pod shop/db: CrashLoopBackOff: back-off"],
  ],
  [
    "an unreachable registry, once",
    [],
    [
      waiting("a", "ErrImagePull", "dial tcp: lookup registry.example: no such host"),
      waiting("b", "ErrImagePull", "dial tcp 192.0.2.1:443: i/o timeout"),
      waiting("c", "ErrImagePull", "not found"),
    ],
    [
      "no registry can be reached, so 1 images cannot be pulled: registry.example/x:1",
      "pod shop/c: ErrImagePull: not found",
    ],
  ],
];
for (const [name, nodes, pods, warnings] of cases)
  test(`status warns of ${name}`, () => assert.deepEqual(warningsOf(nodes, pods), warnings));

test("a status shows processes, nodes and pods with their sizes", () => {
  const text = reportText({
    folder: "/data",
    version: "v1",
    processes: [{ name: "orch", pid: 7, kilobytes: 2048 }],
    storeBytes: 1 << 20,
    nodes: [nodeOf("a", "True")],
    pods: [podOf("x", { phase: "Running" }), podOf("y", { phase: "Running" })],
    warnings: [],
  });
  assert.match(text, /^cluster +\/data, v1, 2\.0 MB of memory, 1\.0 MB of objects$/m);
  assert.match(text, /^ {2}orch +process 7, 2\.0 MB$/m);
  assert.match(text, /^ {2}a +ready, /m);
  assert.match(text, /^pods +2: 2 Running$/m);
});

test("texts chosen by users cannot control the terminal", () => {
  const claim = 'persistentvolumeclaim "\u001b]0;x\u0007" not found';
  const report = reportText({
    folder: "/data",
    version: "v1",
    processes: [],
    storeBytes: 0,
    nodes: [],
    pods: [],
    warnings: warningsOf(
      [],
      [podOf("web", { conditions: [{ type: "PodScheduled", status: "False", message: claim }] })],
    ),
  });
  const explanation = explanationText("shop/web", {
    state: "waiting",
    forAll: [claim],
    byNode: new Map(),
    message: claim,
  });
  for (const text of [report, explanation]) assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.match(explanation, /every node: persistentvolumeclaim "\\u001b\]0;x\\u0007" not found$/m);
});
