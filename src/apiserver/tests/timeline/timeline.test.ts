// The event timeline of a whole server: order, filters, counts, access control and watches.
import assert from "node:assert/strict";
import { test } from "node:test";
import { timelineGroup } from "#dialect";
import { type Asking, at, each, newEvent, coreEvent, serve, type Json } from "../../server.fixture.ts";

const served = await serve();
const { must, place, watch, ask } = served;
const base = `/apis/${timelineGroup}/v1`;

const list = async (path: string, asking?: Asking): Promise<Json> =>
  (await must(200, "GET", `${base}/${path}`, asking)).json;
const times = (count: number): string[] =>
  Array.from({ length: count }, (_, second) => `2030-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`);

test("events of both groups are listed in the order in which they happened", async () => {
  const ns = await place();
  const [t0, t1, t2, t3] = times(4);
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
    body: newEvent("late", ns, { eventTime: t3, reason: "Late" }),
  });
  await must(201, "POST", `/api/v1/namespaces/${ns}/events`, {
    body: coreEvent("series", ns, {
      firstTimestamp: t0!.replace(".000000", ""),
      lastTimestamp: t2!.replace(".000000", ""),
      count: 7,
    }),
  });
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
    body: newEvent("early", ns, { eventTime: t1, reason: "Early", type: "Warning" }),
  });
  const answer = await list(`namespaces/${ns}/timelines`);
  assert.equal(answer["kind"], "Timeline");
  assert.deepEqual(each(answer["items"], "time"), [t0, t1, t2, t3]);
  assert.deepEqual(each(answer["items"], "reason"), ["Tested", "Early", "Tested", "Late"]);
  assert.deepEqual(each(answer["items"], "series.edge"), ["first", undefined, "last", undefined]);
  assert.deepEqual(each(answer["items"], "series.count"), [7, undefined, 7, undefined]);
  const newest = await list(`namespaces/${ns}/timelines?order=newest&limit=3`);
  assert.deepEqual(each(newest["items"], "time"), [t3, t2, t1]);
  const token = String((newest["metadata"] as Json)["continue"]);
  const rest = await list(`namespaces/${ns}/timelines?order=newest&limit=3&continue=${token}`);
  assert.deepEqual(each(rest["items"], "time"), [t0]);
});

test("filters select exactly the matching events", async () => {
  const ns = await place();
  const [t0, t1, t2] = times(3);
  const post = async (name: string, more: object) =>
    await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
      body: newEvent(name, ns, more),
    });
  const { json: set } = await must(201, "POST", `/apis/apps/v1/namespaces/${ns}/replicasets`, {
    body: {
      metadata: { name: "p1", labels: { app: "web" } },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "a", image: "a" }] },
        },
      },
    },
  });
  await post("a", {
    eventTime: t0,
    reason: "A",
    note: "Pulling image",
    regarding: { kind: "Pod", namespace: ns, name: "p1", uid: "u1" },
  });
  await post("b", {
    eventTime: t1,
    reason: "B",
    type: "Warning",
    regarding: { kind: "Pod", namespace: ns, name: "p2", uid: "u2" },
  });
  await post("c", {
    eventTime: t2,
    reason: "C",
    regarding: {
      kind: "ReplicaSet",
      apiVersion: "apps/v1",
      namespace: ns,
      name: "p1",
      uid: String(at(set, "metadata.uid")),
    },
  });
  const cases: [query: string, reasons: string][] = [
    ["", "ABC"],
    ["type=Warning", "B"],
    ["reason=A,C", "AC"],
    ["reason=A&reason=B", "AB"],
    ["kind=pods", "AB"],
    ["kind=rs", "C"],
    ["kind=Pod&name=p1", "A"],
    ["name=p1", "AC"],
    ["uid=u2", "B"],
    ["group=apps", "C"],
    ["group=", "AB"],
    ["labelSelector=app%3Dweb", "C"],
    ["labelSelector=app%3Dweb&kind=pods", ""],
    ["labelSelector=app%21%3Dweb", ""],
    ["text=PULLING", "A"],
    ["text=p2", "B"],
    ["controller=example.com/tester", "ABC"],
    ["controller=other", ""],
    ["node=n1", ""],
    [`since=${t1}`, "BC"],
    [`until=${t1}`, "A"],
    [`since=${t1}&until=${t2}`, "B"],
  ];
  for (const [query, reasons] of cases)
    assert.equal(
      each((await list(`namespaces/${ns}/timelines?${query}`))["items"], "reason")
        .filter((reason) => reason !== "Created")
        .join(""),
      reasons,
      query,
    );
});

