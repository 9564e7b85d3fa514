import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import {
  type Message, apiPackage, bool, bytes, collectDefinitions, double, embedded, fieldsV1, inline, int32, int64, intOrString, json, list, map, microTime, optional, orArray, orBool, orStrings, pointer, quantity,
  rawExtension, recursive, required, schemaName, string, time,
} from "#schema"; // prettier-ignore

const dialect = dialects.orch;
const prefix = dialect.wire.schemaPrefix;
const x = (name: string): string => `${dialect.wire.extensionPrefix}${name}`;

const { kind, message } = apiPackage({ package: "api.test.v1", group: "test", branded: true, version: "v1" });
const Port = message(
  "Port",
  "A port.",
  { number: required(1, int32, "Its number."), name: optional(2, string, "Its name.") },
  { atomic: true },
);
const Choice = message(
  "Choice",
  "A choice.",
  { type: required(1, string, "Which."), portName: optional(2, Port, "This one.") },
  { union: { discriminator: "type", members: ["portName"] } },
);
const Source = message("Source", "A source.", { path: optional(1, string, "Where.") });
const Tree = message("Tree", "A tree.", {
  kids: optional(1, list(recursive<object>(() => treeShape())), "Below."),
  either: optional(
    2,
    orBool<object>(() => treeShape()),
    "Either.",
  ),
  some: optional(
    3,
    orArray<object>(() => treeShape()),
    "Some.",
  ),
  names: optional(
    4,
    orStrings<object>(() => treeShape()),
    "Names.",
  ),
  any: optional(5, json, "Any."),
});
function treeShape(): Message {
  return Tree;
}
const Thing = kind("Thing", "A thing.", {
  ports: required(1, list(Port), "Ports.", {
    list: { type: "map", keys: ["number"] },
    patch: { strategy: "merge", key: "number" },
  }),
  names: optional(2, list(string), "Names.", { list: { type: "set" }, enum: ["a", "b"] }),
  labels: optional(3, map(string), "Labels.", { atomicMap: true }),
  limits: optional(4, map(quantity), "Limits."),
  data: optional(5, map(bytes), "Data."),
  made: embedded(6, time, "Made.", { published: "required" }),
  seen: optional(7, microTime, "Seen."),
  port: embedded(8, intOrString, "Port."),
  choice: pointer(9, Choice, "Choice.", { atomicMap: false }),
  source: inline(10, Source),
  size: required(11, int64, "Size.", { published: "optional" }),
  share: optional(12, double, "Share."),
  on: required(13, bool, "On."),
  mode: optional(14, string, "Mode.", { default: "auto", enum: ["auto", "manual"] }),
  quiet: optional(15, string, "Quiet.", { default: "q", publishedDefault: undefined }),
  raw: embedded(16, rawExtension, "Raw."),
  managed: optional(17, fieldsV1, "Managed."),
  tree: optional(18, Tree, "Tree."),
  groups: optional(19, map(list(string)), "Groups."),
  code: optional(20, string, "Code.", { format: "date" }),
});
const meta = `${prefix}.apimachinery.pkg.apis.meta.v1`;

test("version 2 allows references next to other keys, and omits implied defaults", () => {
  const definitions = collectDefinitions([Thing], dialect, "v2");
  const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
  const thing = definitions[schemaName(Thing, dialect)]!;
  assert.deepEqual(thing.required, ["ports", "made", "on"]);
  assert.deepEqual(thing[x("group-version-kind") as "x-"], [
    { group: `test.${dialect.wire.groupSuffix}`, kind: "Thing", version: "v1" },
  ]);
  const text = { type: "string" };
  assert.deepEqual({ ...thing.properties, kind: undefined, apiVersion: undefined }, {
    kind: undefined,
    apiVersion: undefined,
    ports: { description: "Ports.", type: "array", items: ref(`${prefix}.api.test.v1.Port`), [x("list-type")]: "map", [x("list-map-keys")]: ["number"], [x("patch-strategy")]: "merge", [x("patch-merge-key")]: "number" },
    names: { description: "Names.", type: "array", items: { ...text, enum: ["a", "b"] }, [x("list-type")]: "set" },
    labels: { description: "Labels.", type: "object", additionalProperties: text, [x("map-type")]: "atomic" },
    limits: { description: "Limits.", type: "object", additionalProperties: ref(`${prefix}.apimachinery.pkg.api.resource.Quantity`) },
    data: { description: "Data.", type: "object", additionalProperties: { ...text, format: "byte" } },
    made: { description: "Made.", ...ref(`${meta}.Time`) },
    seen: { description: "Seen.", ...ref(`${meta}.MicroTime`) },
    port: { description: "Port.", ...ref(`${prefix}.apimachinery.pkg.util.intstr.IntOrString`) },
    choice: { description: "Choice.", ...ref(`${prefix}.api.test.v1.Choice`), [x("map-type")]: "granular" },
    path: { description: "Where.", ...text },
    size: { description: "Size.", type: "integer", format: "int64" },
    share: { description: "Share.", type: "number", format: "double" },
    on: { description: "On.", type: "boolean" },
    mode: { description: "Mode.", ...text, enum: ["auto", "manual"] },
    quiet: { description: "Quiet.", ...text },
    raw: { description: "Raw.", ...ref(`${prefix}.apimachinery.pkg.runtime.RawExtension`) },
    managed: { description: "Managed.", ...ref(`${meta}.FieldsV1`) },
    tree: { description: "Tree.", ...ref(`${prefix}.api.test.v1.Tree`) },
    groups: { description: "Groups.", type: "object", additionalProperties: { type: "array", items: text } },
    code: { description: "Code.", ...text, format: "date" },
  }); // prettier-ignore
  assert.equal(definitions[`${prefix}.api.test.v1.Port`]![x("map-type") as "x-"], "atomic");
  assert.deepEqual(definitions[`${prefix}.api.test.v1.Choice`]![x("unions") as "x-"], [
    { discriminator: "type", "fields-to-discriminateBy": { portName: "PortName" } },
  ]);
});

