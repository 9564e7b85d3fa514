import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type VirtualClock, virtualClock } from "#base";
import { dialectNamed } from "#dialect";
import { sourceIps } from "#filters";
import { eventually } from "#kit";
import { serve } from "../../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "audit-filter-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const dialect = dialectNamed("orch")!;

interface Recorded {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username?: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: Record<string, string>;
  readonly responseStatus?: { readonly code: number; readonly status?: string };
  readonly requestObject?: Record<string, unknown>;
  readonly responseObject?: Record<string, unknown>;
  readonly annotations?: Record<string, string>;
}

let files = 0;
const audited = (policy: object, ...flags: string[]) => auditedBy(undefined, policy, ...flags);
async function auditedBy(clock: VirtualClock | undefined, policy: object, ...flags: string[]) {
  const [policyFile, log] = [join(folder, `${++files}.yaml`), join(folder, `${files}.log`)];
  const kind = { apiVersion: `audit.${dialect.wire.groupSuffix}/v1`, kind: "Policy" };
  writeFileSync(policyFile, JSON.stringify({ ...kind, ...policy }));
  const served = await serve({
    flags: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log}`, ...flags],
    ...(clock && { clock }),
  });
  const events = (of = "configmaps"): Recorded[] =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Recorded)
      .filter(({ objectRef }) => objectRef?.["resource"] === of);
  return { ...served, events, log };
}
const maps = "/api/v1/namespaces/default/configmaps";

test("every stage of a request is recorded before its response is sent", async () => {
  const { must, events } = await audited({ rules: [{ level: "Metadata" }] });
  await must(201, "POST", maps, { body: { metadata: { name: "a" } } });
  const [received, complete] = events();
  assert.deepEqual([received!.stage, received!.responseStatus], ["RequestReceived", undefined]);
  assert.deepEqual([complete!.stage, complete!.responseStatus?.code], ["ResponseComplete", 201]);
  assert.equal(complete!.objectRef?.["name"], "a");
  assert.equal(complete!.annotations?.[dialect.names.audit.decision], "allow");
  assert.equal(complete!.requestObject, undefined);
});

test("in blocking mode batch options have no effect", async () => {
  const options = ["--audit-log-batch-max-size=1000", "--audit-log-batch-max-wait=1h"];
  const { must, events } = await audited({ rules: [{ level: "Metadata" }] }, ...options);
  await must(201, "POST", maps, { body: { metadata: { name: "a" } } });
  assert.equal(events().length, 2);
});

const forms: [name: string, accept: string][] = [
  ["JSON", "application/json"],
  ["YAML", "application/yaml"],
  ["protobuf", dialect.wire.protobufMediaType],
];
for (const [name, accept] of forms) {
  test(`bodies are recorded as JSON when the client accepts ${name}`, async () => {
    const { must, events } = await audited({
      omitStages: ["RequestReceived"],
      omitManagedFields: true,
      rules: [{ level: "RequestResponse" }],
    });
    await must(201, "POST", maps, { body: { metadata: { name: "a" }, data: { k: "v" } }, accept });
    await must(200, "DELETE", `${maps}/a`, { accept });
    const [created, deleted] = events();
    assert.deepEqual(created!.requestObject?.["data"], { k: "v" });
    assert.deepEqual(created!.responseObject?.["data"], { k: "v" });
    assert.equal(
      (created?.responseObject?.["metadata"] as { managedFields?: unknown } | undefined)?.managedFields,
      undefined,
    );
    assert.deepEqual(
      [deleted!.responseStatus?.status, deleted!.responseObject?.["kind"]],
      ["Success", "Status"],
    );
  });
}

test("an indented patch or response adds no lines to the log", async () => {
  const { ask, must, events } = await audited({
    omitStages: ["RequestReceived"],
    rules: [{ level: "RequestResponse" }],
  });
  const forged = JSON.stringify({ auditID: "forged", objectRef: { resource: "configmaps" } });
  await must(201, "POST", `${maps}?pretty=true`, { body: { metadata: { name: "a" } } });
  await ask("PATCH", `${maps}/a`, { type: "application/json-patch+json", body: `[\n${forged}\n]` });
  const indented = '{\n  "data": {\n    "k": "v"\n  }\n}';
  await must(200, "PATCH", `${maps}/a`, { type: "application/merge-patch+json", body: indented });
  assert.deepEqual(
    events().map(({ verb, responseStatus }) => `${verb} ${responseStatus?.code}`),
    ["create 201", "patch 422", "patch 200"],
  );
});

test("errors are recorded with their status, impersonation with its user, failed authentication without a user", async () => {
  const { ask, events, server } = await audited({
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  });
  await ask("GET", `${maps}/missing`, { headers: { "impersonate-user": "zoe" } });
  const refused = await server.inject({
    method: "GET",
    path: maps,
    trusted: undefined,
    headers: { authorization: "Bearer wrong" },
  });
  assert.equal(refused.status, 401);
  const [as, unauthenticated] = events();
  assert.deepEqual(
    [
      as!.impersonatedUser?.username,
      as!.responseStatus?.code,
      as!.annotations?.[dialect.names.audit.decision],
    ],
    ["zoe", 403, "forbid"],
  );
  assert.deepEqual(
    [unauthenticated!.stage, unauthenticated!.user, unauthenticated!.responseStatus?.code],
    ["ResponseStarted", {}, 401],
  );
});

test("a watch is recorded when it starts and when it ends", async () => {
  const clock = virtualClock(Date.now());
  const policy = { omitStages: ["RequestReceived"], rules: [{ level: "Metadata" }] };
  const { ask, events } = await auditedBy(clock, policy);
  let over = false;
  void ask("GET", `${maps}?watch=true&timeoutSeconds=1`).then(() => (over = true));
  await eventually(async () => over, { clock });
  assert.deepEqual(
    events()
      .slice(-2)
      .map(({ stage, verb }) => [stage, verb]),
    [
      ["ResponseStarted", "watch"],
      ["ResponseComplete", "watch"],
    ],
  );
});

test("in strict mode a request whose first event cannot be stored is refused and changes nothing", async () => {
  const { ask, must } = await audited(
    { rules: [{ level: "Metadata", verbs: ["create"] }] },
    "--audit-log-mode=blocking-strict",
    "--audit-log-path=/dev/full",
  );
  assert.equal((await ask("POST", maps, { body: { metadata: { name: "a" } } })).status, 500);
  await must(404, "GET", `${maps}/a`);
  assert.match((await must(200, "GET", "/metrics")).text, /apiserver_audit_requests_rejected_total 1\n/);
});

test("in blocking mode the request passes and the lost event is counted", async () => {
  const { must } = await audited({ rules: [{ level: "Metadata" }] }, "--audit-log-path=/dev/full");
  await must(201, "POST", maps, { body: { metadata: { name: "a" } } });
  assert.match((await must(200, "GET", "/metrics")).text, /apiserver_audit_error_total\{plugin="log"\} \d/);
});

test("a clean stop loses nothing that was buffered", async () => {
  const { must, server, log } = await audited(
    { omitStages: ["RequestReceived"], rules: [{ level: "Metadata", verbs: ["create"] }] },
    "--audit-log-mode=batch",
    "--audit-log-batch-max-size=100",
    "--audit-log-batch-max-wait=1h",
  );
  for (let i = 0; i < 20; i++) await must(201, "POST", maps, { body: { metadata: { name: `n-${i}` } } });
  await server.stop();
  assert.equal(readFileSync(log, "utf8").trim().split("\n").length, 20);
});

const sources: [name: string, headers: Record<string, string>, address: string, expected: string[]][] = [
  ["the peer", {}, "10.0.0.9", ["10.0.0.9"]],
  ["a mapped peer", {}, "::ffff:10.0.0.9", ["10.0.0.9"]],
  [
    "hops in order, then the peer",
    { "x-forwarded-for": "1.1.1.1, 2.2.2.2" },
    "10.0.0.9",
    ["1.1.1.1", "2.2.2.2", "10.0.0.9"],
  ],
  [
    "only valid addresses of hops",
    { "x-forwarded-for": "evil\n, 1.1.1.1" },
    "10.0.0.9",
    ["1.1.1.1", "10.0.0.9"],
  ],
  ["the peer once", { "x-real-ip": "10.0.0.9" }, "10.0.0.9", ["10.0.0.9"]],
];
for (const [name, headers, address, expected] of sources)
  test(`source addresses are ${name}`, () =>
    assert.deepEqual(sourceIps({ headers, peer: { address, certificates: () => [] } }), expected));

const everything = { omitStages: ["RequestReceived"], rules: [{ level: "RequestResponse" }] };

test("a request for an unknown path is recorded with its error", async () => {
  const { must, events } = await audited(everything);
  await must(400, "PUT", `${maps}/a`, { body: { metadata: { name: "other" }, data: { k: "v" } } });
  const [event] = events();
  assert.deepEqual(event!.requestObject?.["data"], { k: "v" });
  assert.equal(event!.objectRef?.["name"], "a");
});

test("delete options are recorded in their storage version", async () => {
  const { must, events } = await audited(everything);
  await must(201, "POST", maps, { body: { metadata: { name: "a" } } });
  await must(200, "DELETE", `${maps}/a`, { body: { gracePeriodSeconds: 0 } });
  const { requestObject } = events().find(({ verb }) => verb === "delete")!;
  assert.deepEqual(requestObject, {
    kind: "DeleteOptions",
    apiVersion: `meta.${dialect.wire.groupSuffix}/__internal`,
    gracePeriodSeconds: 0,
  });
});

test("an error in an encoding that was not requested is recorded by its code alone", async () => {
  const { must, events } = await audited(everything);
  const table = `application/json;as=Table;v=v1;g=meta.${dialect.wire.groupSuffix}`;
  for (const accept of [table, `${table},application/json`])
    await must(404, "GET", `${maps}/none`, { accept });
  const [alone, whole] = events();
  assert.deepEqual(alone!.responseStatus, { metadata: {}, code: 404 });
  assert.equal(alone!.responseObject, undefined);
  assert.equal(whole!.responseObject?.["reason"], "NotFound");
});

test("an unauthenticated request is recorded with its authentication method", async () => {
  const { must, events } = await audited(everything, "--anonymous-auth=false");
  const accept = `application/json;as=Table;v=v1;g=meta.${dialect.wire.groupSuffix}`;
  await must(401, "GET", maps, { accept, headers: { authorization: "Bearer wrong" }, trusted: null });
  assert.deepEqual(events()[0]!.responseStatus, {
    metadata: {},
    message: "Authentication failed, attempted: bearer",
    code: 401,
  });
});
