// Event limits and folding in a whole server: events deleted early are counted and reported.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { foldedAnnotation, timelineGroup } from "#dialect";
import { until } from "#kit";
import { type Json, at, each, newEvent, serve } from "../../server.fixture.ts";

const timeline = `/apis/${timelineGroup}/v1`;

test("a limit keeps the newest events and all warnings, and reports how many were deleted", async () => {
  const { must, place } = await serve({ flags: ["--event-max-count-per-namespace=3"] });
  const ns = await place();
  const events = `/apis/events.orch.io/v1/namespaces/${ns}/events`;
  const names = async (): Promise<unknown[]> =>
    each((await must(200, "GET", events)).json["items"], "metadata.name");
  await must(201, "POST", events, { body: newEvent("w", ns, { type: "Warning" }) });
  for (const name of ["a", "b", "c", "d"]) await must(201, "POST", events, { body: newEvent(name, ns) });
  await until("the oldest are gone", async () => (await names()).length === 3);
  assert.deepEqual(await names(), ["c", "d", "w"]);
  await until("they are counted", async () => {
    const answer = await must(200, "GET", `${timeline}/namespaces/${ns}/timelines`);
    return answer.at("missing.eventsEvicted") === 2;
  });
  const { text } = await must(200, "GET", "/metrics");
  assert.match(text, /^apiserver_event_evictions_total\{limit="namespace",type="Normal"\} 2$/m);
});

test("floods are folded into a series with their count, keeping the first and the last event", async () => {
  const clock = virtualClock(Date.parse("2030-01-01T00:00:00Z"));
  const { must, place } = await serve({ flags: ["--event-fold-after=2"], clock });
  const ns = await place();
  const events = `/apis/events.orch.io/v1/namespaces/${ns}/events`;
  for (const second of [1, 2, 3, 4, 5])
    await must(201, "POST", events, {
      body: newEvent(`e${second}`, ns, { eventTime: `2030-01-01T00:00:0${second}.000000Z` }),
    });
  await must(201, "POST", events, { body: newEvent("other", ns, { reason: "Other" }) });
  const items = async (): Promise<Json[]> => (await must(200, "GET", events)).json["items"] as Json[];
  await until("the flood is folded", async () => {
    await clock.advance(1000);
    return (await items()).length === 3;
  });
  const found = await items();
  assert.deepEqual(each(found, "metadata.name"), ["e1", "e5", "other"]);
  assert.deepEqual(at(found[0], "series"), { count: 4, lastObservedTime: "2030-01-01T00:00:04.000000Z" });
  assert.equal((at(found[0], "metadata.annotations") as Json)[foldedAnnotation], "3");
  await until("the timeline tells it", async () => {
    const { json } = await must(200, "GET", `${timeline}/namespaces/${ns}/timelines?reason=Tested`);
    return at(json, "missing.eventsFolded") === 3 && at(json, "items.0.series.folded") === 3;
  });
});

test("changes beyond the memory budget are dropped early, and responses report it", async () => {
  const { must, place } = await serve({ flags: ["--timeline-max-bytes=3000"] });
  const ns = await place();
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  for (const at of Array.from({ length: 20 }).keys())
    await must(201, "POST", maps, { body: { metadata: { name: `m${at}` } } });
  const { json } = await must(200, "GET", `${timeline}/namespaces/${ns}/timelines?kind=ConfigMap`);
  const names = each(json["items"], "object.name");
  assert.equal(names.at(-1), "m19");
  assert.ok(names.length < 20, `${names.length} are kept`);
  assert.ok(Number(at(json, "missing.changesDropped")) >= 20 - names.length);
  assert.ok(String(at(json, "missing.changesSince")) <= String(at(json, "items.0.time")));
});
