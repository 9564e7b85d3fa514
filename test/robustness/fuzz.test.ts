import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as api from "#api";
import { type RunningServer, startServer } from "#apiserver";
import { type Log, type VirtualClock, silentLog, virtualClock } from "#base";
import { apiVersionOf, dialectNamed } from "#dialect";
import type { Message } from "#schema";
import { goodObjects } from "./fuzz-objects.ts";
import { type FuzzRequest, type FuzzTarget, fuzzRequests } from "./fuzz-requests.ts";

/** The default is small; a million and more with the variable (see README.md). */
const cases = Number(process.env["ORCH_FUZZ_CASES"] ?? 4000);
const seed = process.env["ORCH_FUZZ_SEED"] ? Number(process.env["ORCH_FUZZ_SEED"]) : 20_300_101;
const casesPerState = 500;
const dialect = dialectNamed("orch")!;

test(
  `${cases} odd requests: no crash, no 500, and refused requests change nothing`,
  { timeout: 3_600_000 },
  async (t) => {
    const clock = virtualClock(Date.UTC(2030, 0, 1));
    const surprises: string[] = [];
    const log: Log = {
      ...silentLog,
      error: (message, fields) => void surprises.push(`${message} ${String(fields?.["error"] ?? "")}`),
    };
    await using server = await startServer({ store: "memory", clock, log, flags: ["--event-ttl=87600h"] });
    const good = await prepare(server);
    const prepared = await server.kit.snapshot();
    const statuses = new Map<number, number>();
    const findings = new Map<string, { count: number; readonly example: FuzzRequest }>();
    const requests = fuzzRequests(await targetsOf(server, good), 12, dialect.wire.protobufMagic);
    for (let done = 0; done < cases; done += casesPerState) {
      await server.kit.rewind(prepared);
      for (const request of fc.sample(requests, {
        numRuns: Math.min(casesPerState, cases - done),
        seed: seed + done,
      })) {
        const [before, began] = [await settledRevision(server), clock.now()];
        const { status, text } = await answered(server, clock, request);
        // If the clock advanced, the server's own controllers may have changed something, too.
        const waited = clock.now() > began;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const problems = surprises.splice(0).map((text) => text.split("\n", 3).join(" "));
        const isUnexpected = status === 500 && !(impersonatesNobody(request) && missingUser.test(text));
        if (status < 200 || status > 599 || (isUnexpected && problems.length === 0))
          problems.push(`status ${status}`);
        if (status >= 400 && status < 500 && !waited && (await server.kit.revision()) !== before)
          problems.push(`${request.method} changed something and answered ${status}`);
        for (const what of problems) {
          const known = findings.get(what);
          if (known) known.count++;
          else findings.set(what, { count: 1, example: request });
        }
      }
    }
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    t.diagnostic(counts.join(", "));
    assert.equal(
      [...findings]
        .map(([what, { count, example }]) => `${count} × ${what}\n    ${shown(example)}`)
        .join("\n"),
      "",
    );
    assert.ok(
      (statuses.get(200) ?? 0) > cases / 50 && (statuses.get(201) ?? 0) > cases / 200,
      "hardly any request succeeded: the fuzz does not reach deep enough",
    );
  },
);

/** kube-apiserver refuses that with a 500 and this text. */
const missingUser = /^Internal Server Error: ".*": requested \[\{.*\}\] without impersonating a user\n$/s;
function impersonatesNobody({ headers }: FuzzRequest): boolean {
  const names = Object.keys(headers ?? {}).filter((name) => /^impersonate-(group|uid|extra-)/.test(name));
  return names.length > 0 && !headers?.["impersonate-user"];
}

const json = { "content-type": "application/json" };
const found: [what: string, request: FuzzRequest, status: number][] = [
  [
    "a delete whose response type is not acceptable",
    {
      method: "DELETE",
      path: "/api/v1/namespaces/default/serviceaccounts/a",
      headers: { accept: "text/plain" },
    },
    406,
  ],
  [
    "a subresource called __proto__",
    {
      method: "PUT",
      path: "/api/v1/namespaces/default/resourcequotas/b/__proto__",
      headers: json,
      body: '{"metadata":{"name":"b"}}',
    },
    404,
  ],
  [
    "a secret without a value",
    {
      method: "POST",
      path: "/api/v1/namespaces/default/secrets",
      headers: json,
      body: '{"metadata":{"name":"c"},"data":{"a":null}}',
    },
    201,
  ],
  [
    "a resource called __proto__",
    {
      method: "POST",
      path: "/api/v1/namespaces/default/pods",
      headers: json,
      body: '{"metadata":{"name":"c"},"spec":{"serviceAccountName":"a","containers":[{"name":"c","image":"i","resources":{"requests":{"__proto__":"18m"}}}]}}',
    },
    422,
  ],
  [
    "an embedded object that is not JSON",
    {
      method: "PUT",
      path: "/apis/apps/v1/namespaces/default/controllerrevisions/a",
      headers: { "content-type": "application/vnd.orch.protobuf" },
      body: Buffer.from(
        "azhzAAodCgdhcHBzL3YxEhJDb250cm9sbGVyUmV2aXNpb24SKAoZCgFhEgAaACIAKgAyADgAQgBaBgoBYRIBYhIJCgd7ImEiOTF9GAEaACIA",
        "base64",
      ),
    },
    400,
  ],
  [
    "an address type called __proto__",
    {
      method: "PUT",
      path: `/apis/discovery.orch.io/v1/namespaces/default/endpointslices/a`,
      headers: json,
      body: '{"metadata":{"name":"a"},"addressType":"__proto__","endpoints":[{"addresses":["10.0.0.1"]}]}',
    },
    422,
  ],
  [
    "a method that every JavaScript object has",
    { method: "constructor", path: "/api/v1/namespaces/default/configmaps/a", headers: {} },
    405,
  ],
  [
    "a large integer in a rejected value",
    {
      method: "PATCH",
      path: "/apis/batch/v1/namespaces/default/jobs/b",
      headers: { "content-type": "application/merge-patch+json" },
      body: '{"spec":{"template":{"metadata":{"generation":6979268064707918001}}}}',
    },
    422,
  ],
];
test("requests that once failed are answered, and refused ones change nothing", async (t) => {
  const surprises: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields) => void surprises.push(`${message} ${String(fields?.["error"] ?? "")}`),
  };
  await using server = await startServer({ store: "memory", log });
  await prepare(server);
  for (const [what, request, status] of found) {
    await t.test(what, async () => {
      const before = await server.kit.revision();
      const answer = await server.inject(request);
      const text = await answer.text();
      assert.deepEqual(surprises.splice(0), []);
      assert.equal(answer.status, status, text);
      if (status >= 400) assert.equal(await server.kit.revision(), before);
    });
  }
});

