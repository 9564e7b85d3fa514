import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "#api";
import type { AdmissionPlugin } from "#admission";
import { required } from "#base";
import { type Sent, causesOf, refusal, harness, harnessNow } from "./registry.fixture.ts";
import { timestamp } from "./request.ts";
import type { Strategy } from "./strategy.ts";
import { configMap } from "./strategies/config-map.ts";
import { event } from "./strategies/event.ts";
import { job } from "./strategies/job.ts";
import { namespace } from "./strategies/namespace.ts";

const map = (more: Sent["metadata"] = { name: "a" }): Sent => ({ metadata: more, data: { x: "1" } });
const revised: Strategy = { ...configMap, generation: true };

test("the server fills in its fields of a new object", async (t) => {
  const { create, get } = await harness(t, revised);
  const made = await create(
    map({
      name: "a",
      uid: "mine",
      creationTimestamp: "2000-01-01T00:00:00Z",
      generation: 9,
      deletionTimestamp: "2000-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 5,
      selfLink: "/me",
    }),
  );
  const { managedFields, ...metadata } = made.metadata;
  assert.match(metadata.uid!, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.deepEqual(
    { ...metadata, uid: "" },
    {
      name: "a",
      namespace: "default",
      uid: "",
      resourceVersion: metadata.resourceVersion,
      generation: 1,
      creationTimestamp: timestamp(new Date(harnessNow)),
    },
  );
  assert.equal(managedFields?.[0]?.manager, "tester");
  assert.deepEqual(await get("a"), made);
});

for (const [name, resourceVersion] of [
  ["zero", "0"],
  ["not a number", "x"],
  ["negative", "-1"],
] as const)
  test(`a resourceVersion that is ${name} is treated as unset`, async (t) => {
    const { create } = await harness(t, configMap);
    const made = await create(map({ name: "a", resourceVersion }));
    assert.match(made.metadata.resourceVersion!, /^[1-9]/);
  });

const refusals: [name: string, sent: Sent, kind: Strategy, code: number, message: RegExp][] = [
  [
    "with a resourceVersion",
    map({ name: "a", resourceVersion: "5" }),
    configMap,
    400,
    /resourceVersion should not be set/,
  ],
  [
    "with a resourceVersion and an invalid name",
    map({ name: "A", resourceVersion: "5" }),
    configMap,
    422,
    /metadata\.name/,
  ],
  [
    "that fails its precheck",
    map({ name: "A" }),
    { ...configMap, precheck: () => [required("data", "nothing is left")] },
    422,
    /is invalid: data: Required value: nothing is left$/,
  ],
  [
    "without a name",
    map({}),
    configMap,
    422,
    /metadata\.name: Required value: name or generateName is required/,
  ],
  ["with an invalid name", map({ name: "A" }), configMap, 422, /metadata\.name: Invalid value: "A"/],
  [
    "of another namespace",
    map({ name: "a", namespace: "other" }),
    configMap,
    400,
    /namespace of the provided object does not match/,
  ],
  [
    "with an unqualified finalizer",
    map({ name: "a", finalizers: ["bare"] }),
    configMap,
    422,
    /finalizers\[0\].*neither a standard finalizer name/,
  ],
];
for (const [name, sent, kind, code, message] of refusals) {
  test(`a new object ${name} is refused and not stored`, async (t) => {
    const { create, writes } = await harness(t, kind);
    await assert.rejects(create(sent), refusal(code, message));
    assert.equal(writes(), 0);
  });
}

test("the namespace of a cluster-scoped object is dropped", async (t) => {
  const { create } = await harness(t, namespace);
  assert.equal((await create({ metadata: { name: "n", namespace: "other" } })).metadata.namespace, undefined);
});

test("creating an object with an existing name conflicts", async (t) => {
  const { create, get } = await harness(t, configMap);
  const first = await create(map());
  await assert.rejects(create(map()), refusal(409, /^configmaps "a" already exists$/));
  assert.deepEqual(await get("a"), first);
});

test("the conflict with an object that is being deleted says so", async (t) => {
  const { create, remove } = await harness(t, configMap);
  await create(map({ name: "a", finalizers: ["example.com/x"] }));
  await assert.rejects(create(map()), refusal(409, /^configmaps "a" already exists$/));
  await remove("a");
  await assert.rejects(
    create(map()),
    refusal(409, /^object is being deleted: configmaps "a" already exists$/),
  );
});

test("exactly one of several concurrent creates with the same name succeeds", async (t) => {
  const { create } = await harness(t, configMap);
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => create(map())));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a generated name that is taken is generated again", async (t) => {
  const tried: string[] = [];
  const { create, store } = await harness(t, configMap, {
    beforeWrite: async ({ key }, count) => {
      tried.push(key);
      // Another writer takes the name, twice.
      if (count === 1 || count === 3) await store.write({ key, value: Buffer.from("{}"), expect: "absent" });
    },
  });
  const { metadata } = await create(map({ generateName: "a-" }));
  assert.match(metadata.name!, /^a-[b-z2-9]{5}$/);
  assert.equal(metadata.generateName, "a-");
  assert.equal(metadata.managedFields?.length, 1);
  assert.equal(new Set(tried).size, 3);
  assert.ok(tried.at(-1)!.endsWith(metadata.name!));
});

