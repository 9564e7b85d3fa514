// Object changes in the timeline: object trees, changes, access control, and persistence across restarts.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { timelineGroup } from "#dialect";
import { until } from "#kit";
import { startServer } from "../../library.ts";
import { type Json, each, newEvent, serve, textAt } from "../../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "timeline-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const policy = join(folder, "policy.yaml");
writeFileSync(policy, "apiVersion: audit.orch.io/v1\nkind: Policy\nrules:\n- level: Metadata\n");
const { must, ask, place } = await serve({
  flags: [
    "--disable-admission-plugins=ServiceAccount",
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${join(folder, "audit.log")}`,
  ],
});
const base = `/apis/${timelineGroup}/v1`;

const timeline = async (path: string, trusted?: { name: string; groups: string[] }): Promise<Json> =>
  (await must(200, "GET", `${base}/${path}`, trusted ? { trusted } : {})).json;
const entriesOf = (answer: Json): string[] =>
  (answer["items"] as Json[]).map((entry) => `${textAt(entry, "type")} ${textAt(entry, "object.name")}`);

const pod = (name: string, owner?: Json): Json => ({
  metadata: { name, ...(owner && { ownerReferences: [owner] }) },
  spec: { containers: [{ name: "c", image: "i" }] },
});
const ownerOf = (object: Json): Json => ({
  apiVersion: textAt(object, "apiVersion"),
  kind: textAt(object, "kind"),
  name: textAt(object, "metadata.name"),
  uid: textAt(object, "metadata.uid"),
  controller: true,
});

test("the tree of an object covers everything it owns or owned", async () => {
  const ns = await place();
  const labels = { matchLabels: { app: "web" } };
  const template = { metadata: { labels: { app: "web" } }, spec: pod("x")["spec"] };
  const deployment = (
    await must(201, "POST", `/apis/apps/v1/namespaces/${ns}/deployments`, {
      body: { metadata: { name: "web" }, spec: { selector: labels, template } },
    })
  ).json;
  const set = (
    await must(201, "POST", `/apis/apps/v1/namespaces/${ns}/replicasets`, {
      body: {
        metadata: { name: "web-1", ownerReferences: [ownerOf(deployment)] },
        spec: { selector: labels, template },
      },
    })
  ).json;
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const one = (await must(201, "POST", pods, { body: pod("web-1-a", ownerOf(set)) })).json;
  await must(201, "POST", pods, { body: pod("stranger") });
  await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${ns}/events`, {
    body: newEvent("e", ns, {
      eventTime: "2031-01-01T00:00:00.000000Z",
      type: "Warning",
      regarding: { kind: "Pod", namespace: ns, name: "web-1-a", uid: textAt(one, "metadata.uid") },
    }),
  });
  await must(200, "DELETE", `${pods}/web-1-a?gracePeriodSeconds=0`);
  const answer = await timeline(`namespaces/${ns}/timelines?kind=deploy&name=web&tree=true`);
  assert.deepEqual(entriesOf(answer), [
    "Created web",
    "Created web-1",
    "Created web-1-a",
    "Changed web-1-a",
    "Deleted web-1-a",
    "Warning web-1-a",
  ]);
  assert.deepEqual(each(answer["tree"], "object.name"), ["web", "web-1", "web-1-a"]);
  assert.deepEqual(each(answer["tree"], "alive"), [true, true, false]);
  assert.deepEqual(
    ((answer["tree"] as Json[])[2]!["owners"] as Json[]).map(
      ({ kind, name }) => `${String(kind)}/${String(name)}`,
    ),
    ["ReplicaSet/web-1", "Deployment/web"],
  );
  const alone = await timeline(`namespaces/${ns}/timelines?kind=Pod&name=web-1-a`);
  assert.deepEqual(entriesOf(alone), [
    "Created web-1-a",
    "Changed web-1-a",
    "Deleted web-1-a",
    "Warning web-1-a",
  ]);
});