const shown = ({ body, ...rest }: FuzzRequest): string =>
  `${JSON.stringify(rest)} ${typeof body === "string" ? body.slice(0, 2000) : body ? `base64 ${Buffer.from(body).toString("base64")}` : ""}`;

/** Creates two objects of many kinds that requests can refer to, and returns them by collection path. */
async function prepare({ client }: RunningServer): Promise<Map<string, object[]>> {
  await client.request("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  const made = new Map<string, object[]>();
  for (const [path, body] of Object.entries(goodObjects(dialect) as Record<string, { metadata?: object }>)) {
    for (const name of ["a", "b"]) {
      const object = (await client.request("POST", path, {
        ...body,
        metadata: { ...body.metadata, name, labels: { a: "b" } },
      })) as {
        metadata: Record<string, unknown>;
      };
      const {
        uid: _uid,
        resourceVersion: _version,
        managedFields: _fields,
        creationTimestamp: _created,
        ...metadata
      } = object.metadata;
      made.set(path, [...(made.get(path) ?? []), { ...object, metadata }]);
    }
  }
  return made;
}

/** Returns every resource that discovery lists. */
async function targetsOf(
  { client }: RunningServer,
  good: ReadonlyMap<string, object[]>,
): Promise<FuzzTarget[]> {
  const byName = new Map<string, Message>();
  for (const value of Object.values(api) as unknown[]) {
    const found =
      typeof value === "object" && value !== null && !("shape" in value) ? Object.values(value) : [value];
    for (const message of found as Message[])
      if (message?.shape === "message" && message.kind)
        byName.set(
          `${apiVersionOf(dialect, message.kind)} ${message.kind.kind}`,
          api.inDialect(dialect, message),
        );
  }
  const { groups } = (await client.request("GET", "/apis")) as {
    groups: { versions: { groupVersion: string }[] }[];
  };
  const versions = [
    "v1",
    ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion)),
  ];
  const targets: FuzzTarget[] = [];
  for (const version of versions) {
    const root = version === "v1" ? "/api/v1" : `/apis/${version}`;
    const { resources } = (await client.request("GET", root)) as {
      resources: { name: string; kind: string; namespaced: boolean }[];
    };
    for (const { name, kind, namespaced } of resources) {
      if (name.includes("/")) continue;
      const subresources = resources
        .filter((other) => other.name.startsWith(`${name}/`))
        .map((other) => other.name.slice(name.length + 1))
        // Proxy requests would connect to other hosts.
        .filter((part) => part !== "proxy");
      targets.push({
        root,
        apiVersion: version,
        kind,
        plural: name,
        namespaced,
        subresources,
        schema: byName.get(`${version} ${kind}`),
        good: good.get(`${root}${namespaced ? "/namespaces/default" : ""}/${name}`) ?? [],
      });
    }
  }
  return targets;
}

/**
 * Returns the revision once the server's controllers have finished their reactions to earlier requests: for
 * instance, they write the conditions of flow schemas after a priority level is deleted.
 */
async function settledRevision(server: RunningServer): Promise<number> {
  for (let revision = await server.kit.revision(); ;) {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    const now = await server.kit.revision();
    if (now === revision) return now;
    revision = now;
  }
}

/** Reading files, such as those below /logs, takes real time. */
const mostRealMilliseconds = 10_000;

/** Returns the status of an exchange that threw: 200 if it was aborted; any other exception is a crash. */
function failed(error: unknown): number {
  if ((error as Error).name === "AbortError") return 200;
  throw error;
}

/**
 * Reads the body and returns the status; leaves a stream after a while. Advances the clock for requests that
 * wait for time to pass.
 */
interface Answer {
  readonly status: number;
  readonly text: string;
}

async function answered(server: RunningServer, clock: VirtualClock, request: FuzzRequest): Promise<Answer> {
  const stop = new AbortController();
  let over = false;
  const exchange = (async () => {
    const answer = await server.inject({ ...request, signal: stop.signal });
    const chunks: Uint8Array[] = [];
    // Only bodies of errors are kept: a response may be large.
    for await (const chunk of answer.chunks) if (answer.status >= 500) chunks.push(chunk);
    return { status: answer.status, text: Buffer.concat(chunks).toString() };
  })().finally(() => (over = true));
  exchange.catch(() => undefined);
  for (let turn = 0; !over && turn < 200; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn === 20 || turn === 60) await clock.advance(5000);
    if (turn === 100) stop.abort();
  }
  const end = performance.now() + mostRealMilliseconds;
  while (!over && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  return over
    ? await exchange.catch((error: unknown) => ({ status: failed(error), text: "" }))
    : { status: -1, text: "" };
}
