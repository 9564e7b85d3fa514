import assert from "node:assert/strict";
import { type Duplex, PassThrough } from "node:stream";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { dialects } from "#dialect";
import { FlowControl, type LevelSpec, type SchemaSpec } from "#fairness";
import type { Reply } from "#http";
import { apiCall, pending, turn } from "#kit";
import { fairness } from "./fairness.ts";

const everything = {
  resourceRules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true },
  ],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const schemaOf = (level: string, precedence: number, subject: object): SchemaSpec =>
  ({
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    rules: [{ subjects: [subject], ...everything }],
  }) as SchemaSpec;
const mandatory = {
  levels: {
    exempt: { type: "Exempt" } as LevelSpec,
    "catch-all": {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } },
    } as LevelSpec,
  },
  schemas: {
    exempt: schemaOf("exempt", 1, { kind: "Group", group: { name: "system:masters" } }),
    "catch-all": schemaOf("catch-all", 10_000, { kind: "Group", group: { name: "*" } }),
  },
};

/** A filter with one seat for requests that are not exempt. */
function setUp() {
  const clock = virtualClock();
  const flowControl = new FlowControl({
    clock,
    metrics: createMetrics(),
    serverSeats: 1,
    maxWaitMilliseconds: 15_000,
    objectCount: () => 0,
    mandatory,
  });
  flowControl.configure(
    Object.entries(mandatory.levels).map(([name, spec]) => ({ name, uid: `level ${name}`, spec })),
    Object.entries(mandatory.schemas).map(([name, spec]) => ({ name, uid: `schema ${name}`, spec })),
  );
  const refused: string[] = [];
  const filter = fairness({
    flowControl,
    dialect: dialects.orch,
    clock,
    reading: 1,
    writing: 1,
    refused: ({ target }) => refused.push(target.path),
    queued: () => undefined,
  });
  return { clock, flowControl, filter, refused };
}

const user = { name: "u", groups: ["system:authenticated"] };
const root = { name: "root", groups: ["system:masters"] };

test("responses have the schema and the level of their request in headers", async () => {
  const { filter } = setUp();
  for (const [who, name] of [
    [user, "catch-all"],
    [root, "exempt"],
  ] as const) {
    const call = apiCall({ user: who });
    await filter.run(call, async () => ({ status: 200, headers: {} }));
    assert.deepEqual(call.headers, {
      "x-orch-pf-flowschema-uid": `schema ${name}`,
      "x-orch-pf-prioritylevel-uid": `level ${name}`,
    });
  }
});

test("without free seats a request is rejected in plain text, unless it is exempt or long-running", async () => {
  const { filter, refused } = setUp();
  const answer = pending();
  const first = filter.run(apiCall({ user }), answer.next);
  await turn();
  const { status, headers, body } = await filter.run(apiCall({ user, path: "/version" }), answer.next);
  assert.deepEqual(
    [status, headers["retry-after"], headers["content-type"], Buffer.from(body as Uint8Array).toString()],
    [429, "1", "text/plain; charset=utf-8", "Too many requests, please try again later.\n"],
  );
  assert.deepEqual(refused, ["/version"]);
  for (const call of [apiCall({ user: root }), apiCall({ user, path: "/api/v1/namespaces/a/pods/b/log" })])
    void filter.run(call, answer.next);
  assert.equal(answer.calls(), 3);
  answer.answer();
  assert.equal((await first).status, 200);
});

