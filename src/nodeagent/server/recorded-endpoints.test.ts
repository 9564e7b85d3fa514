// Replays all recorded paths of the agent's three ports: status, type, headers and body must match. The
// recordings are not part of the repository.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "#api";
import { createMetrics, silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { healthMetrics, inject } from "#http";
import { type ServerParts, agentRoutes, handler, healthHandler } from "./server.ts";
import { readMachine } from "../resources/machine.ts";
import type { NodeStats } from "../resources/stats.ts";
import type { PodRegistry } from "../interfaces.ts";

interface Recorded {
  readonly port: "secure" | "readonly" | "healthz";
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const file = new URL("../../../../shared/reference/node/http/endpoints.json", import.meta.url);
const compared = ["content-type", "allow", "x-content-type-options", "location"];
/** Requests whose body text comes from the runtime. */
const ofTheRuntime = ["POST /run/t1/logger/main"];

test("the agent's ports respond as recorded", async (t) => {
  if (!existsSync(file)) return t.skip("no recorded endpoints beside the repo");
  const hostLogFolder = mkdtempSync(join(tmpdir(), "orch-logs-"));
  t.after(() => rmSync(hostLogFolder, { recursive: true }));
  mkdirSync(join(hostLogFolder, "pods"));
  const ports = await handlers(hostLogFolder);
  for (const recorded of JSON.parse(readFileSync(file, "utf8")) as Recorded[]) {
    const { port, method, path, status, headers, body } = recorded;
    await t.test(`${port}: ${method} ${path}`, async () => {
      const answer = await inject(ports[port], { method, path, headers: {} });
      const text = Buffer.concat(await Array.fromAsync(answer.chunks)).toString();
      assert.equal(answer.status, status);
      assert.deepEqual(
        Object.fromEntries(compared.map((name) => [name, answer.headers[name]])),
        Object.fromEntries(compared.map((name) => [name, headers[name]])),
      );
      if (status >= 300 && method !== "HEAD" && !ofTheRuntime.includes(`${method} ${path}`))
        assert.equal(text, body);
    });
  }
});

async function handlers(hostLogFolder: string) {
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const pod = {
    metadata: { name: "logger", namespace: "t1", uid: "u" },
    spec: { containers: [{ name: "main" }] },
    status: { containerStatuses: [{ name: "main", state: { running: {} }, containerID: "x://id" }] },
  } as unknown as Pod;
  const registry: PodRegistry = {
    pods: () => [pod],
    byName: (namespace, name) => (namespace === "t1" && name === "logger" ? pod : undefined),
    byUid: () => pod,
    isUidOf: (pod, uid) => pod.metadata.uid === uid,
    sandboxId: () => "sandbox",
    containers: () => [{ name: "main", id: "id", state: "running", attempt: 0, logPath: "" }],
    runningPods: () => Promise.resolve([pod]),
    sinceRelist: () => 0,
  };
  const disk = { capacityBytes: 1, availableBytes: 1, freeBytes: 1, inodes: 1, inodesFree: 1 };
  const figures: NodeStats = {
    at: clock.now(),
    startedAt: 0,
    cpu: { nanoseconds: 1, nanoCores: 1 },
    memory: {
      availableBytes: 1,
      usageBytes: 1,
      workingSetBytes: 1,
      rssBytes: 1,
      pageFaults: 1,
      majorPageFaults: 1,
    },
    network: [],
    disk,
    images: { filesystem: disk, used: { bytes: 1, inodes: 1 } },
    processes: 1,
    podsGroup: undefined,
    pods: [],
  };
  const parts: ServerParts = {
    dialect: dialects.orch,
    clock,
    log: silentLog,
    nodeName: "n1",
    registry,
    runtime: fakeRuntime({ clock }),
    metrics: createMetrics(),
    probeMetrics: createMetrics(),
    stats: {
      get: () => Promise.resolve(figures),
      groups: () => Promise.resolve({ groups: [], disks: [], device: "" }),
    },
    machine: await readMachine(),
    healthMetrics: healthMetrics(dialects.orch),
    configuration: () => ({}),
    setVerbosity: () => undefined,
    switches: {
      debugging: true,
      systemLogs: true,
      profiling: true,
      verbosityFlag: true,
      checkpoints: false,
      healthMetrics: "readonly",
    },
    hostLogFolder,
    checkpointFolder: "",
    streamIdleMilliseconds: 0,
  };
  return {
    secure: handler(agentRoutes(parts, "secure"), undefined, silentLog),
    readonly: handler(agentRoutes(parts, "readonly"), undefined, silentLog),
    healthz: healthHandler(parts),
  };
}
