import assert from "node:assert/strict";
import { test } from "node:test";
import { type VirtualClock, createMetrics, virtualClock } from "#base";
import { digest, limitedLevel, queuing, schemaFor } from "./digest.fixture.ts";
import { dumpLevels, dumpQueues, dumpRequests } from "./dump.ts";
import { type Admission, FlowControl, type NamedSchema } from "./flow-control.ts";
import type { LevelSpec, NamedLevel } from "./level.ts";

const mandatory = {
  levels: { exempt: { type: "Exempt" } as LevelSpec, "catch-all": limitedLevel(5) },
  schemas: { exempt: schemaFor("exempt", 1, "root"), "catch-all": schemaFor("catch-all", 10_000) },
};
const level = (name: string, spec: LevelSpec): NamedLevel => ({ name, uid: `uid of ${name}`, spec });
const schema = (name: string, spec: NamedSchema["spec"]): NamedSchema => ({
  name,
  uid: `uid of ${name}`,
  spec,
});
const never = (): AbortSignal => new AbortController().signal;

interface Setup {
  readonly clock: VirtualClock;
  readonly control: FlowControl;
  readonly expose: () => string;
  ask(userName: string, more?: Parameters<typeof digest>[0]): Admission | Promise<Admission>;
}

function setUp(
  levels: readonly NamedLevel[],
  schemas: readonly NamedSchema[],
  serverSeats = 10,
  objects = 0,
): Setup {
  const clock = virtualClock();
  const metrics = createMetrics();
  const control = new FlowControl({
    clock,
    metrics,
    serverSeats,
    maxWaitMilliseconds: 15_000,
    objectCount: () => objects,
    mandatory,
  });
  control.configure(levels, schemas);
  const ask: Setup["ask"] = (userName, more) => {
    const request = digest({ userName, ...more });
    return control.start(control.classify(request), request, never);
  };
  return { clock, control, ask, expose: () => metrics.expose() };
}

const isAdmitted = (
  admission: Admission | Promise<Admission>,
): admission is Extract<Admission, { admitted: true }> =>
  !(admission instanceof Promise) && admission.admitted;
const seatsOf = ({ control }: Setup, name: string): number =>
  control.levels.find((each) => each.name === name)!.currentSeats;

test("without objects, the mandatory configuration is in effect", () => {
  const { control } = setUp([], []);
  assert.equal(control.classify(digest({ userName: "root" })).level.name, "exempt");
  assert.equal(control.classify(digest()).level.name, "catch-all");
});

test("a schema whose level does not exist is not in effect", () => {
  const { control } = setUp([], [schema("dangling", schemaFor("nowhere", 5))]);
  assert.equal(control.classify(digest()).name, "catch-all");
});

test("a rejecting level serves as many requests as it has seats, and again when one is free", () => {
  const setup = setUp(
    [level("tiny", limitedLevel(5, { borrowingLimitPercent: 0 }))],
    [schema("tiny", schemaFor("tiny", 5))],
  );
  const admitted = Array.from({ length: 5 }, () => setup.ask("a"));
  assert.ok(admitted.every(isAdmitted));
  assert.deepEqual(setup.ask("a"), { admitted: false, why: "concurrency-limit" });
  assert.ok(isAdmitted(admitted[0]!) && (admitted[0].release(), true));
  assert.ok(isAdmitted(setup.ask("a")));
});

const oneSeat = limitedLevel(1, { borrowingLimitPercent: 0, ...queuing(1, 1, 2) });
const tiny = (spec = oneSeat): Setup =>
  setUp([level("tiny", spec)], [schema("tiny", schemaFor("tiny", 5))], 6);

test("a queuing level queues requests in order, and rejects them beyond the queue length", async () => {
  const setup = tiny();
  const first = setup.ask("a");
  const waiting = [setup.ask("a"), setup.ask("a")];
  assert.deepEqual(setup.ask("a"), { admitted: false, why: "queue-full" });
  assert.ok(isAdmitted(first));
  first.release();
  const second = await waiting[0]!;
  assert.ok(second.admitted);
  second.release();
  assert.ok((await waiting[1]!).admitted);
});

test("a request that waits too long is rejected", async () => {
  const setup = tiny();
  void setup.ask("a");
  const late = setup.ask("a");
  await setup.clock.advance(15_000);
  assert.deepEqual(await late, { admitted: false, why: "time-out" });
});