test("a failed request releases its seat", async () => {
  const { filter } = setUp();
  await assert.rejects(
    filter.run(apiCall({ user }), () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal((await filter.run(apiCall({ user }), async () => ({ status: 200, headers: {} }))).status, 200);
});

test("a watch holds its seat until it has started, and counts until it ends", async () => {
  const { filter, flowControl } = setUp();
  const path = "/api/v1/pods?watch=true";
  const over = Promise.withResolvers<void>();
  const call = apiCall({ user, path });
  const reply = await filter.run(call, async () => ({
    status: 200,
    headers: {},
    body: { stream: () => over.promise },
  }));
  const read = (): Promise<Reply> =>
    filter.run(apiCall({ user }), async () => ({ status: 200, headers: {} }));
  assert.equal((await read()).status, 429);
  call.watchStarted!();
  assert.equal((await read()).status, 200);
  const written = { group: "", resource: "pods", namespace: "a", name: "b" };
  assert.equal(flowControl.watches.interested(written), 1);
  const stream = (reply.body as { stream: (sink: unknown) => Promise<void> }).stream({});
  over.resolve();
  await stream;
  assert.equal(flowControl.watches.interested(written), 0);
});

test("a watch that is rejected or fails holds no seats", async () => {
  const { filter, flowControl } = setUp();
  const call = apiCall({ user, path: "/api/v1/pods?watch=true" });
  await filter.run(call, async () => ({ status: 404, headers: {} }));
  await assert.rejects(filter.run(call, () => Promise.reject(new Error("broken"))));
  assert.equal(flowControl.watches.interested({ group: "", resource: "pods", namespace: "", name: "" }), 0);
  assert.equal((await filter.run(apiCall({ user }), async () => ({ status: 200, headers: {} }))).status, 200);
});

test("a write without a body releases its seat, and is queued again when the body has arrived", async () => {
  const { filter, clock } = setUp();
  const body = Promise.withResolvers<void>();
  const answer = pending();
  const write = filter.run(apiCall({ method: "POST", user, bodyBuffered: body.promise }), answer.next);
  const read = (): Promise<Reply> =>
    filter.run(apiCall({ user }), async () => ({ status: 200, headers: {} }));
  await turn();
  assert.equal((await read()).status, 429);
  await clock.advance(10_000);
  assert.equal((await read()).status, 200);
  body.resolve();
  await turn();
  assert.equal((await read()).status, 429);
  answer.answer({ status: 201 });
  assert.equal((await write).status, 201);
});

test("the log of a request includes its seats, if it needs any", async () => {
  const { filter } = setUp();
  const answered = async (): Promise<Reply> => ({ status: 200, headers: {} });
  const fieldsOf = async (groups: readonly string[]): Promise<string[]> => {
    const call = apiCall({ user: { name: "a", uid: "", groups, extra: {} } });
    call.logFields = {};
    await filter.run(call, answered);
    return Object.keys(call.logFields);
  };
  assert.deepEqual(await fieldsOf(["system:masters"]), ["apf_pl", "apf_fs", "apf_execution_time"]);
  assert.deepEqual(await fieldsOf(["dev"]), [
    "apf_pl",
    "apf_fs",
    "apf_iseats",
    "apf_fseats",
    "apf_additionalLatency",
    "apf_execution_time",
  ]);
});

test("a queued request whose deadline has passed leaves the queue", async () => {
  const { filter, flowControl } = setUp();
  flowControl.configure(
    [
      {
        name: "catch-all",
        uid: "",
        spec: {
          type: "Limited",
          limited: {
            nominalConcurrencyShares: 5,
            limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 5 } },
          },
        },
      },
    ],
    [],
  );
  const answer = pending();
  const first = filter.run(apiCall({ user }), answer.next);
  await turn();
  const late = apiCall({ user, method: "POST" });
  const queued = filter.run(late, answer.next);
  late.abandon(new Error("the deadline has passed"));
  assert.equal((await queued).status, 429);
  answer.answer();
  await first;
  assert.equal(answer.calls(), 1);
});

test("a watch over a connection that is already closed ends", async () => {
  const { filter, flowControl } = setUp();
  const closed = new PassThrough();
  closed.destroy();
  await turn();
  const reply = await filter.run(apiCall({ user, path: "/api/v1/pods?watch=true" }), async () => ({
    status: 101,
    headers: {},
    body: { takeOver: () => undefined },
  }));
  (reply.body as { takeOver(socket: Duplex, head: Uint8Array): void }).takeOver(closed, Buffer.alloc(0));
  assert.equal(flowControl.watches.interested({ group: "", resource: "pods", namespace: "", name: "" }), 0);
  assert.equal((await filter.run(apiCall({ user }), async () => ({ status: 200, headers: {} }))).status, 200);
});
