import { test } from "node:test";
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualClock } from "#base";
import { GrpcError } from "#http";
import { containerState } from "../messages/container.ts";
import { containerEventType } from "../messages/runtime.ts";
import { type RuntimeUnderTest, runtimeContract } from "../runtime.contract.ts";
import { type FakeRuntime, type FakeRuntimeOptions, fakeRuntime } from "./fake-runtime.ts";

const open = async (): Promise<RuntimeUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), "orch-fake-"));
  const runtime = fakeRuntime({
    images: ["registry.test/busybox:1"],
    offered: [{ name: "registry.test/other:1", user: "1000" }],
    touchDisk: true,
  });
  return {
    runtime,
    image: "registry.test/busybox:1",
    pullable: "registry.test/other:1",
    folder,
    cgroupRoot: "/contract",
    stop: () => rm(folder, { recursive: true }),
  };
};
runtimeContract("the fake", open, { concurrency: true });

const sandbox = { metadata: { name: "p", namespace: "n", uid: "u" } };
const turns = async (): Promise<void> => {
  for (let at = 0; at < 10; at++) await new Promise((resolve) => setImmediate(resolve));
};
async function container(
  options: FakeRuntimeOptions,
  command: string[],
): Promise<{ readonly runtime: FakeRuntime; readonly id: string; readonly sandboxId: string }> {
  const runtime = fakeRuntime({ images: ["busybox"], ...options });
  const sandboxId = await runtime.runPodSandbox(sandbox);
  const id = await runtime.createContainer(
    sandboxId,
    { metadata: { name: "main" }, image: { image: "busybox" }, command },
    sandbox,
  );
  await runtime.startContainer(id);
  await turns();
  return { runtime, id, sandboxId };
}

const scripts: [name: string, script: string, lines: string[], exitCode: number][] = [
  [
    "prints and exits",
    "echo one; echo -n two; echo three >&2",
    ["stdout F one", "stderr F three", "stdout P two"],
    0,
  ],
  ["stops at &&", "false && echo no; echo yes", ["stdout F yes"], 0],
  ["continues after ||", "false || echo rescued", ["stdout F rescued"], 0],
  ["returns the last exit code", "true; false", [], 1],
  ["keeps quoted text together", `echo 'a; b' "c && d"`, ["stdout F a; b c && d"], 0],
  [
    "writes and reads files",
    "echo kept > /tmp/a; echo more >> /tmp/a; cat /tmp/a",
    ["stdout F kept", "stdout F more"],
    0,
  ],
  ["reports an unknown program", "frobnicate", ["stderr F sh: frobnicate: not found"], 127],
  ["runs a shell in a shell", "sh -c 'exit 9'", [], 9],
];
for (const [name, script, lines, exitCode] of scripts) {
  test(`the small shell ${name}`, async () => {
    const { runtime, id } = await container({}, ["sh", "-c", script]);
    const { status } = await runtime.containerStatus(id);
    assert.deepEqual([status.state, status.exitCode], [containerState.exited, exitCode]);
    assert.deepEqual(
      runtime.logLines(id).map((line) => line.replace(/^\S+ /, "")),
      lines,
    );
  });
}

test("containers run on the given clock", async () => {
  const clock = virtualClock(1_000_000);
  const { runtime, id } = await container({ clock }, ["sh", "-c", "sleep 10; exit 5"]);
  await clock.advance(9_999);
  assert.equal((await runtime.containerStatus(id)).status.state, containerState.running);
  await clock.advance(1);
  await turns();
  const { status } = await runtime.containerStatus(id);
  assert.deepEqual(
    [status.exitCode, status.startedAt, status.finishedAt],
    [5, 1_000_000_000_000n, 1_010_000_000_000n],
  );
});

test("the grace period uses the given clock", async () => {
  const clock = virtualClock();
  const { runtime, id } = await container({ clock }, ["sleep", "1000"]);
  let stopped = false;
  const stopping = runtime.stopContainer(id, 30).then(() => (stopped = true));
  await turns();
  await clock.advance(29_999);
  await turns();
  assert.equal(stopped, false);
  await clock.advance(1);
  await stopping;
  assert.equal((await runtime.containerStatus(id)).status.exitCode, 137);
});

