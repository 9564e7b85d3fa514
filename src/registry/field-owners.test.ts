import assert from "node:assert/strict";
import { test } from "node:test";
import { applyObject, changeScale } from "./field-owners.ts";
import { type Sent, type Harness, refusal, harness, harnessNow } from "./registry.fixture.ts";
import { timestamp } from "./request.ts";
import type { Endpoint } from "./resource.ts";
import type { ApiObject } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { deployment } from "./strategies/deployment.ts";
import { event } from "./strategies/event.ts";
import { flowSchema } from "./strategies/flow-schema.ts";

const map = (data: Record<string, string>, more: object = {}): Sent => ({
  metadata: { name: "a", ...more },
  data,
});

/** Returns lines such as `tester Update data.x data.y`, one per manager, sorted. */
function owners({ metadata }: ApiObject): string[] {
  const line = ({
    manager,
    operation,
    subresource,
    fieldsV1,
  }: NonNullable<typeof metadata.managedFields>[number]): string =>
    [
      manager,
      operation,
      ...(subresource ? [`(${subresource})`] : []),
      ...leaves(fieldsV1 as Record<string, never>),
    ].join(" ");
  return (metadata.managedFields ?? []).map(line).toSorted();
}
const leaves = (set: Record<string, object>, path: string[] = []): string[] =>
  Object.entries(set ?? {}).flatMap(([key, inner]) => {
    const at = key === "." ? path : [...path, key.replace(/^f:/, "")];
    return Object.keys(inner).length === 0 ? [at.join(".")] : leaves(inner as Record<string, object>, at);
  });

async function apply(
  at: Harness,
  manager: string,
  sent: Sent,
  force = false,
  now = new Date(harnessNow),
): Promise<ApiObject & Record<string, unknown>> {
  const request = at.request({ manager, now });
  const { apiVersion, kind } = request.endpoint;
  return await at.update(
    "a",
    {
      createIfAbsent: true,
      tracked: true,
      transform: (old) =>
        applyObject(request, old, structuredClone({ apiVersion, kind, ...sent }) as unknown as ApiObject, {
          name: "a",
          force,
        }),
    },
    { manager, now },
  );
}

test("the client that creates an object becomes the manager of its fields, recorded with version and time", async (t) => {
  const { create } = await harness(t, configMap);
  const made = await create(map({ x: "1" }, { labels: { l: "" } }));
  assert.deepEqual(owners(made), ["tester Update data data.x metadata.labels metadata.labels.l"]);
  const { apiVersion, fieldsType, time } = made.metadata.managedFields![0]!;
  assert.deepEqual([apiVersion, fieldsType, time], ["v1", "FieldsV1", timestamp(new Date(harnessNow))]);
});

test("the client that changes a field becomes its manager", async (t) => {
  const { create, edit } = await harness(t, configMap);
  await create(map({ x: "1", y: "1" }));
  const change = (data: Record<string, string>, manager: string) =>
    edit("a", (object) => Object.assign(object, { data }), { manager });
  assert.deepEqual(owners(await change({ x: "2", y: "1" }, "other")), [
    "other Update data.x",
    "tester Update data data.y",
  ]);
  assert.deepEqual(
    owners(await change({ x: "2", y: "1" }, "third")),
    ["other Update data.x", "tester Update data data.y"],
    "saying the same again owns nothing",
  );
  assert.deepEqual(
    owners(await change({ y: "1" }, "third")),
    ["tester Update data data.y"],
    "removed fields have no owner",
  );
});

test("a write in another version does not change the managers of the status", async (t) => {
  const at = await harness(t, flowSchema);
  const [newer, older] = at.resource.endpoints as [Endpoint, Endpoint];
  await at.create({
    metadata: { name: "a" },
    spec: { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 2 },
  });
  const conditions = [{ type: "Dangling", status: "True", lastTransitionTime: null }];
  await at.edit("a", (object) => Object.assign(object, { status: { conditions } }), {
    endpoint: newer,
    subresource: "status",
    manager: "looker",
  });
  const bare = (old: ApiObject | undefined): ApiObject =>
    ({ ...old!, metadata: { ...old!.metadata, labels: { l: "" } }, status: {} }) as ApiObject;
  const after = await at.update("a", { transform: bare }, { endpoint: older });
  assert.deepEqual(
    owners(after).filter((line) => line.includes("status")),
    [
      'looker Update (status) status.conditions status.conditions.k:{"type":"Dangling"} ' +
        ["lastTransitionTime", "status", "type"]
          .map((field) => `status.conditions.k:{"type":"Dangling"}.${field}`)
          .join(" "),
    ],
  );
});

test("a subresource has a separate managed fields entry", async (t) => {
  const { create, edit } = await harness(t, deployment);
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  await create({ metadata: { name: "a" }, spec: { selector: { matchLabels: { a: "b" } }, template } });
  const after = await edit("a", (object) => Object.assign(object, { status: { replicas: 1 } }), {
    subresource: "status",
  });
  assert.equal(owners(after)[0], "tester Update (status) status.replicas");
});