test("a client that disconnects while it waits is removed from the queue", async () => {
  const setup = tiny();
  void setup.ask("a");
  const gone = new AbortController();
  const request = digest({ userName: "a" });
  const left = setup.control.start(setup.control.classify(request), request, () => gone.signal);
  gone.abort();
  assert.deepEqual(await left, { admitted: false, why: "cancelled" });
  assert.equal(setup.control.levels.find(({ name }) => name === "tiny")?.queues?.waiting, 0);
});

test("flows take turns: one with many requests does not delay one with few", async () => {
  const setup = setUp(
    [level("shared", limitedLevel(1, { borrowingLimitPercent: 0, ...queuing(64, 4, 50) }))],
    [schema("shared", schemaFor("shared", 5, "*", "ByUser"))],
    6,
  );
  const first = setup.ask("busy");
  const order: string[] = [];
  const run = async (user: string): Promise<void> => {
    const admission = await setup.ask(user);
    order.push(user);
    await setup.clock.advance(3);
    if (admission.admitted) admission.release();
  };
  const all = [...Array.from({ length: 8 }, () => run("busy")), run("quiet")];
  assert.ok(isAdmitted(first));
  await setup.clock.advance(3);
  first.release();
  await Promise.all(all);
  assert.ok(order.indexOf("quiet") < 5, order.join());
});

test("a request takes its seats, and one with more than the level's seats is served alone", async () => {
  const wide = { verb: "list", parameters: { resourceVersion: "0" } };
  const setup = setUp(
    [level("lists", limitedLevel(5, { borrowingLimitPercent: 0, ...queuing(4, 1, 50) }))],
    [schema("lists", schemaFor("lists", 5))],
    40,
    200,
  );
  assert.equal(seatsOf(setup, "lists"), 20);
  const admitted = Array.from({ length: 10 }, () => setup.ask("a", wide));
  assert.ok(admitted.every(isAdmitted), "ten lists of two seats");
  const eleventh = setup.ask("a", wide);
  assert.ok(eleventh instanceof Promise);
  for (const each of admitted) if (isAdmitted(each)) each.release();
  assert.ok((await eleventh).admitted);
});

test("a write that notifies many watches holds its seats for a while after its response", async () => {
  const setup = tiny(limitedLevel(1, { borrowingLimitPercent: 0 }));
  for (let watch = 0; watch < 10; watch++) setup.control.watches.add(digest({ verb: "watch" }));
  const write = setup.ask("a", { verb: "create" });
  assert.ok(isAdmitted(write));
  write.release();
  assert.deepEqual(setup.ask("a"), { admitted: false, why: "concurrency-limit" });
  await setup.clock.advance(5);
  assert.ok(isAdmitted(setup.ask("a")));
});

test("levels lend unused seats and get them back on demand", async () => {
  const setup = setUp(
    [
      level("busy", limitedLevel(5, queuing(8, 2, 50))),
      level("idle", limitedLevel(5, { lendablePercent: 80, ...queuing(8, 2, 50) })),
    ],
    [schema("busy", schemaFor("busy", 5, "busy")), schema("idle", schemaFor("idle", 6, "idle"))],
    150,
  );
  const nominal = 50;
  assert.ok(seatsOf(setup, "busy") >= nominal);
  for (let request = 0; request < 120; request++) void setup.ask("busy");
  await setup.clock.advance(10_000);
  setup.control.rebalance();
  assert.ok(seatsOf(setup, "busy") > nominal, `${seatsOf(setup, "busy")} of ${nominal}`);
  assert.ok(seatsOf(setup, "idle") >= 10 && seatsOf(setup, "idle") < nominal);
  for (let request = 0; request < 60; request++) void setup.ask("idle");
  await setup.clock.advance(10_000);
  setup.control.rebalance();
  assert.ok(seatsOf(setup, "idle") >= nominal, `${seatsOf(setup, "idle")} of ${nominal}`);
});

test("a level that may not borrow is limited to its seats, and one that lends nothing keeps them", async () => {
  const setup = setUp(
    [
      level("a", limitedLevel(5, { borrowingLimitPercent: 0, ...queuing(8, 2, 50) })),
      level("b", limitedLevel(5, queuing(8, 2, 50))),
    ],
    [schema("a", schemaFor("a", 5, "a"))],
    150,
  );
  for (let request = 0; request < 100; request++) void setup.ask("a");
  await setup.clock.advance(10_000);
  setup.control.rebalance();
  assert.deepEqual([seatsOf(setup, "a"), seatsOf(setup, "b") >= 50], [50, true]);
});

test("a change is effective immediately: more seats start waiting requests", async () => {
  const setup = tiny();
  void setup.ask("a");
  const waiting = setup.ask("a");
  setup.control.configure(
    [level("tiny", limitedLevel(10, { borrowingLimitPercent: 0, ...queuing(1, 1, 2) }))],
    [schema("tiny", schemaFor("tiny", 5))],
  );
  assert.ok((await waiting).admitted);
});

