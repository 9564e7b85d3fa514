import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "#api";
import type { AdmissionPlugin } from "#admission";
import { invalidValue } from "#base";
import { type Sent, type Harness, causesOf, refusal, harness } from "./registry.fixture.ts";
import type { ApiObject, Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { deployment } from "./strategies/deployment.ts";
import { networkPolicy } from "./strategies/network-policy.ts";
import { role } from "./strategies/role.ts";

const own = "example.com/mine";
const map = (more: Sent["metadata"] = {}): Sent => ({ metadata: { name: "a", ...more }, data: { x: "1" } });
const setData =
  (value: string) =>
  (object: ApiObject & Record<string, unknown>): void =>
    void (object["data"] = { x: value });
const dataOf = (object: Record<string, unknown> | undefined): unknown =>
  (object?.["data"] as Record<string, string> | undefined)?.["x"];

test("an update is stored with a new revision and changes only what was sent", async (t) => {
  const { create, edit, get } = await harness(t, configMap);
  const before = await create(map({ labels: { a: "b" } }));
  const after = await edit("a", setData("2"));
  assert.ok(Number(after.metadata.resourceVersion) > Number(before.metadata.resourceVersion));
  assert.deepEqual(after.metadata.labels, { a: "b" });
  assert.deepEqual(
    [after.metadata.uid, after.metadata.creationTimestamp],
    [before.metadata.uid, before.metadata.creationTimestamp],
  );
  assert.deepEqual(await get("a"), after);
});

test("an update without changes keeps the revision and does not write", async (t) => {
  const { create, edit, writes } = await harness(t, configMap);
  const before = await create(map());
  const after = await edit("a", setData("1"), { now: new Date(Date.UTC(2040, 0)) });
  assert.deepEqual(after, before);
  assert.equal(writes(), 1);
});

type Edit = (object: ApiObject & Record<string, never>) => void;
const version =
  (value: string | undefined): Edit =>
  (object) => {
    if (value === undefined) delete object.metadata.resourceVersion;
    else object.metadata.resourceVersion = value;
    setData("2")(object);
  };
const versions: [
  name: string,
  kind: Strategy,
  sent: string | undefined,
  code: number | undefined,
  message?: RegExp,
][] = [
  ["none", configMap, undefined, undefined],
  ["an empty one", configMap, "", undefined],
  ["zero", configMap, "0", undefined],
  [
    "an old one",
    configMap,
    "1",
    409,
    /the object has been modified; please apply your changes to the latest version and try again/,
  ],
  ["a future one", configMap, "999999", 409],
  ["one beyond 64 bits", configMap, "99999999999999999999", 409],
  ["not a number", configMap, "new", 400, /resourceVersion: Invalid value: "new"/],
  [
    "none, for a kind that requires one",
    { ...configMap, conditionalUpdate: true },
    undefined,
    422,
    /metadata\.resourceVersion: Invalid value: 0x0: must be specified for an update/,
  ],
];
for (const [name, kind, sent, code, message] of versions) {
  test(`resourceVersion of an update: ${name}`, async (t) => {
    const { create, edit, get } = await harness(t, kind);
    await create(map());
    if (code === undefined) await edit("a", version(sent));
    else await assert.rejects(edit("a", version(sent)), refusal(code, message));
    assert.equal(dataOf(await get("a")), code === undefined ? "2" : "1");
  });
}

test("the uid of an update must match", async (t) => {
  const { create, update } = await harness(t, configMap);
  const { metadata } = await create(map());
  const transform = (old: ApiObject | undefined): ApiObject => old!;
  await update("a", { transform, uid: metadata.uid! });
  await assert.rejects(
    update("a", { transform, uid: "other" }),
    refusal(409, /UID in precondition: other, UID in object meta: /),
  );
  await assert.rejects(
    update("b", { transform, uid: "other" }),
    refusal(409, /UID in precondition: other, UID in object meta: $/),
  );
});

test("an update of a missing object", async (t) => {
  const { edit, update, get, request } = await harness(t, configMap);
  await assert.rejects(edit("b", setData("2")), refusal(404, /configmaps "b" not found/));
  const { apiVersion, kind } = request().endpoint;
  const fresh = (): ApiObject => ({ apiVersion, kind, metadata: { name: "b", creationTimestamp: null } });
  await assert.rejects(
    update("b", { transform: fresh, createIfAbsent: true }, { subresource: "status" }),
    refusal(404),
  );
  const versioned = (resourceVersion: string) => (): ApiObject => ({
    ...fresh(),
    metadata: { ...fresh().metadata, resourceVersion },
  });
  await assert.rejects(
    update("b", { transform: versioned("x"), createIfAbsent: true }),
    refusal(400, /must be a number/),
  );
  await update("b", { transform: versioned("7"), createIfAbsent: true });
  assert.ok((await get("b"))!.metadata.uid);
});

test("an object created concurrently by another writer is updated", async (t) => {
  const { update, create, request } = await harness(t, configMap, {
    beforeWrite: async (_write, count) => {
      if (count === 1) await create(map({ labels: { theirs: "1" } }));
    },
  });
  const { apiVersion, kind } = request().endpoint;
  const transform = (old: ApiObject | undefined): ApiObject =>
    Object.assign(old ?? { apiVersion, kind, metadata: { name: "a", creationTimestamp: null } }, {
      data: { x: "mine" },
    });
  const changed = await update("a", { transform, createIfAbsent: true });
  assert.deepEqual([changed.metadata.labels, changed["data"]], [{ theirs: "1" }, { x: "mine" }]);
});

const immutable: [name: string, edit: Edit, cause: string][] = [
  ["name", (object) => void (object.metadata.name = "b"), "Invalid metadata.name"],
  ["uid", (object) => void (object.metadata.uid = "b"), "Invalid metadata.uid"],
  [
    "deletion timestamp",
    (object) => void (object.metadata.deletionTimestamp = "2030-01-01T00:00:00Z"),
    "Invalid metadata.deletionTimestamp",
  ],
];
for (const [name, edit, cause] of immutable) {
  test(`the ${name} is immutable`, async (t) => {
    const at = await harness(t, configMap);
    await at.create(map());
    assert.ok((await causesOf(at.edit("a", edit))).includes(cause));
  });
}

test("a namespace mismatch is refused first", async (t) => {
  const { create, edit } = await harness(t, configMap);
  await create(map());
  await assert.rejects(
    edit("a", (object) => void (object.metadata.namespace = "other")),
    refusal(400, /does not match the namespace sent/),
  );
});

test("server-managed fields that a client omits are restored", async (t) => {
  const { create, edit } = await harness(t, configMap);
  const before = await create(map());
  const after = await edit("a", (object) => {
    delete object.metadata.uid;
    object.metadata.creationTimestamp = null;
    object.metadata.selfLink = "/me";
    setData("2")(object);
  });
  assert.deepEqual(
    [after.metadata.uid, after.metadata.creationTimestamp, after.metadata.selfLink],
    [before.metadata.uid, before.metadata.creationTimestamp, undefined],
  );
});

const containers = [{ name: "c", image: "i" }];
const deploy: Sent = {
  metadata: { name: "d" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers } },
  },
};
const generations: [name: string, edit: Edit, subresource: string, generation: number][] = [
  [
    "a change of the spec increments it",
    (object) => void ((object as unknown as { spec: { replicas: number } }).spec.replicas = 2),
    "",
    2,
  ],
  ["a change of labels does not increment it", (object) => void (object.metadata.labels = { x: "y" }), "", 1],
  [
    "a change of the status does not increment it",
    (object) => void ((object as unknown as { status: object }).status = { replicas: 3 }),
    "status",
    1,
  ],
  ["a client cannot set it", (object) => void (object.metadata.generation = 7), "", 1],
  ["an update without changes does not increment it", () => undefined, "", 1],
];
for (const [name, edit, subresource, generation] of generations) {
  test(`generation: ${name}`, async (t) => {
    const at = await harness(t, deployment);
    assert.equal((await at.create(deploy)).metadata.generation, 1);
    assert.equal((await at.edit("d", edit, { subresource })).metadata.generation, generation);
  });
}