test("apply takes ownership of the given fields and removes fields no longer given", async (t) => {
  const at = await harness(t, configMap);
  const first = await apply(at, "one", map({ x: "1", y: "1" }));
  assert.deepEqual([owners(first), first["data"]], [["one Apply data.x data.y"], { x: "1", y: "1" }]);
  const second = await apply(at, "one", map({ x: "1" }));
  assert.deepEqual([owners(second), second["data"]], [["one Apply data.x"], { x: "1" }]);
});

test("an object applied with a deletion timestamp is created with it", async (t) => {
  const at = await harness(t, configMap);
  const dying = { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["a.b/c"] };
  const { metadata } = await apply(at, "one", map({ x: "1" }, { name: "a", ...dying }));
  assert.equal(metadata.deletionTimestamp, dying.deletionTimestamp);
});

test("applying to a missing object requires a name and forbids a uid", async (t) => {
  const at = await harness(t, configMap);
  const based = /^the name of the object \(a based on URL\) was undeterminable: name must be provided$/;
  await assert.rejects(apply(at, "one", { metadata: {} }), refusal(400, based));
  const unfounded = /uid mismatch: the provided object specified uid u, and no existing object was found$/;
  await assert.rejects(apply(at, "one", { metadata: { uid: "u" } }), refusal(409, unfounded));
});

test("appliers of equal values share ownership, and the field stays until both release it", async (t) => {
  const at = await harness(t, configMap);
  await apply(at, "one", map({ x: "1" }));
  assert.deepEqual(owners(await apply(at, "two", map({ x: "1" }))), ["one Apply data.x", "two Apply data.x"]);
  assert.deepEqual((await apply(at, "one", map({})))["data"], { x: "1" });
  assert.deepEqual((await apply(at, "two", map({})))["data"], undefined);
});

test("applying another manager's field is a conflict that names manager and field, unless forced", async (t) => {
  const at = await harness(t, configMap);
  await apply(at, "one", map({ x: "1" }));
  await assert.rejects(apply(at, "two", map({ x: "2" })), (error) => {
    refusal(409, /conflict with "one": \.data\.x/)(error);
    assert.deepEqual((error as { details: { causes: unknown } }).details.causes, [
      { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.x" },
    ]);
    return true;
  });
  const forced = await apply(at, "two", map({ x: "2" }), true);
  assert.deepEqual([owners(forced), forced["data"]], [["two Apply data.x"], { x: "2" }]);
});

test("applying the same configuration again changes nothing", async (t) => {
  const at = await harness(t, configMap);
  const first = await apply(at, "one", map({ x: "1" }));
  assert.deepEqual(await apply(at, "one", map({ x: "1" })), first);
  assert.equal(at.writes(), 1);
});

test("applying null values again changes nothing", async (t) => {
  const at = await harness(t, configMap);
  const sent = map({ x: "1" }, { labels: null as never, creationTimestamp: null as never });
  const first = await apply(at, "one", sent);
  assert.deepEqual(await apply(at, "one", sent, false, new Date(harnessNow + 5000)), first);
  assert.equal(at.writes(), 1);
});

test("an applied configuration must not contain managed fields", async (t) => {
  const at = await harness(t, configMap);
  const managedFields = [
    { manager: "one", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
  ];
  await assert.rejects(
    apply(at, "one", map({}, { managedFields })),
    refusal(400, /managedFields must be nil/),
  );
});

test("managers from another API group are dropped", async (t) => {
  const { create, edit, resource } = await harness(t, event);
  const core = resource.endpoints.find(({ group }) => group === "")!;
  const label = (name: string) => (object: ApiObject) =>
    void (object.metadata.labels = { ...object.metadata.labels, [name]: "" });
  const versions = ({ metadata }: ApiObject): string[] =>
    (metadata.managedFields ?? []).map(({ manager, apiVersion }) => `${manager} ${apiVersion}`).toSorted();
  await create(
    { metadata: { name: "a" }, involvedObject: { namespace: "default" }, message: "m" },
    { endpoint: core },
  );
  assert.deepEqual(versions(await edit("a", label("x"), { endpoint: core, manager: "other" })), [
    "other v1",
    "tester v1",
  ]);
  assert.deepEqual(versions(await edit("a", label("y"), { manager: "third" })), ["third events.orch.io/v1"]);
});

test("the manager of a scale owns the replicas of the workload", async (t) => {
  const at = await harness(t, deployment);
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const made = await at.create({
    metadata: { name: "a" },
    spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template },
  });
  const scale = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a", creationTimestamp: null },
    spec: { replicas: 1 },
  } as unknown as ApiObject;
  const changed = changeScale(at.request({ manager: "scaler" }), made, scale, {
    change: (old) => ({ ...old, spec: { replicas: 5 } }) as ApiObject,
  });
  const managedFields = changed.parentOwners(changed.object);
  const [scaler, tester] = managedFields.toSorted((a, b) => (a.manager! < b.manager! ? -1 : 1));
  assert.deepEqual([scaler!.manager, scaler!.subresource], ["scaler", "scale"]);
  assert.match(JSON.stringify(scaler), /"f:spec":\{"f:replicas":\{\}\}/);
  assert.doesNotMatch(JSON.stringify(tester), /f:replicas/);
});