test("a removed level finishes its requests and is then deleted", async () => {
  const setup = tiny();
  const [first, second] = [setup.ask("a"), setup.ask("a")];
  setup.control.configure([], []);
  const row = (): string | undefined =>
    dumpLevels(setup.control.levels)
      .split("\n")
      .find((line) => line.startsWith("tiny"));
  assert.match(row()!, /^tiny, +1, +false, +true, +1, +1,/);
  assert.ok(isAdmitted(first));
  first.release();
  const later = await second;
  assert.ok(later.admitted);
  later.release();
  assert.equal(row(), undefined);
});

test("the dumps show levels, queues and waiting requests", async () => {
  const setup = tiny();
  void setup.ask("a");
  void setup.ask("a");
  const { levels } = setup.control;
  assert.match(dumpLevels(levels), /^exempt, +<none>, +<none>,/m);
  assert.match(dumpQueues(levels), /^tiny, +0, +1, +1, +1, +0\.00300000ss, +1, +1, +0\.00300000ss$/m);
  assert.match(dumpRequests(levels, false), /^tiny, +tiny, +0, +0, +, +\S+Z, +1, +0, +0s$/m);
  assert.match(
    dumpRequests(levels, true),
    /0s, +a, +get, +\/api\/v1\/namespaces\/default\/pods, +default, +, +v1, +pods, +$/m,
  );
});

test("metrics show served and rejected requests and the numbers of seats", async () => {
  const setup = tiny(limitedLevel(1, { borrowingLimitPercent: 0 }));
  const first = setup.ask("a");
  void setup.ask("a");
  await setup.clock.advance(2000);
  if (isAdmitted(first)) first.release();
  const text = setup.expose();
  const flow = '{flow_schema="tiny",priority_level="tiny"';
  for (const line of [
    `apiserver_flowcontrol_dispatched_requests_total${flow}} 1`,
    `apiserver_flowcontrol_rejected_requests_total${flow},reason="concurrency-limit"} 1`,
    `apiserver_flowcontrol_current_executing_requests${flow}} 0`,
    `apiserver_flowcontrol_request_execution_seconds_bucket${flow},type="regular",le="2"} 1`,
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="tiny"} 1',
    'apiserver_flowcontrol_upper_limit_seats{priority_level="tiny"} 1',
    'apiserver_flowcontrol_priority_level_seat_utilization_bucket{phase="executing",priority_level="tiny",le="1"} 2000000000',
  ])
    assert.ok(text.includes(`${line}\n`), line);
});

const exemptLevel = (nominalConcurrencyShares: number, lendablePercent = 0): LevelSpec => ({
  type: "Exempt",
  exempt: { nominalConcurrencyShares, lendablePercent },
});

test("requests of an exempt level with shares are not limited, but take seats from other levels", () => {
  const lending = { lendablePercent: 100, ...queuing(1, 1, 50) };
  const setup = setUp(
    [level("exempt", exemptLevel(5)), level("catch-all", limitedLevel(5, lending))],
    [schema("exempt", schemaFor("exempt", 1, "root"))],
  );
  assert.deepEqual([seatsOf(setup, "exempt"), seatsOf(setup, "catch-all")], [5, 10]);
  const exempt = Array.from({ length: 8 }, () => setup.ask("root"));
  assert.ok(exempt.every(isAdmitted));
  for (let request = 0; request < 5; request++) void setup.ask("a");
  setup.control.rebalance();
  assert.deepEqual([seatsOf(setup, "exempt"), seatsOf(setup, "catch-all")], [8, 2]);
  assert.match(dumpLevels(setup.control.levels), /^exempt, +0, +false, +false, +0, +8,/m);
  for (const admission of exempt) if (isAdmitted(admission)) admission.release();
  setup.control.rebalance();
  setup.control.rebalance();
  assert.deepEqual([seatsOf(setup, "exempt"), seatsOf(setup, "catch-all")], [5, 5]);
});

test("a level of zero shares that may not borrow holds its requests", async () => {
  const jail = limitedLevel(0, { borrowingLimitPercent: 0, ...queuing(1, 1, 5) });
  const setup = setUp([level("jail", jail)], [schema("jail", schemaFor("jail", 5, "a"))]);
  const held = setup.ask("a");
  assert.ok(held instanceof Promise);
  assert.equal(seatsOf(setup, "jail"), 0);
  await setup.clock.advance(20_000);
  assert.deepEqual(await held, { admitted: false, why: "time-out" });
});
