import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "#api";
import { dialects } from "#dialect";
import { Resource, type Strategy, builtInStrategies, strategy } from "#registry";
import { MemoryStore } from "#store";
import { type RemoteVersion, type VirtualGroup, catalog, dynamicCatalog, verbsOf } from "./catalog.ts";

const store = new MemoryStore();
const resource = (given: Strategy, dialect = dialects.orch): Resource =>
  new Resource(given, { dialect, store, storePrefix: "/registry", media: "json" });
const inGroup = (group: string, version: string, name = "things"): Strategy =>
  strategy({
    resource: name,
    singular: "thing",
    scope: "Namespaced",
    hub: { ...ConfigMap, kind: { ...ConfigMap.kind, group, version, branded: false } },
  });

const orders: [name: string, versions: string[], expected: string[]][] = [
  ["stable before beta before alpha", ["v1alpha1", "v1", "v1beta1"], ["v1", "v1beta1", "v1alpha1"]],
  ["higher before lower", ["v1", "v10", "v2"], ["v10", "v2", "v1"]],
  ["higher betas before lower", ["v1beta1", "v2beta1", "v1beta3"], ["v2beta1", "v1beta3", "v1beta1"]],
  ["a stable one before any beta, however high", ["v3beta1", "v1"], ["v1", "v3beta1"]],
  ["an invalid version comes last", ["latest", "v1alpha1"], ["v1alpha1", "latest"]],
];
for (const [name, versions, expected] of orders) {
  test(`versions of a group: ${name}`, () => {
    const { groups } = catalog(
      versions.map((version) => resource(inGroup("g", version))),
      [],
      dialects.orch,
    );
    assert.deepEqual(
      groups()[0]!.versions.map(({ version }) => version),
      expected,
    );
  });
}

for (const dialect of Object.values(dialects)) {
  test(`groups are in discovery order, unknown ones last, without the core group (${dialect.name})`, () => {
    const resources = [inGroup("zoo.example", "v1"), ...builtInStrategies].map((given) =>
      resource(given, dialect),
    );
    const { groups, find } = catalog(resources, [], dialect);
    const names = groups().map(({ name }) => name);
    assert.deepEqual(names.slice(0, 2), ["apps", `events.${dialect.wire.groupSuffix}`]);
    assert.equal(names.at(-1), "zoo.example");
    assert.ok(!names.includes(""));
    assert.ok(find("", "v1")!.endpoints.has("pods"));
    assert.equal(find("apps", "v9"), undefined);
  });
}

test("events are one resource, found in two groups", () => {
  const { find } = catalog(
    builtInStrategies.map((given) => resource(given)),
    [],
    dialects.orch,
  );
  const [core, events] = [
    find("", "v1")!.endpoints.get("events")!,
    find("events.orch.io", "v1")!.endpoints.get("events")!,
  ];
  assert.equal(core.resource, events.resource);
  assert.deepEqual(
    [core.apiVersion, events.apiVersion, core.isHub, events.isHub],
    ["v1", "events.orch.io/v1", false, true],
  );
});

const special: VirtualGroup = {
  group: "questions",
  branded: true,
  version: "v1",
  endpoints: [
    {
      path: "reviews",
      kind: "Review",
      namespaced: false,
      verbs: ["create"],
      handle: async () => ({ status: 201, headers: {} }),
    },
  ],
};

test("resources with dedicated handlers are listed, too", () => {
  const { find, groups } = catalog([], [special], dialects.orch);
  assert.equal(find("questions.orch.io", "v1")!.virtual.get("reviews")!.kind, "Review");
  assert.deepEqual(
    groups().map(({ name }) => name),
    ["questions.orch.io"],
  );
});

test("disabled APIs are not served", () => {
  const { find } = catalog(
    [resource(inGroup("g", "v1")), resource(inGroup("g", "v1", "others"))],
    [special],
    dialects.orch,
    (group, _version, name) => group === "g" && name !== "others",
  );
  assert.deepEqual([...find("g", "v1")!.endpoints.keys()], ["things"]);
  assert.equal(find("questions.orch.io", "v1"), undefined);
});

test("a kind has all verbs unless it names its own", () => {
  const [all, some] = [resource(inGroup("g", "v1")), resource({ ...inGroup("g", "v1"), verbs: ["get"] })];
  assert.equal(verbsOf(all.endpoints[0]!).length, 8);
  assert.deepEqual(verbsOf(some.endpoints[0]!), ["get"]);
});

const remoteVersion = (version: string, groupPriority: number, versionPriority = 15): RemoteVersion => ({
  group: "stable.example",
  version,
  groupPriority,
  versionPriority,
  available: true,
  resources: () => [],
  discovered: () => true,
});
const extendedBy = (definitions: readonly Strategy[], remotes: readonly RemoteVersion[] = []) =>
  dynamicCatalog(
    catalog(
      builtInStrategies.map((given) => resource(given, dialects.kubernetes)),
      [],
      dialects.kubernetes,
    ),
    {
      generation: () => 1,
      served: () => definitions.flatMap((given) => resource(given, dialects.kubernetes).endpoints),
    },
    { generation: () => 1, remote: () => remotes },
  );

test("a definition cannot extend a built-in version, but may add a version to a group", () => {
  const { find, groups } = extendedBy([inGroup("apps", "v1"), inGroup("apps", "v9")]);
  assert.equal(find("apps", "v1")!.endpoints.has("things"), false);
  assert.equal(find("apps", "v9")!.endpoints.has("things"), true);
  assert.deepEqual(
    groups()
      .find(({ name }) => name === "apps")!
      .versions.map(({ version }) => version),
    ["v9", "v1"],
  );
});

const places: [name: string, priorities: number[], place: number][] = [
  ["a group of an extension API server with a high priority precedes built-in groups", [20000], 0],
  ["the highest priority of its versions counts", [1, 17790], 1],
  ["a group with a low priority follows all others", [1], -1],
];
for (const [name, priorities, place] of places)
  test(name, () => {
    const remotes = priorities.map((priority, index) => remoteVersion(`v${index + 1}`, priority));
    const { groups } = extendedBy([inGroup("zoo.example", "v1")], remotes);
    assert.equal(groups().at(place)!.name, "stable.example");
  });