test("bad parameters are refused by name and value", async () => {
  const cases: [query: string, message: string][] = [
    ["timelines?limit=x", 'limit: Invalid value: "x": must be a whole number from 1 to 5000'],
    [
      "timelines?since=soon",
      'since: Invalid value: "soon": must be a time such as 2006-01-02T15:04:05Z, or a duration before now such as 1h',
    ],
    ["timelines?since=1h&until=2h", 'until: Invalid value: "2h": must be later than since'],
    ["timelines?tree=true", 'tree: Invalid value: "true": needs the name or uid of the object at the root'],
    ["timelines?labelSelector=%21%21", 'labelSelector: Invalid value: "!!": '],
    ["timelines?order=up", 'order: Invalid value: "up": must be one of oldest, newest'],
    ["timelines?colour=red", 'colour: Invalid value: "red": is not a parameter of timelines'],
    ["timelines?cursor=x", 'cursor: Invalid value: "x": must be one that the server gave'],
    ["timelines?name=", 'name: Invalid value: "": must not be empty'],
    ["lanes?points=5000", 'points: Invalid value: "5000": must be a whole number from 1 to 2000'],
    [
      "buckets?by=colour",
      'by: Invalid value: "colour": must be of type, reason, controller, kind, namespace, node',
    ],
    ["buckets?interval=1s&since=2000h", 'interval: Invalid value: "1s": gives'],
    [
      "namespaces/default/lanes?namespace=x",
      'namespace: Invalid value: "x": may not be given where the path names one',
    ],
  ];
  for (const [query, message] of cases) {
    const answer = await must(400, "GET", `${base}/${query}`);
    assert.equal(String(answer.at("message")).slice(0, message.length), message);
  }
});

test("unknown paths of the group are not found, and known ones are read-only", async () => {
  await must(404, "GET", `${base}/others`);
  await must(404, "GET", `${base}/timelines/x`);
  await must(404, "GET", `/apis/${timelineGroup}/v2/timelines`);
  await must(405, "POST", `${base}/timelines`, { body: {} });
  await must(405, "GET", `${base}/lanes?watch=true`);
  assert.ok(!(await must(200, "GET", "/apis")).text.includes(timelineGroup));
});

test("lanes have counts by type and the positions of their marks", async () => {
  const ns = await place();
  const [t0, t1, t2] = times(3);
  for (const [name, pod, time, type] of [
    ["a", "p1", t0, "Normal"],
    ["b", "p1", t1, "Warning"],
    ["c", "p2", t2, "Normal"],
  ])
    await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
      body: newEvent(name!, ns, {
        eventTime: time,
        type,
        regarding: { kind: "Pod", namespace: ns, name: pod, uid: pod },
      }),
    });
  const answer = await list(
    `namespaces/${ns}/lanes?points=10&since=${t0}&until=${t2!.replace(":02.", ":03.")}`,
  );
  assert.equal(answer["intervalSeconds"], 1);
  assert.equal(answer["total"], 2);
  assert.deepEqual(each(answer["items"], "object.name"), ["p1", "p2"]);
  assert.deepEqual(each(answer["items"], "counts"), [{ Normal: 1, Warning: 1 }, { Normal: 1 }]);
  assert.deepEqual(each(answer["items"], "marks"), [
    [0, 1, 0, 0, 1, 0, 1, 0],
    [2, 1, 0, 0],
  ]);
  assert.deepEqual(each(answer["items"], "alive"), [false, false]);
  const first = await list(`namespaces/${ns}/lanes?limit=1&sort=latest`);
  assert.deepEqual(each(first["items"], "object.name"), ["p2"]);
  const token = String((first["metadata"] as Json)["continue"]);
  const second = await list(`namespaces/${ns}/lanes?limit=1&sort=latest&continue=${token}`);
  assert.deepEqual(each(second["items"], "object.name"), ["p1"]);
  const buckets = await list(
    `namespaces/${ns}/buckets?interval=1s&since=${t0}&until=${t2!.replace(":02.", ":03.")}&by=type`,
  );
  assert.deepEqual(buckets["groups"], [
    { by: { type: "Normal" }, total: 2, counts: [1, 0, 1] },
    { by: { type: "Warning" }, total: 1, counts: [0, 1, 0] },
  ]);
});

test("a watch continues after the cursor of a list without a gap", async () => {
  const ns = await place();
  const events = `/apis/events.orch.io/v1/namespaces/${ns}/events`;
  await must(201, "POST", events, { body: newEvent("a", ns, { reason: "A" }) });
  const before = await list(`namespaces/${ns}/timelines`);
  await must(201, "POST", events, { body: newEvent("b", ns, { reason: "B" }) });
  const cursor = String((before["metadata"] as Json)["cursor"]);
  const following = watch(`${base}/namespaces/${ns}/timelines?watch=true&cursor=${cursor}`);
  const [missed] = await following.next();
  assert.deepEqual([missed!["type"], each([missed], "object.reason")[0]], ["ADDED", "B"]);
  assert.equal((await following.next())[0]!["type"], "BOOKMARK");
  await must(201, "POST", events, { body: newEvent("c", ns, { reason: "C" }) });
  const [live] = await following.next();
  assert.equal(each([live], "object.reason")[0], "C");
  following.stop();
  const again = watch(`${base}/namespaces/${ns}/timelines?watch=true&cursor=${String(missed!["cursor"])}`);
  assert.equal(each(await again.next(), "object.reason")[0], "C");
  again.stop();
});

