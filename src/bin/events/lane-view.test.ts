// The timeline as shown in a terminal.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline, TimelineEntry } from "#timeline";
import { plain } from "../output.ts";
import { timelinePath } from "./events-command.ts";
import { laneView } from "./lane-view.ts";

const start = Date.parse("2030-01-01T00:00:00Z");
const entry = (second: number, type: string, kind: string, name: string, note = ""): TimelineEntry => ({
  id: `${kind}${name}${second}`,
  time: `2030-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`,
  type,
  object: { kind, name, uid: `${kind}-${name}` },
  reason: type,
  note,
});
const timeline = (more: Partial<Timeline>): Timeline => ({
  kind: "Timeline",
  apiVersion: "v1",
  metadata: { cursor: "0.0" },
  missing: { eventsEvicted: 0, eventsFolded: 0, changesDropped: 0, changesSince: "", withheld: [] },
  items: [],
  ...more,
});
const lane = (kind: string, name: string, owner?: string) => ({
  object: { kind, name, uid: `${kind}-${name}` },
  owners: owner === undefined ? [] : [{ kind: "X", name: "x", uid: owner }],
  counts: {},
  first: "",
  last: "",
});

test("objects are shown below their owners, each with its lane", () => {
  const items = [
    entry(0, "Created", "Deployment", "web"),
    entry(20, "Created", "Pod", "a"),
    entry(30, "Normal", "Pod", "a", "pulled"),
    entry(50, "Warning", "Pod", "a", "back\u001b[31m off"),
  ];
  const tree = [lane("Deployment", "web"), lane("Pod", "a", "Deployment-web")];
  const view = laneView(timeline({ items, tree }), { width: 28, since: start, until: start + 60_000 });
  assert.deepEqual(view.split("\n").slice(0, 9), [
    "Deployment/web  +···········",
    "└ Pod/a         ····+·*···!·",
    "                00:00:00 00:01:00",
    "",
    "+ created   ~ changed   - deleted   * event   ! warning",
    "",
    "TIME                 TYPE     OBJECT          REASON   BY  NOTE",
    "2030-01-01 00:00:00  Created  Deployment/web  Created",
    "2030-01-01 00:00:20  Created  Pod/a           Created",
  ]);
  assert.ok(view.includes("back\\u001b[31m off"));
});

test("missing entries are reported", () => {
  const missing = {
    eventsEvicted: 2,
    eventsFolded: 5,
    changesDropped: 1,
    changesSince: "",
    withheld: ["secrets"],
  };
  const change = { ...entry(1, "Changed", "Pod", "a"), controller: "tool", change: { user: "anna" } };
  const metadata = { cursor: "0.0", continue: "more" };
  const view = laneView(timeline({ items: [change as TimelineEntry], missing, metadata }), {
    width: 80,
    since: start,
    until: start + 1000,
  });
  assert.match(view, /3 older entries were dropped to limit memory\./);
  assert.match(view, /5 events were folded into series\./);
  assert.match(view, /Only the newest 1 are shown\./);
  assert.match(view, /Changed +anna/);
  assert.match(view, /since you may not read: secrets\./);
  assert.equal(laneView(timeline({}), { width: 80, since: 0, until: 1 }), "No events in this time range.\n");
});

test("control characters are escaped", () => {
  assert.equal(plain("a\u0000b\u202ec\u2028d\u009be"), "a\\u0000b\\u202ec\\u2028d\\u009be");
});

test("an object is given as kind and name", () => {
  const settings = { namespace: "", allNamespaces: false, tree: true, since: 60_000 };
  assert.match(
    timelinePath("deploy/web", settings),
    /\/namespaces\/default\/timelines\?since=60000ms&limit=5000&order=newest&kind=deploy&name=web&tree=true$/,
  );
  assert.match(
    timelinePath(undefined, { ...settings, tree: false, allNamespaces: true }),
    /\/v1\/timelines\?/,
  );
  assert.throws(() => timelinePath("web", settings), /"web" is not kind\/name/);
  assert.throws(() => timelinePath(undefined, settings), /--tree needs an object/);
});