test("an empty list in place of an absent one is no change", async (t) => {
  const at = await harness(t, { ...role, generation: true });
  await at.create({ metadata: { name: "r" }, rules: null });
  assert.equal(
    (await at.edit("r", (object) => void ((object as unknown as { rules: unknown }).rules = []))).metadata
      .generation,
    1,
  );
});

test("errors of the precheck are returned alone", async (t) => {
  const at = await harness(t, {
    ...configMap,
    precheck: (_obj, old) => (old ? [invalidValue("data", "x", "nothing is left")] : []),
  });
  await at.create({ metadata: { name: "a" } });
  await assert.rejects(
    at.edit("a", (object) => void (object.metadata.labels = { "bad key!": "" })),
    refusal(422, /is invalid: data: Invalid value: "x": nothing is left$/),
  );
});

test("the status changes only through its subresource, which changes nothing else", async (t) => {
  const { create, edit } = await harness(t, deployment);
  await create(deploy);
  const both: Edit = (object) =>
    Object.assign(object, {
      spec: { ...(object as { spec?: object }).spec, replicas: 9 },
      status: { replicas: 3 },
    });
  const replicas = ({ spec, status }: Record<string, unknown>): unknown[] => [
    (spec as { replicas: number }).replicas,
    (status as { replicas?: number }).replicas,
  ];
  assert.deepEqual(replicas(await edit("d", both, { subresource: "status" })), [1, 3]);
  assert.deepEqual(replicas(await edit("d", both)), [9, 3]);
});