test("a program can be any function", async () => {
  const programs = {
    main: async ({
      print,
      onTerm,
      forever,
    }: Parameters<NonNullable<FakeRuntimeOptions["programs"]>[string]>[0]): Promise<number> => {
      print("stdout", "mine\n");
      return Promise.race([forever(), new Promise<number>((resolve) => onTerm(() => resolve(42)))]);
    },
  };
  const { runtime, id } = await container({ programs }, ["whatever"]);
  assert.match(runtime.logLines(id)[0]!, / stdout F mine$/);
  await runtime.stopContainer(id, 10);
  assert.equal((await runtime.containerStatus(id)).status.exitCode, 42);
});

test("calls are recorded with their requests", async () => {
  const { runtime, id, sandboxId } = await container({}, ["sleep", "1000"]);
  await runtime.stopContainer(id, 0);
  assert.deepEqual(
    runtime.calls.map(({ method, request }) => [method, request]),
    [
      ["RunPodSandbox", { config: sandbox, runtimeHandler: "" }],
      [
        "CreateContainer",
        {
          podSandboxId: sandboxId,
          config: { metadata: { name: "main" }, image: { image: "busybox" }, command: ["sleep", "1000"] },
          sandboxConfig: sandbox,
        },
      ],
      ["StartContainer", { containerId: id }],
      ["StopContainer", { containerId: id, timeout: 0 }],
    ],
  );
});

test("calls fail, block or are refused as configured", async () => {
  const runtime = fakeRuntime();
  runtime.faults.fail("Version", new GrpcError("INTERNAL", "broken"), 2);
  for (const _ of [1, 2]) await assert.rejects(runtime.version(), { code: "INTERNAL" });
  assert.equal((await runtime.version()).runtimeApiVersion, "v1");
  runtime.faults.setDown(true);
  await assert.rejects(runtime.version(), { code: "UNAVAILABLE" });
  runtime.faults.setDown(false);
  const release = runtime.faults.hold("Version");
  let answered = false;
  const waiting = runtime.version().then(() => (answered = true));
  await turns();
  assert.equal(answered, false);
  release();
  await waiting;
});

test("a response can be lost after the call was executed", async () => {
  const runtime = fakeRuntime();
  runtime.faults.lose("RunPodSandbox");
  await assert.rejects(runtime.runPodSandbox(sandbox), { code: "UNAVAILABLE" });
  assert.equal((await runtime.listPodSandboxes()).length, 1);
  await assert.rejects(runtime.runPodSandbox(sandbox), /is reserved/);
});

test("events report a container's lifecycle unless disabled", async () => {
  const runtime = fakeRuntime({ images: ["busybox"] });
  const stop = new AbortController();
  const seen: [type: number, id: string][] = [];
  const listening = (async () => {
    for await (const event of runtime.containerEvents(stop.signal))
      seen.push([event.containerEventType, event.containerId]);
  })();
  await turns();
  const pod = await runtime.runPodSandbox(sandbox);
  const id = await runtime.createContainer(
    pod,
    { metadata: { name: "main" }, image: { image: "busybox" }, command: ["true"] },
    sandbox,
  );
  await runtime.startContainer(id);
  await turns();
  await runtime.removeContainer(id);
  await turns();
  stop.abort();
  await assert.rejects(listening, { code: "CANCELLED" });
  const { created, started, stopped, deleted } = containerEventType;
  assert.deepEqual(seen, [
    [created, pod],
    [started, pod],
    [created, id],
    [started, id],
    [stopped, id],
    [deleted, id],
  ]);
  const old = fakeRuntime({ events: false });
  await assert.rejects(old.containerEvents(stop.signal)[Symbol.asyncIterator]().next(), {
    code: "CANCELLED",
  });
  await assert.rejects(old.containerEvents(new AbortController().signal)[Symbol.asyncIterator]().next(), {
    code: "UNIMPLEMENTED",
  });
});

test("a container can be terminated externally, with a reason", async () => {
  const { runtime, id, sandboxId } = await container({}, ["sleep", "1000"]);
  runtime.end(id, 137, "OOMKilled");
  const { status } = await runtime.containerStatus(id);
  assert.deepEqual([status.exitCode, status.reason], [137, "OOMKilled"]);
  runtime.breakSandbox(sandboxId);
  assert.equal((await runtime.podSandboxStatus(sandboxId)).status.state, 1);
});