test("a change has its fields, its field manager and its user", async () => {
  const ns = await place();
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  await must(201, "POST", `${maps}?fieldManager=maker`, {
    body: { metadata: { name: "m" }, data: { a: "1" } },
  });
  await must(200, "PATCH", `${maps}/m?fieldManager=fixer`, {
    type: "application/merge-patch+json",
    body: { data: { a: "2" } },
    trusted: { name: "anna", groups: ["system:masters"] },
  });
  await must(200, "DELETE", `${maps}/m`, { trusted: { name: "bert", groups: ["system:masters"] } });
  const { items } = await timeline(`namespaces/${ns}/timelines?kind=ConfigMap&name=m`);
  assert.deepEqual(each(items, "type"), ["Created", "Changed", "Deleted"]);
  assert.deepEqual(each(items, "controller"), ["maker", "fixer", undefined]);
  assert.deepEqual(each(items, "change.user"), ["system:admin", "anna", "bert"]);
  assert.deepEqual(each(items, "change.fields"), [
    undefined,
    [{ path: "data.a", op: "changed", from: '"1"', to: '"2"' }],
    undefined,
  ]);
  assert.deepEqual(each(items, "note"), [
    "created by system:admin",
    "changed data.a by anna",
    "deleted by bert",
  ]);
});

test("values of secrets are never shown", async () => {
  const ns = await place();
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  await must(201, "POST", secrets, {
    body: { metadata: { name: "s" }, stringData: { password: "hunter1" } },
  });
  await must(200, "PATCH", `${secrets}/s`, {
    type: "application/merge-patch+json",
    body: { metadata: { annotations: { copy: "hunter2" } }, stringData: { password: "hunter2" } },
  });
  const answer = await must(200, "GET", `${base}/namespaces/${ns}/timelines?kind=secrets`);
  const [, changed] = answer.json["items"] as Json[];
  const fields = (changed!["change"] as Json)["fields"] as Json[];
  assert.ok(fields.some(({ path }) => path === "data.password"));
  assert.ok(fields.every(({ withheld }) => withheld === true));
  for (const value of ["hunter1", "hunter2"])
    for (const form of [value, Buffer.from(value).toString("base64")]) assert.ok(!answer.text.includes(form));
});

test("changes are shown to users who may get the resource; others are informed of what is omitted", async () => {
  const ns = await place();
  const rbac = `/apis/rbac.authorization.orch.io/v1/namespaces/${ns}`;
  const grant = async (name: string, rules: object[]): Promise<void> => {
    await must(201, "POST", `${rbac}/roles`, { body: { metadata: { name }, rules } });
    await must(201, "POST", `${rbac}/rolebindings`, {
      body: {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.orch.io", kind: "Role", name },
        subjects: [{ apiGroup: "rbac.authorization.orch.io", kind: "User", name: "carl" }],
      },
    });
  };
  await grant("timeline", [
    { apiGroups: [timelineGroup], resources: ["timelines", "lanes", "buckets"], verbs: ["list", "watch"] },
  ]);
  await grant("maps", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }]);
  await must(201, "POST", `/api/v1/namespaces/${ns}/configmaps`, { body: { metadata: { name: "m" } } });
  await must(201, "POST", `/api/v1/namespaces/${ns}/secrets`, { body: { metadata: { name: "hidden" } } });
  const carl = { name: "carl", groups: [] };
  for (const resource of ["timelines", "lanes"]) {
    const answer = await timeline(`namespaces/${ns}/${resource}`, carl);
    assert.deepEqual(each(answer["items"], "object.name"), ["m"], resource);
    const { withheld } = answer["missing"] as { withheld: string[] };
    assert.ok(withheld.includes("secrets") && !withheld.includes("configmaps"), resource);
  }
  const { groups } = await timeline(`namespaces/${ns}/buckets?by=kind`, carl);
  assert.deepEqual(each(groups, "by.kind"), ["ConfigMap"]);
});