test("a status update gets no warnings", async (t) => {
  const { create, edit, warnings } = await harness(t, { ...deployment, warnings: () => ["unwise"] });
  await create(deploy);
  await edit("d", (object) => Object.assign(object, { status: { replicas: 3 } }), { subresource: "status" });
  assert.equal(warnings.length, 1);
  await edit("d", (object) => void (object.metadata.labels = { x: "y" }));
  assert.equal(warnings.length, 2);
});

test("an update that conflicts is retried with the current object", async (t) => {
  let lost = 0;
  const at: Harness = await harness(t, configMap, {
    beforeWrite: async (_write, count) => {
      if (count !== 2 && count !== 4) return;
      lost++;
      await at.edit("a", (object) => void (object.metadata.labels = { lost: String(lost) }));
    },
  });
  await at.create(map());
  let made = 0;
  const after = await at.update("a", {
    transform: (old) => {
      made++;
      delete old!.metadata.resourceVersion;
      return { ...old!, data: { x: "2" } } as ApiObject;
    },
  });
  assert.deepEqual([made, dataOf(after), after.metadata.labels], [3, "2", { lost: "2" }]);
});

test("an update with a resourceVersion is not retried on a conflict", async (t) => {
  const at: Harness = await harness(t, configMap, {
    beforeWrite: async (_write, count) => void (count === 2 && (await at.edit("a", setData("theirs")))),
  });
  const { metadata } = await at.create(map());
  await assert.rejects(
    at.edit("a", (object) => {
      object.metadata.resourceVersion = metadata.resourceVersion;
      setData("mine")(object);
    }),
    refusal(409),
  );
  assert.equal(dataOf(await at.get("a")), "theirs");
});

test("of concurrent updates with the same resourceVersion one succeeds; without one all succeed", async (t) => {
  const { create, edit, get } = await harness(t, configMap);
  const { metadata } = await create(map());
  const guarded = await Promise.allSettled(
    Array.from({ length: 10 }, (_each, i) =>
      edit("a", (object) => {
        object.metadata.resourceVersion = metadata.resourceVersion;
        setData(`guarded ${i}`)(object);
      }),
    ),
  );
  assert.equal(guarded.filter(({ status }) => status === "fulfilled").length, 1);
  const counts = await Promise.all(
    Array.from({ length: 10 }, (_each, i) =>
      edit("a", (object) => {
        delete object.metadata.resourceVersion;
        object.metadata.labels = { ...object.metadata.labels, [`n${i}`]: "" };
      }),
    ),
  );
  assert.equal(new Set(counts.map(({ metadata: { resourceVersion } }) => resourceVersion)).size, 10);
  assert.equal(Object.keys((await get("a"))!.metadata.labels!).length, 10);
});

test("a dry run of an update changes nothing", async (t) => {
  const { create, edit, get, writes } = await harness(t, configMap);
  const before = await create(map());
  const shown = await edit("a", setData("2"), { dryRun: true });
  assert.deepEqual([dataOf(shown), shown.metadata.resourceVersion], ["2", before.metadata.resourceVersion]);
  assert.deepEqual(await get("a"), before);
  assert.equal(writes(), 1);
});

test("removing the last finalizer of an object that is being deleted deletes it", async (t) => {
  const { create, edit, remove, get } = await harness(t, configMap);
  await create(map({ finalizers: [own, "example.com/other"] }));
  await remove("a");
  await edit("a", (object) => void (object.metadata.finalizers = [own]));
  assert.ok(await get("a"));
  await edit("a", (object) => void (object.metadata.finalizers = []), { dryRun: true });
  assert.ok(await get("a"), "a dry run removes nothing");
  await edit("a", (object) => void (object.metadata.finalizers = []));
  assert.equal(await get("a"), undefined);
});