test("when all generated names are taken, the client is asked to retry", async (t) => {
  const { create, store } = await harness(t, configMap, {
    beforeWrite: async ({ key, value }) =>
      void (value!.length > 2 && (await store.write({ key, value: Buffer.from("{}"), expect: "any" }))),
  });
  await assert.rejects(
    create(map({ generateName: "a-" })),
    (error) =>
      refusal(409, /not able to generate a unique name/)(error) &&
      (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds === 1,
  );
});

test("a name takes precedence over generateName", async (t) => {
  const { create } = await harness(t, configMap);
  assert.equal((await create(map({ name: "a", generateName: "b-" }))).metadata.name, "a");
});

test("a dry run returns the object without storing it", async (t) => {
  const { create, get, writes } = await harness(t, revised);
  const shown = await create(map(), { dryRun: true });
  assert.ok(shown.metadata.uid);
  assert.equal("resourceVersion" in shown.metadata, false);
  assert.equal(writes(), 0);
  assert.equal(await get("a"), undefined);
  await create(map());
  await assert.rejects(create(map(), { dryRun: true }), refusal(409));
  assert.deepEqual(await causesOf(create(map({ name: "A" }), { dryRun: true })), ["Invalid metadata.name"]);
});

test("the status of a new object is cleared for kinds that clear it", async (t) => {
  const { create } = await harness(t, namespace);
  assert.deepEqual((await create({ metadata: { name: "n" }, status: { phase: "Terminating" } }))["status"], {
    phase: "Active",
  });
});

test("mutating admission runs before validation, validating admission after it", async (t) => {
  const seen: string[] = [];
  const plugin: AdmissionPlugin = {
    name: "Fill",
    handles: ["CREATE"],
    mutate: async ({ object, name, namespace: place }) => {
      seen.push(`mutate ${place}/${name}`);
      (object as unknown as ConfigMap).data = { filled: "in" };
    },
    validate: async ({ object, oldObject }) => {
      seen.push(
        `validate ${(object as unknown as ConfigMap).data!["filled"]} ${(object as unknown as ConfigMap).metadata.uid !== undefined} ${oldObject}`,
      );
      return [];
    },
  };
  const { create } = await harness(t, configMap, { plugins: [plugin] });
  assert.deepEqual((await create(map()))["data"], { filled: "in" });
  assert.deepEqual(seen, ["mutate default/a", "validate in true undefined"]);
});

test("mutating admission sees no generated name, validating admission does", async (t) => {
  const seen: string[] = [];
  const note = (phase: string, name: string, object: object): void =>
    void seen.push(
      `${phase} ${[name, (object as ConfigMap).metadata.name].map((each) => (each ? "named" : "unnamed"))}`,
    );
  const plugin: AdmissionPlugin = {
    name: "Look",
    handles: ["CREATE"],
    mutate: async ({ object, name }) => note("mutate", name, object!),
    validate: async ({ object, name }) => {
      note("validate", name, object!);
      return [];
    },
  };
  const { create } = await harness(t, configMap, { plugins: [plugin] });
  await create(map({ generateName: "a-" }));
  assert.deepEqual(seen, ["mutate unnamed,unnamed", "validate named,named"]);
});

test("managed fields that admission made invalid are restored with a warning", async (t) => {
  const plugin: AdmissionPlugin = {
    name: "Break",
    handles: ["CREATE", "UPDATE"],
    mutate: async ({ object }) => {
      (object as unknown as ConfigMap).metadata.managedFields = [{ manager: "x", operation: "Never" }];
    },
  };
  const { create, edit, warnings } = await harness(t, configMap, { plugins: [plugin] });
  const made = await create(map());
  const changed = await edit("a", (object) => void (object.metadata.labels = { b: "c" }));
  for (const { metadata } of [made, changed])
    assert.deepEqual(
      metadata.managedFields?.map(({ manager }) => manager),
      ["tester"],
    );
  assert.equal(warnings.length, 2);
  assert.match(warnings[0]!, /^\.metadata\.managedFields was in an invalid state .*: operation must be/);
});

test("nothing is stored when admission refuses an object", async (t) => {
  const refuse: AdmissionPlugin = {
    name: "Refuse",
    handles: ["CREATE"],
    validate: async () => [{ type: "FieldValueForbidden", field: "data", detail: "no" }],
  };
  const { create, writes } = await harness(t, configMap, { plugins: [refuse] });
  assert.deepEqual(await causesOf(create(map())), ["Forbidden data"]);
  assert.equal(writes(), 0);
});

test("a repeated owner reference is dropped with a warning", async (t) => {
  const { create, edit, warnings } = await harness(t, configMap);
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u-1" };
  const other = { ...owner, name: "q" };
  const made = await create(map({ name: "a", ownerReferences: [owner, { ...owner }, other] }));
  assert.deepEqual(made.metadata.ownerReferences, [owner, other]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /entries; .*duplicate UID\(s\) observed: u-1$/);
  const changed = await edit("a", (object) => void (object.metadata.ownerReferences = [other, { ...other }]));
  assert.deepEqual([changed.metadata.ownerReferences, warnings.length], [[other], 2]);
  assert.match(warnings[1]!, /entries after mutating admission happens; .* observed: u-1$/);
});

test("errors of the schema and of the strategy are returned together", async (t) => {
  const { create } = await harness(t, configMap);
  assert.deepEqual(await causesOf(create({ metadata: { name: "A" }, data: { "bad key": "" } })), [
    "Invalid metadata.name",
    "Invalid data[bad key]",
  ]);
});

test("events are stored with the configured time to live", async (t) => {
  const lives: (number | undefined)[] = [];
  const { create } = await harness(t, event, {
    beforeWrite: ({ ttlSeconds }) => void lives.push(ttlSeconds),
  });
  await create({
    metadata: { name: "a" },
    eventTime: "2030-01-01T00:00:00.000000Z",
    type: "Normal",
    reason: "Tested",
    action: "Test",
    reportingController: "example.com/test",
    reportingInstance: "test-1",
    regarding: { namespace: "default" },
  });
  assert.deepEqual(lives, [3600]);
});

for (const media of ["json", "protobuf"] as const) {
  test(`an object stored as ${media} reads back the same, in the writing process and in another one`, async (t) => {
    const { create, resource, store } = await harness(t, configMap, { media });
    const made = await create({
      metadata: { name: "a", labels: { b: "c" }, annotations: { "example.com/u": "ü\u2028" } },
      data: { ["__proto__"]: "own", toString: "1" },
      binaryData: { b: "AAE=" },
    });
    const [entry] = (await store.read({ prefix: resource.prefix })).entries;
    assert.equal(entry!.value[0] === 0x7b, media === "json");
    const stranger = resource.reader({ ...entry!, value: Uint8Array.from(entry!.value) });
    assert.deepEqual(JSON.parse(stranger.json.toString()), made);
    assert.deepEqual(stranger.labels, { b: "c" });
    assert.deepEqual(Object.keys(made["data"] as object), ["__proto__", "toString"]);
  });
}

const note = (text: string): Sent => ({ metadata: { name: "a" }, note: text });
const stored = /^etcdserver: request is too large: the object takes \d+ bytes/;
const sentOn = /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs/;
const sizes: [name: string, media: "json" | "protobuf", sent: Sent, words: RegExp | undefined][] = [
  ["a long message", "json", note("x".repeat(1_600_000)), stored],
  ["a long message in protobuf", "protobuf", note("x".repeat(1_600_000)), stored],
  ["a message beyond the limit of the etcd client", "json", note("x".repeat(2_100_000)), sentOn],
  [
    "a message beyond the limit of the etcd client in protobuf",
    "protobuf",
    note("x".repeat(2_100_000)),
    sentOn,
  ],
  ["a message that is long only as JSON", "json", note("\u0001".repeat(500_000)), undefined],
];
for (const [name, media, sent, words] of sizes) {
  test(`objects above the size limit are refused: ${name}`, async (t) => {
    const lenient: Strategy = { ...event, validate: () => [] };
    const { create } = await harness(t, lenient, { media });
    if (words === undefined) await create(sent);
    else await assert.rejects(create(sent), refusal(413, words));
  });
}

test("a job with an invalid name gets no generated labels before it is refused", async (t) => {
  const { create } = await harness(t, job);
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const refused = create({ metadata: { name: "not/a/label" }, spec: { template } });
  const causes = await causesOf(refused);
  assert.ok(causes.some((cause) => cause.endsWith(" spec.template.labels")));
  assert.ok(!causes.some((cause) => cause.endsWith(" metadata.labels")));
});
