import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf } from "./audit.fixture.ts";
import { type AuditMode, sinkOf } from "./backend.ts";
import { logBackend } from "./log-backend.ts";

function harness({ failing = false, strict = false } = {}) {
  const written: string[] = [];
  const backend = logBackend({
    format: "json",
    apiVersion: "g/v1",
    strict,
    file: {
      write: (text) => {
        if (failing) throw new Error("no space left");
        written.push(text);
      },
      close: async () => undefined,
    },
  });
  return { written, backend };
}

const idsIn = (texts: readonly string[]): string[] =>
  texts
    .join("")
    .trimEnd()
    .split("\n")
    .map((text) => (JSON.parse(text) as { auditID: string }).auditID);

test("requests go on when their events are written, which those of one turn are together", async () => {
  const { written, backend } = harness();
  const stored = ['a"b', "c", "d\u2028"].map((auditId) => backend.process([eventOf({ auditId })]));
  assert.deepEqual(written, []);
  for (const each of stored) await each;
  assert.equal(written.length, 1);
  assert.deepEqual(idsIn(written), ['a"b', "c", "d\u2028"]);
});

test("the events of a batch are written in a few parts, each once and in order", async () => {
  const { written, backend } = harness();
  const ids = Array.from({ length: 400 }, (_, at) => `id-${at}`);
  await backend.process(ids.map((auditId) => eventOf({ auditId })));
  assert.ok(written.length > 1 && written.length < 10, `${written.length}`);
  assert.deepEqual(idsIn(written), ids);
});

for (const strict of [false, true])
  test(`the first event of a request is ${strict ? "waited for" : "written behind it"}${strict ? " where it is strict" : ""}`, async () => {
    const { written, backend } = harness({ strict });
    const stored = backend.process([eventOf({ stage: "RequestReceived" })]);
    assert.equal(stored !== undefined, strict);
    await backend.close();
    await stored;
    assert.equal(written.length, 1);
  });

const modes: [mode: AuditMode, goesOn: boolean][] = [
  ["blocking", true],
  ["blocking-strict", false],
];
for (const [mode, goesOn] of modes)
  test(`an event that cannot be written is lost, and the request ${goesOn ? "goes on" : "fails"} with ${mode}`, async () => {
    const { backend } = harness({ failing: true });
    const lost: string[] = [];
    const sink = sinkOf(backend, {
      name: "log",
      mode,
      lost: (name, count, error) => lost.push(`${name} ${count} ${error.message}`),
    });
    assert.equal(await sink.write(eventOf()), goesOn);
    assert.deepEqual(lost, ["log 1 no space left"]);
  });