test("custom resources defined at runtime are recorded once a client has requested them", async () => {
  const ns = await place();
  const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" };
  const schema = { openAPIV3Schema: { type: "object", "x-orch-preserve-unknown-fields": true } };
  await must(201, "POST", "/apis/apiextensions.orch.io/v1/customresourcedefinitions", {
    body: {
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names,
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    },
  });
  const widgets = `/apis/example.com/v1/namespaces/${ns}/widgets`;
  await until("the kind is served", async () => (await ask("GET", widgets)).status === 200);
  await must(201, "POST", widgets, {
    body: { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } },
  });
  assert.deepEqual(entriesOf(await timeline(`namespaces/${ns}/timelines?kind=widgets`)), ["Created w"]);
});

test("recorded changes survive a restart, including those just before it", async () => {
  const dir = join(folder, "kept");
  const names = async (server: Awaited<ReturnType<typeof startServer>>): Promise<string[]> => {
    const path = `${base}/namespaces/default/timelines?kind=ConfigMap&name=a,b`;
    const answer = await server.inject({ method: "GET", path });
    return entriesOf(JSON.parse(Buffer.from(await answer.bytes()).toString()) as Json);
  };
  const create = async (server: Awaited<ReturnType<typeof startServer>>, name: string): Promise<void> => {
    await server.inject({
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name }, data: { key: "value" } }),
    });
  };
  const first = await startServer({ store: { dir } });
  await create(first, "a");
  assert.deepEqual(await names(first), ["Created a"]);
  await first.stop();
  const second = await startServer({ store: { dir } });
  assert.deepEqual(await names(second), ["Created a"]);
  await create(second, "b");
  await second.stop();
  // As if the process had been killed before its last batch was written.
  const folderOfJournal = join(dir, "timeline");
  const last = readdirSync(folderOfJournal).sort().at(-1)!;
  const lines = readFileSync(join(folderOfJournal, last), "utf8").trimEnd().split("\n");
  const lost = lines.findIndex((line) => (JSON.parse(line) as Json)["name"] === "b");
  const kept = lines.slice(0, lost).map((line) => `${line}\n`);
  writeFileSync(join(folderOfJournal, last), `${kept.join("")}{"sequence":9,"ti`);
  const third = await startServer({ store: { dir } });
  assert.deepEqual(await names(third), ["Created a", "Created b"]);
  await third.stop();
});

test("an event that names an object of another namespace neither joins its lane nor shows its owners", async () => {
  const [mine, other] = [await place(), await place()];
  const owner = {
    apiVersion: "v1",
    kind: "Pod",
    name: "secret-owner",
    uid: "uid-secret-owner",
    controller: true,
  };
  const pods = `/api/v1/namespaces/${other}/pods`;
  const victim = (await must(201, "POST", pods, { body: pod("secret-name", owner) })).json;
  const uid = textAt(victim, "metadata.uid");
  const regarding = { kind: "Pod", apiVersion: "v1", name: "forged", uid };
  for (const [name, namespace] of [
    ["own", mine],
    ["foreign", other],
  ] as const)
    await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${mine}/events`, {
      body: newEvent(name, mine, { regarding: { ...regarding, namespace } }),
    });
  const lanes = (await timeline(`namespaces/${mine}/lanes`))["items"] as Json[];
  assert.deepEqual(each(lanes, "object.name"), ["forged"]);
  assert.deepEqual(each(lanes, "object.namespace"), [mine]);
  assert.deepEqual(each(lanes, "owners"), [[]]);
  assert.deepEqual(each(lanes, "alive"), [false]);
  const theirs = (await timeline(`namespaces/${other}/lanes`))["items"] as Json[];
  assert.deepEqual(each(theirs, "object.name"), ["secret-name"]);
  assert.deepEqual(each(theirs, "counts"), [{ Created: 1 }]);
  assert.deepEqual(
    each((await timeline(`lanes?uid=${uid}`))["items"] as Json[], "object.name")
      .map(String)
      .sort(),
    ["forged", "secret-name"],
  );
  const tree = await timeline(`namespaces/${mine}/timelines?name=secret-owner&tree=true`);
  assert.deepEqual(tree["items"], []);
  // The entries show what the events say.
  const entries = (await timeline(`namespaces/${mine}/timelines`))["items"] as Json[];
  assert.deepEqual(each(entries, "object.namespace").map(String).sort(), [mine, other].sort());
});
