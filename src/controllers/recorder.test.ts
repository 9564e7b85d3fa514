import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "#apiserver";
import { createLog, silentLog, virtualClock } from "#base";
import { type AnyObject, kinds } from "#client";
import { type Happening, recorder } from "./recorder.ts";

const now = Date.UTC(2030, 0, 1);
const regarding: AnyObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", uid: "u1", creationTimestamp: null },
};
const happening = (note: string): Happening => ({
  regarding,
  type: "Normal",
  reason: "Tried",
  action: "Trying",
  note,
});

test("what repeats counts up in one event, what differs is another, and a deleted event is written anew", async () => {
  await using server = await startServer({ store: "memory" });
  const events = server.client.of(kinds.events);
  const { record, sent } = recorder(server.client, virtualClock(now), silentLog, "mine");
  const written = async (): Promise<string[]> =>
    (await events.list({ namespace: "default" })).items
      .map(({ note, series, reportingController }) => `${note} ${series?.count ?? 1} ${reportingController}`)
      .toSorted();
  for (const note of ["a", "b", "a", "a"]) record(happening(note));
  await sent();
  assert.deepEqual(await written(), ["a 3 mine", "b 1 mine"]);
  await events.deleteMany({ namespace: "default" });
  record(happening("a"));
  await sent();
  assert.deepEqual(await written(), ["a 1 mine"]);
});

test("a note is cut to what the server takes", async () => {
  await using server = await startServer({ store: "memory" });
  const { record, sent } = recorder(server.client, virtualClock(now), silentLog, "mine");
  record(happening("n".repeat(5000)));
  await sent();
  assert.deepEqual(
    (await server.client.of(kinds.events).list({ namespace: "default" })).items.map(
      ({ note }) => note?.length,
    ),
    [1024],
  );
});

test("when too many events wait the newest are dropped, and both is told", async () => {
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => void lines.push(line), flush: () => undefined } });
  await using server = await startServer({ store: "memory" });
  const { client, faults } = server.kit.faultyClient();
  faults.plan({ answer: 500 }, { times: Infinity });
  const { record, sent } = recorder(client, virtualClock(now), log, "mine");
  for (let at = 0; at < 1005; at++) record(happening(String(at)));
  await sent();
  assert.equal(faults.met.length, 1000);
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /some are dropped/);
  assert.match(lines[1]!, /events were dropped" .*count=5\n/);
});
