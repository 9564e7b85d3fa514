import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import { type Call, GrpcError, parseQuery } from "#http";
import type { PodRegistry } from "../interfaces.ts";
import { samplePod } from "../pod.fixture.ts";
import { type PodAccess, podAccess } from "./pod-access.ts";

const pod = samplePod({ containers: [{ name: "c" }, { name: "ended" }] }, { uid: "u1" });

function setUp(t: TestContext, error?: Error) {
  const checkpointFolder = mkdtempSync(join(tmpdir(), "orch-access-"));
  t.after(() => rmSync(checkpointFolder, { recursive: true }));
  const timeouts: number[] = [];
  const answer = async (): Promise<string> => {
    if (error) throw error;
    return "http://127.0.0.1:1/x";
  };
  const runtime = {
    exec: answer,
    attach: answer,
    portForward: answer,
    checkpointContainer: async (_: string, __: string, seconds: number) => void timeouts.push(seconds),
  } as unknown as ContainerRuntime;
  const registry = {
    byName: (_: string, name: string) => (name === "p" ? pod : undefined),
    isUidOf: (_: unknown, uid: string) => uid === "u1",
    sandboxId: () => "s",
    containers: () => [
      { name: "c", id: "c0", state: "running" },
      { name: "ended", id: "e0", state: "exited" },
    ],
  } as unknown as PodRegistry;
  const access = podAccess({
    clock: virtualClock(),
    registry,
    runtime,
    limits: { idleMilliseconds: 0, wholeMilliseconds: 0 },
    checkpointFolder,
  });
  /** Returns status and body of a request. */
  const ask = async (what: keyof PodAccess, parts: object, search = "output=1"): Promise<string> => {
    const call = {
      method: "POST",
      path: "/",
      headers: { upgrade: "SPDY/3.1" },
      upgradable: true,
      signal: new AbortController().signal,
    } as unknown as Call;
    const found = { namespace: "ns", pod: "p", container: "c", ...parts };
    const reply = await access[what]({ call, query: parseQuery(search), parts: found });
    const retry = reply.headers["retry-after"];
    return `${reply.status} ${Buffer.isBuffer(reply.body) ? reply.body.toString() : ""}${retry ? ` retry ${String(retry)}` : ""}`;
  };
  return { ask, timeouts };
}

const otherUid = { uid: "other" };
const mismatches: [what: keyof PodAccess, answer: string][] = [
  ["exec", '500 container not found ("c")'],
  ["run", '500 container not found ("c")'],
  ["attach", "500 container c not found in pod a_n"],
  ["portForward", "404 pod not found"],
];
for (const [what, answer] of mismatches)
  test(`${what} of a pod with another UID is answered ${answer}`, async (t) =>
    assert.equal(await setUp(t).ask(what, otherUid), answer));

const failures: [code: string, answer: string][] = [
  ["NOT_FOUND", "404 rpc error: code = NotFound desc = no"],
  ["RESOURCE_EXHAUSTED", "429 rpc error: code = ResourceExhausted desc = no retry 60"],
  ["UNKNOWN", "500 rpc error: code = Unknown desc = no"],
];
for (const [code, answer] of failures)
  test(`a stream that the runtime refuses with ${code} is answered ${answer.slice(0, 3)}`, async (t) => {
    const { ask } = setUp(t, new GrpcError(code as never, "no"));
    for (const what of ["exec", "attach", "portForward"] as const) assert.equal(await ask(what, {}), answer);
  });

const checkpoints: [search: string, parts: object, answer: string][] = [
  ["timeout=x", {}, "404 cannot parse value of timeout parameter"],
  ["timeout=9223372036854775808", {}, "404 cannot parse value of timeout parameter"],
  [
    "timeout=-1",
    {},
    "500 checkpointing of ns/p/c failed (CheckpointContainer requires the timeout value to be > 0)",
  ],
  ["", { container: "ended" }, "500 checkpointing of ns/p/ended failed (container ended not found)"],
  ["", { container: "nope" }, "404 container nope does not exist"],
];
for (const [search, parts, answer] of checkpoints)
  test(`a checkpoint of ${JSON.stringify(parts)} with ${search || "no timeout"} is refused`, async (t) =>
    assert.equal(await setUp(t).ask("checkpoint", parts, search), answer));

test("of several timeouts of a checkpoint the last one counts", async (t) => {
  const { ask, timeouts } = setUp(t);
  assert.match(await ask("checkpoint", {}, "timeout=x&timeout=%2B7"), /^200 \{"items":\[/);
  assert.deepEqual(timeouts, [7]);
});
