import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { type EventLimit, eventRateLimit } from "./event-rate-limit.ts";

const limit = (type: EventLimit["type"], burst = 1): EventLimit => ({
  type,
  perSecond: 1,
  burst,
  maxKeys: 10,
});
const event = (given: Partial<AdmissionAttributes> = {}): AdmissionAttributes =>
  attributesOf({
    resource: { group: "", version: "v1", resource: "events" },
    object: { regarding: { name: "p" }, deprecatedSource: { component: "c" } },
    ...given,
  });
const harness = (...limits: EventLimit[]) => {
  const clock = virtualClock();
  const plugin = eventRateLimit(limits, clock);
  return {
    clock,
    write: (given?: Partial<AdmissionAttributes>) =>
      resultOrCode(async () => (await plugin.validate!(event(given))).length),
  };
};

const others: [
  type: EventLimit["type"],
  same: Partial<AdmissionAttributes>,
  other: Partial<AdmissionAttributes> | undefined,
][] = [
  ["Server", { namespace: "other" }, undefined],
  ["Namespace", { user: { name: "other", groups: [] } }, { namespace: "other" }],
  ["User", { namespace: "other" }, { user: { name: "other", groups: [] } }],
  [
    "SourceAndObject",
    { namespace: "other" },
    { object: { regarding: { name: "q" }, deprecatedSource: { component: "c" } } },
  ],
];
for (const [type, same, other] of others)
  test(`a limit of type ${type} counts events with the same key`, async () => {
    const { write } = harness(limit(type));
    assert.equal(await write(), 0);
    assert.equal(await write(same), "429");
    if (other) assert.equal(await write(other), 0);
  });

test("the bucket is refilled over time, up to the burst", async () => {
  const { write, clock } = harness(limit("Server", 2));
  for (const expected of [0, 0, "429"]) assert.equal(await write(), expected);
  await clock.advance(1000);
  for (const expected of [0, "429"]) assert.equal(await write(), expected);
  await clock.advance(60_000);
  for (const expected of [0, 0, "429"]) assert.equal(await write(), expected);
});

test("every limit is charged, even when another one refuses", async () => {
  const { write } = harness(limit("Namespace", 1), limit("User", 2));
  assert.equal(await write(), 0);
  assert.equal(await write(), "429");
  assert.equal(await write({ namespace: "other" }), "429");
});

test("events of the newer API group and dry runs are not limited", async () => {
  const { write } = harness(limit("Server"));
  await write();
  assert.equal(await write({ resource: { group: "events.x", version: "v1", resource: "events" } }), 0);
  assert.equal(await write({ dryRun: true }), 0);
});

test("the refusal lists every limit that was reached, with its key", async () => {
  const plugin = eventRateLimit(
    [limit("User"), limit("SourceAndObject"), limit("Server", 2)],
    virtualClock(),
  );
  const write = (): Promise<unknown> => Promise.resolve(plugin.validate!(event({ namespace: "n" })));
  await write();
  const { user } = event();
  const texts = [
    `limit reached on type User for key ${user.name}`,
    "limit reached on type SourceAndObject for key cp",
    "limit reached on type Server for key ",
  ];
  await assert.rejects(write(), { message: `Too many requests: [${texts.slice(0, 2).join(", ")}]` });
  await assert.rejects(write(), { message: `Too many requests: [${texts.join(", ")}]` });
});
