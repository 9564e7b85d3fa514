// scanEvent returns the same as readEvent on the parsed event.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "#api";
import type { CachedObject } from "#watchcache";
import { scanEvent } from "./scan-event.ts";
import { readEvent } from "./stored-event.ts";

const time = "2030-01-01T00:00:00.000001Z";
const later = "2030-01-01T00:00:09.000000Z";
const event = (more: object): Event =>
  ({
    kind: "Event",
    apiVersion: "v1",
    metadata: {
      name: "a",
      namespace: "n",
      creationTimestamp: "2029-01-01T00:00:00Z",
      annotations: {
        eventTime: later,
        host: "wrong",
        lastObservedTime: later,
        deprecatedFirstTimestamp: later,
      },
    },
    eventTime: null,
    reportingController: "c",
    reason: "R",
    regarding: { kind: "Pod", namespace: "n", name: "p", uid: "u" },
    note: 'says "eventTime":"x" and "host":"y"',
    type: "Normal",
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    ...more,
  }) as unknown as Event;

const series = { count: 3, lastObservedTime: later };
const cases: [name: string, event: Event][] = [
  ["of the events group", event({ eventTime: time })],
  [
    "of the core group",
    event({
      deprecatedFirstTimestamp: "2030-01-01T00:00:00Z",
      deprecatedLastTimestamp: "2030-01-01T00:00:05Z",
    }),
  ],
  ["with a last time only", event({ deprecatedLastTimestamp: "2030-01-01T00:00:05Z" })],
  [
    "with a host that needs escapes",
    event({ eventTime: time, deprecatedSource: { component: "k", host: 'ä"\\' } }),
  ],
  ["about a node", event({ eventTime: time, regarding: { kind: "Node", name: "n1", apiVersion: "v1" } })],
  [
    "of another group",
    event({ eventTime: time, regarding: { kind: "X", name: "x", apiVersion: "g.io/v1" } }),
  ],
  ["without any time", event({})],
];

const cached = (stored: Event): CachedObject =>
  ({
    json: Buffer.from(JSON.stringify(stored)),
    namespace: stored.metadata.namespace,
  }) as unknown as CachedObject;

for (const [name, stored] of cases)
  test(`an event ${name} is read from its bytes`, () =>
    assert.deepEqual(scanEvent(cached(stored)), readEvent(stored)));

test("an event with a series is read from its bytes", () => {
  const { eventTime: _, metadata, ...rest } = event({});
  // The series must follow the time, as declared.
  const stored = { metadata, eventTime: time, series, ...rest } as unknown as Event;
  const read = readEvent(stored);
  assert.deepEqual(scanEvent(cached(stored)), read);
  assert.equal(read.last - read.first, 8_999_999);
});