test("version 3 wraps references, and shows implied defaults", () => {
  const definitions = collectDefinitions([Thing], dialect, "v3");
  const properties = definitions[schemaName(Thing, dialect)]!.properties!;
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  assert.deepEqual(properties["ports"]!.items, { allOf: [ref(`${prefix}.api.test.v1.Port`)], default: {} });
  assert.deepEqual(properties["names"]!.items, { default: "", type: "string", enum: ["a", "b"] });
  assert.deepEqual(properties["limits"]!.additionalProperties, {
    allOf: [ref(`${prefix}.apimachinery.pkg.api.resource.Quantity`)],
    default: {},
  });
  assert.deepEqual(properties["data"]!.additionalProperties, { type: "string", format: "byte" });
  assert.deepEqual(properties["made"], { allOf: [ref(`${meta}.Time`)], description: "Made.", default: {} });
  assert.deepEqual(properties["seen"], { allOf: [ref(`${meta}.MicroTime`)], description: "Seen." });
  assert.deepEqual(
    ["size", "on", "mode", "quiet", "share", "ports"].map((name) => properties[name]!.default),
    [0, false, "auto", undefined, undefined, undefined],
  );
  assert.deepEqual(properties["groups"]!.additionalProperties, {
    type: "array",
    items: { default: "", type: "string" },
  });
  assert.deepEqual(definitions[`${prefix}.apimachinery.pkg.util.intstr.IntOrString`]!.oneOf, [
    { type: "integer" },
    { type: "string" },
  ]);
});

test("version 3 has extensions in the clients' spelling, too, version 2 only in the dialect's", () => {
  const ports = (version: "v2" | "v3") =>
    collectDefinitions([Thing], dialect, version)[schemaName(Thing, dialect)]!.properties!["ports"]!;
  const keys = (version: "v2" | "v3") => Object.keys(ports(version)).filter((key) => key.startsWith("x-"));
  const marks = ["list-type", "list-map-keys", "patch-strategy", "patch-merge-key"];
  assert.deepEqual(keys("v2"), marks.map(x));
  assert.deepEqual(keys("v3"), [
    ...marks.map(x),
    ...marks.map((mark) => dialect.wire.clientExtensionPrefix + mark),
  ]);
  assert.equal(ports("v3")["x-kubernetes-patch-merge-key"], "number");
});

test("a recursive message is defined once, and its unions have names", () => {
  const definitions = collectDefinitions([Tree], dialect, "v2");
  const names = Object.keys(definitions).map((name) => name.slice(prefix.length + 1));
  assert.deepEqual(names, [
    "api.test.v1.JSON",
    "api.test.v1.Tree",
    "api.test.v1.TreeOrArray",
    "api.test.v1.TreeOrBool",
    "api.test.v1.TreeOrStringArray",
    "apimachinery.pkg.apis.meta.v1.Patch",
  ]);
});

test("some messages are published as kinds of every group and version", () => {
  const versions = [
    { group: "test", branded: true, version: "v1" },
    { group: "", branded: false, version: "v1" },
    { group: "test", branded: true, version: "v1beta1" },
  ];
  const definitions = collectDefinitions([Port], dialect, "v2", { messages: [Port], versions, patch: false });
  const group = `test.${dialect.wire.groupSuffix}`;
  assert.deepEqual(definitions[schemaName(Port, dialect)]![x("group-version-kind") as "x-"], [
    { group: "", kind: "Port", version: "v1" },
    { group, kind: "Port", version: "v1" },
    { group, kind: "Port", version: "v1beta1" },
  ]);
});