test("events of a node's agent, which names its node by name, are found by the uid of the node", async () => {
  const byAgent = (name: string): Json =>
    newEvent(name, "default", {
      eventTime: "2030-01-01T00:00:00.000000Z",
      reason: name,
      regarding: { kind: "Node", name: "worker", uid: "worker" },
    });
  const events = "/apis/events.orch.io/v1/namespaces/default/events";
  await must(201, "POST", events, { body: byAgent("starting") });
  const node = await must(201, "POST", "/api/v1/nodes", { body: { metadata: { name: "worker" } } });
  const uid = String(node.at("metadata.uid"));
  const listed = await list(`timelines?uid=${uid}`);
  assert.deepEqual(new Set(each(listed["items"], "reason")), new Set(["Created", "starting"]));
  const lanes = (await list("lanes?kind=Node&name=worker"))["items"] as Json[];
  assert.deepEqual(each(lanes, "alive"), [true]);
  const following = watch(`${base}/timelines?watch=true&uid=${uid}`);
  assert.equal((await following.next())[0]!["type"], "BOOKMARK");
  await must(201, "POST", events, { body: byAgent("ready") });
  assert.equal(each(await following.next(), "object.reason")[0], "ready");
  following.stop();
});

test("a user with access to one namespace sees only that namespace", async () => {
  const [mine, other] = [await place(), await place()];
  const user = { name: "anna", groups: [] };
  const rbac = `/apis/rbac.authorization.orch.io/v1/namespaces/${mine}`;
  await must(201, "POST", `${rbac}/roles`, {
    body: {
      metadata: { name: "timeline" },
      rules: [
        {
          apiGroups: [timelineGroup],
          resources: ["timelines", "lanes", "buckets"],
          verbs: ["list", "watch"],
        },
      ],
    },
  });
  await must(201, "POST", `${rbac}/rolebindings`, {
    body: {
      metadata: { name: "timeline" },
      roleRef: { apiGroup: "rbac.authorization.orch.io", kind: "Role", name: "timeline" },
      subjects: [{ apiGroup: "rbac.authorization.orch.io", kind: "User", name: "anna" }],
    },
  });
  for (const ns of [mine, other])
    await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, { body: newEvent("a", ns) });
  for (const resource of ["timelines", "lanes", "buckets"]) {
    assert.equal(
      (await ask("GET", `${base}/namespaces/${mine}/${resource}`, { trusted: user })).status,
      200,
      resource,
    );
    assert.equal(
      (await ask("GET", `${base}/namespaces/${other}/${resource}`, { trusted: user })).status,
      403,
      resource,
    );
    assert.equal((await ask("GET", `${base}/${resource}`, { trusted: user })).status, 403, resource);
  }
  const seen = await list(`namespaces/${mine}/timelines`, { trusted: user });
  assert.deepEqual(each(seen["items"], "event.namespace"), [mine]);
});

test("hostile content is passed on unchanged", async () => {
  const ns = await place();
  const note = `<script>alert(1)</script>\u0000\u202e"\\\u2028${"x".repeat(900)}`;
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
    body: newEvent("a", ns, { note }),
  });
  assert.deepEqual(each((await list(`namespaces/${ns}/timelines`))["items"], "note"), [note]);
});

test("the group is listed only if enabled in --runtime-config, and not served if switched off", async () => {
  const listed = await serve({ flags: ["--ui=false", `--runtime-config=${timelineGroup}/v1=true`] });
  const groups = (await listed.must(200, "GET", "/apis")).json["groups"];
  assert.ok(each(groups, "name").includes(timelineGroup));
  const { resources } = (await listed.must(200, "GET", base)).json;
  assert.deepEqual(each(resources, "name"), ["buckets", "lanes", "timelines"]);
  assert.equal((await listed.must(200, "GET", `${base}/timelines`)).at("kind"), "Timeline");
  const following = listed.watch(`${base}/timelines?watch=true`);
  assert.equal((await following.next())[0]!["type"], "BOOKMARK");
  following.stop();
  await listed.must(200, "GET", "/openapi/v2");
  await listed.must(200, "GET", `/openapi/v3/apis/${timelineGroup}/v1`);
  const off = await serve({ flags: ["--ui=false"] });
  await off.must(404, "GET", `${base}/timelines`);
});
