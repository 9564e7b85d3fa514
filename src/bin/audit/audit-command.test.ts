import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { auditCommand, printer } from "./audit-command.ts";
import { type EventFilter, type LoggedEvent, lineOf, matches } from "./event-line.ts";
import { objectDiff } from "./object-diff.ts";

const event = (more: LoggedEvent = {}): LoggedEvent & { kind: string } => ({
  kind: "Event",
  auditID: "id-1",
  stage: "ResponseComplete",
  verb: "patch",
  requestURI: "/apis/apps/v1/namespaces/default/deployments/web",
  user: { username: "alice" },
  objectRef: { resource: "deployments", apiGroup: "apps", namespace: "default", name: "web" },
  responseStatus: { code: 200 },
  requestReceivedTimestamp: "2026-01-31T10:00:00.123456Z",
  stageTimestamp: "2026-01-31T10:00:00.135456Z",
  ...more,
});

const lines: [name: string, event: LoggedEvent, line: string][] = [
  ["a change of an object", event(), "alice  patch deployments.apps/web in default: 200, 12 ms"],
  [
    "impersonation and a denied request",
    event({
      impersonatedUser: { username: "bob" },
      responseStatus: { code: 403, reason: "Forbidden" },
    }),
    "alice as bob  patch deployments.apps/web in default: 403, Forbidden, 12 ms",
  ],
  [
    "a subresource in the cluster scope",
    event({ verb: "get", objectRef: { resource: "nodes", name: "n1", subresource: "status" } }),
    "alice  get nodes/n1/status: 200, 12 ms",
  ],
  [
    "a path without a user",
    event({ verb: "get", requestURI: "/healthz\u001b[31m", objectRef: {}, user: {} }),
    "<none>  get /healthz\u{fffd}[31m: 200, 12 ms",
  ],
  ["a panic", event({ stage: "Panic" }), "alice  patch deployments.apps/web in default: panic, 12 ms"],
];
for (const [name, given, line] of lines)
  test(`a line shows ${name}`, () => assert.equal(lineOf(given), `2026-01-31 10:00:00.123  ${line}`));

const at = Date.parse("2026-01-31T10:00:00.123Z");
const filters: [filter: EventFilter, matches: boolean][] = [
  [{}, true],
  [{ user: "alice" }, true],
  [{ user: "bob" }, false],
  [{ verb: "get" }, false],
  [{ resource: "deployments" }, true],
  [{ resource: "deployments.apps" }, true],
  [{ resource: "deployments/scale" }, false],
  [{ namespace: "default", name: "web" }, true],
  [{ namespace: "" }, false],
  [{ code: "200" }, true],
  [{ code: "2xx" }, true],
  [{ code: "4xx" }, false],
  [{ id: "id-1" }, true],
  [{ since: at, until: at }, true],
  [{ since: at + 1 }, false],
  [{ until: at - 1 }, false],
];
for (const [filter, expected] of filters)
  test(`events are ${expected ? "" : "not "}matched by ${JSON.stringify(filter)}`, () =>
    assert.equal(matches(event(), filter), expected));

test("impersonating requests are found by both users", () => {
  const given = event({ impersonatedUser: { username: "bob" } });
  assert.deepEqual(
    ["alice", "bob", "eve"].map((user) => matches(given, { user })),
    [true, true, false],
  );
});

const diffs: [name: string, before: unknown, after: unknown, lines: string[]][] = [
  ["a changed field", { spec: { replicas: 1 } }, { spec: { replicas: 3 } }, ["~ spec.replicas: 1 → 3"]],
  ["an added and a removed field", { a: 1 }, { b: [2] }, ["- a: 1", "+ b: [2]"]],
  ["items of lists", { l: [{ i: "a" }] }, { l: [{ i: "b" }] }, ['~ l[0].i: "a" → "b"']],
  ["lists of another length", { l: [1] }, { l: [1, 2] }, ["~ l: [1] → [1,2]"]],
  ["no fields that change with every write", { metadata: { resourceVersion: "1" } }, { metadata: {} }, []],
  ["no values of secrets", { data: { p: "a" } }, { data: { p: "b" } }, ["~ data.p: … → …"]],
];
for (const [name, before, after, expected] of diffs)
  test(`a diff shows ${name}`, () => assert.deepEqual(objectDiff(before, after, ["data"]), expected));

test("a diff is limited in length", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, at]));
  assert.equal(objectDiff({}, many).length, 41);
});

test("changes are relative to the object's last state in the log", () => {
  const shown: string[] = [];
  const print = printer({ verb: "patch" }, { diff: true, json: false }, (text) => shown.push(text));
  const deployment = (replicas: number) => ({ kind: "Deployment", spec: { replicas } });
  print(JSON.stringify(event({ verb: "get", responseObject: deployment(1) })));
  print(JSON.stringify(event({ stage: "RequestReceived" })));
  print(JSON.stringify(event({ responseObject: deployment(3) })));
  assert.equal(print("not JSON"), false);
  assert.deepEqual(shown, [`${lineOf(event())}\n    ~ spec.replicas: 1 → 3\n`]);
});

test("orch audit reads plain and compressed files and reports invalid lines", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "audit-command-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [packed, plain] = [join(folder, "audit-1.log.gz"), join(folder, "audit.log")];
  writeFileSync(packed, gzipSync(`${JSON.stringify(event({ user: { username: "old" } }))}\n`));
  writeFileSync(plain, `${JSON.stringify(event())}\nhalf a li`);
  const shown: string[] = [];
  const complaints: string[] = [];
  const output = { out: (text: string) => shown.push(text), err: (text: string) => complaints.push(text) };
  assert.equal(await auditCommand(["--since", "1h", packed, plain], output, at + 60_000), 0);
  assert.deepEqual(
    shown.map((line) => line.split("  ")[1]),
    ["old", "alice"],
  );
  assert.deepEqual(complaints, ["lines that are not events in JSON were skipped: 1\n"]);
});

const wrong: [name: string, argv: string[], why: RegExp][] = [
  ["no file", [], /specify a log file/],
  ["a missing file", ["/nowhere/audit.log"], /ENOENT/],
  ["an invalid time", ["--since", "soon", "x"], /--since: soon is neither/],
  ["an unknown flag", ["--users", "a", "x"], /Unknown option '--users'/],
];
for (const [name, argv, why] of wrong)
  test(`orch audit with ${name} reports an error`, async () => {
    const complaints: string[] = [];
    const output = { out: () => undefined, err: (text: string) => void complaints.push(text) };
    assert.equal(await auditCommand(argv, output), 1);
    assert.match(complaints.join(""), why);
  });

test("orch audit names a file that cannot be read to its end", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "audit-command-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "audit.log.gz");
  writeFileSync(file, gzipSync(`${JSON.stringify(event())}\n`).subarray(0, 40));
  const complaints: string[] = [];
  const output = { out: () => undefined, err: (text: string) => void complaints.push(text) };
  assert.equal(await auditCommand([file], output), 1);
  assert.deepEqual(complaints, [`error: ${file}: unexpected end of file\n`]);
});