test("removing the last finalizer does not delete an object within its grace period", async (t) => {
  const { create, edit, remove, get } = await harness(t, { ...configMap, graceSeconds: () => 30 });
  await create(map({ finalizers: [own] }));
  await remove("a");
  await edit("a", (object) => void (object.metadata.finalizers = []));
  assert.equal((await get("a"))!.metadata.deletionGracePeriodSeconds, 30);
});

test("an object that is being deleted stays so and accepts no new finalizers", async (t) => {
  const { create, edit, remove } = await harness(t, configMap);
  await create(map({ finalizers: [own] }));
  const { object: marked } = await remove("a");
  const after = await edit("a", (object) => {
    delete object.metadata.deletionTimestamp;
    delete object.metadata.deletionGracePeriodSeconds;
    setData("2")(object);
  });
  assert.deepEqual(
    [after.metadata.deletionTimestamp, after.metadata.deletionGracePeriodSeconds, dataOf(after)],
    [marked.metadata.deletionTimestamp, marked.metadata.deletionGracePeriodSeconds, "2"],
  );
  assert.ok(
    (await causesOf(edit("a", (object) => object.metadata.finalizers!.push("example.com/new")))).includes(
      "Forbidden metadata.finalizers",
    ),
  );
});

test("admission sees the old and new object, may change the new one and may refuse", async (t) => {
  const seen: unknown[] = [];
  const plugin: AdmissionPlugin = {
    name: "Watch",
    handles: ["UPDATE"],
    mutate: async ({ object, oldObject }) => {
      seen.push(dataOf(oldObject), dataOf(object));
      (object as unknown as ConfigMap).metadata.labels = { seen: "yes" };
    },
    validate: async ({ object }) =>
      dataOf(object) === "bad" ? [{ type: "FieldValueForbidden", field: "data", detail: "no" }] : [],
  };
  const { create, edit, get } = await harness(t, configMap, { plugins: [plugin] });
  await create(map());
  assert.deepEqual((await edit("a", setData("2"))).metadata.labels, { seen: "yes" });
  assert.deepEqual(await causesOf(edit("a", setData("bad"))), ["Forbidden data"]);
  assert.deepEqual(seen, ["1", "2", "2", "bad"]);
  assert.equal(dataOf(await get("a")), "2");
});

test("warnings of the strategy are sent to the client", async (t) => {
  const { create, edit, warnings } = await harness(t, {
    ...configMap,
    warnings: (_obj, old) => [old ? "changed" : "new"],
  });
  await create(map());
  await edit("a", setData("2"));
  assert.deepEqual(warnings, ["new", "changed"]);
});

test("integers beyond the safe range survive an update", async (t) => {
  const { create, edit, resource } = await harness(t, deployment);
  const template = {
    metadata: { labels: { a: "b" } },
    spec: { containers, terminationGracePeriodSeconds: 9007199254740993n },
  };
  await create({ ...deploy, spec: { ...(deploy["spec"] as object), template } });
  await edit("d", (object) => void (object.metadata.labels = { x: "y" }));
  const cached = await resource.source.get("default/d", { at: "latest" });
  assert.match(cached!.json.toString(), /"x":"y".*"terminationGracePeriodSeconds":9007199254740993,/);
});

test("generation: an empty list in a network policy differs from an absent one, and has no owner", async (t) => {
  const at = await harness(t, networkPolicy);
  await at.create({ metadata: { name: "n" }, spec: { podSelector: {} } });
  const edit = (spec: object) =>
    at.edit("n", (object) => void Object.assign((object as unknown as { spec: object }).spec, spec));
  const { metadata, spec } = await edit({ ingress: [] });
  assert.equal(metadata.generation, 2);
  assert.deepEqual(spec, { podSelector: {}, policyTypes: ["Ingress"] });
  assert.doesNotMatch(JSON.stringify(metadata.managedFields), /f:ingress/);
  assert.equal((await edit({})).metadata.generation, 2);
});

const longNames = (): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 9999 }, (_, at) => [`${"a-very-long-name-".repeat(4)}${at}`, "A"]));

test("an object too large to be stored with managed fields is stored without them", async (t) => {
  const { create, edit } = await harness(t, configMap);
  const made = await create({ metadata: { name: "b" }, data: longNames() });
  assert.equal(made.metadata.managedFields, undefined);
  await create(map());
  const changed = await edit("a", (object) => void ((object as unknown as ConfigMap).data = longNames()));
  assert.equal(changed.metadata.managedFields, undefined);
});
