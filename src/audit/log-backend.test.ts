import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { eventOf } from "./audit.fixture.ts";
import { type AuditMode, sinkOf } from "./backend.ts";
import { logBackend } from "./log-backend.ts";

function harness({ failing = false, mode }: { failing?: boolean; mode?: AuditMode } = {}) {
  const written: string[] = [];
  const lost: number[] = [];
  const clock = virtualClock();
  const backend = logBackend({
    format: "json",
    apiVersion: "g/v1",
    mode: mode ?? "blocking",
    clock,
    lost: (count) => lost.push(count),
    file: {
      write: (text) => {
        if (failing) throw new Error("no space left");
        written.push(text);
      },
      close: async () => undefined,
    },
  });
  return { written, lost, backend, clock };
}

const idsIn = (texts: readonly string[]): string[] =>
  texts
    .join("")
    .trimEnd()
    .split("\n")
    .map((text) => (JSON.parse(text) as { auditID: string }).auditID);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const ids = ['a"b', "c", "d\u2028"];

test("events are written together before the first of their responses is sent", () => {
  const { written, backend } = harness();
  for (const auditId of ids) assert.equal(backend.process([eventOf({ auditId })]), undefined);
  assert.deepEqual(written, []);
  backend.flush!();
  assert.equal(written.length, 1);
  assert.deepEqual(idsIn(written), ids);
  backend.flush!();
  assert.equal(written.length, 1);
});

test("the first event of a request is written in the same turn of the event loop without a response", async () => {
  const { written, backend } = harness();
  for (const auditId of ids) void backend.process([eventOf({ auditId, stage: "RequestReceived" })]);
  await turn();
  assert.equal(written.length, 1);
  void backend.process([eventOf({ auditId: "e", stage: "RequestReceived" })]);
  await turn();
  assert.deepEqual(idsIn(written), [...ids, "e"]);
});

test("other events are written soon without a response", async () => {
  const { written, backend, clock } = harness();
  for (const auditId of ids) void backend.process([eventOf({ auditId })]);
  await turn();
  assert.deepEqual(written, []);
  await clock.advance(50);
  assert.equal(written.length, 1);
  void backend.process([eventOf({ auditId: "e" })]);
  await clock.advance(50);
  assert.deepEqual(idsIn(written), [...ids, "e"]);
  await clock.advance(1000);
  assert.equal(written.length, 2);
});

const sizes: [mode: AuditMode, padding: number][] = [
  ["batch", 0],
  ["blocking", 0],
  ["batch", 70_000],
  ["blocking", 70_000],
];
for (const [mode, padding] of sizes)
  test(`many events of ${padding} bytes and more are written in chunks with ${mode}, each once and in order`, async () => {
    const { written, backend } = harness({ mode });
    const many = Array.from({ length: padding > 0 ? 5 : 400 }, (_, at) => `id-${at}`);
    const requestObject = JSON.stringify("x".repeat(padding));
    await backend.process(many.map((auditId) => eventOf({ auditId, requestObject })));
    backend.flush!();
    assert.ok(written.length > 1 && written.length < 10, `${written.length}`);
    assert.deepEqual(idsIn(written), many);
  });

for (const mode of ["blocking", "blocking-strict"] as const)
  test(`the first event of a request is written ${mode === "blocking" ? "with its last" : "at once"} with ${mode}`, async () => {
    const { written, backend } = harness({ mode });
    void backend.process([eventOf({ auditId: "other" })]);
    const stored = backend.process([eventOf({ stage: "RequestReceived" })]);
    assert.equal(stored !== undefined, mode === "blocking-strict");
    assert.deepEqual(written.length > 0 ? idsIn(written) : [], stored ? ["other", "id-1"] : []);
    await stored;
    await backend.close();
    assert.deepEqual(idsIn(written), ["other", "id-1"]);
  });

const modes: [mode: AuditMode, continues: boolean][] = [
  ["blocking", true],
  ["blocking-strict", false],
];
for (const [mode, continues] of modes)
  test(`events that cannot be written are lost, and the request ${continues ? "continues" : "fails"} with ${mode}`, async () => {
    const { backend, lost } = harness({ failing: true, mode });
    const messages: string[] = [];
    const sink = sinkOf(backend, {
      name: "log",
      mode,
      lost: (name, count, error) => messages.push(`${name} ${count} ${error.message}`),
    });
    const stored = await sink.write(eventOf({ stage: "RequestReceived" }));
    assert.equal(stored ?? true, continues);
    for (let at = 0; at < 3; at++) void sink.write(eventOf());
    sink.flush();
    assert.deepEqual([lost, messages], continues ? [[4], []] : [[3], ["log 1 no space left"]]);
  });
