import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { type Dialect, dialects, groupName } from "#dialect";
import type { Field, Message, Shape, TypeOf } from "#schema";
import * as api from "./index.ts";

// Facts about the reference, which are not part of the repository: field numbers, list types, vectors.
const reference = new URL("../../../shared/reference/", import.meta.url);
const skip = existsSync(reference) ? false : "no reference facts beside the repo";
const read = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, reference), "utf8")) as T;
/** The dialect of the facts. */
const original = Object.values(dialects).find((dialect) => dialect !== dialects.orch)!;
const extension = original.wire.extensionPrefix;

const messages = new Set<Message>();
const gather = (shape: Shape): void => {
  if (shape.shape === "list" || shape.shape === "map") return gather(shape.of);
  if (shape.shape === "recursive") return gather(shape.get());
  if (shape.shape !== "message" || messages.has(shape)) return;
  messages.add(shape);
  for (const field of Object.values(shape.fields)) gather(field.shape);
};
const declared = [...Object.values<unknown>(api), ...Object.values<unknown>(api.flowcontrolV1beta2)]
  .map((value): unknown => value)
  .filter(
    (value): value is Message =>
      typeof value === "object" && value !== null && "shape" in value && value.shape === "message",
  )
  .map(api.gatedFields({ isOn: () => false, expressionRelease: 27 }))
  .map((message) => api.inDialect(original, message));
for (const message of declared) gather(message);
const lists = declared
  .filter(
    (message) =>
      message.kind !== undefined &&
      (message.fields["metadata"]?.shape as Message | undefined)?.name === "ObjectMeta",
  )
  .map((message) => api.listOf(message as api.Kind));
const all = [...messages];
const title = (message: Message): string => `${message.package}.${message.name}`;

test("no two declarations have the same name", () => {
  const names = all.filter(({ more }) => !more.variantOf).map(title);
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
});

test("field numbers are unique within a message", () => {
  for (const message of all) {
    const numbers = Object.values(message.fields).map((field) => field.number);
    assert.equal(new Set(numbers).size, numbers.length, title(message));
  }
});

test("everything is documented in whole, short sentences", () => {
  const wrong = all.flatMap((message) => [
    ...(message.doc.endsWith(".") ? [] : [title(message)]),
    ...Object.entries(message.fields)
      .filter(
        ([, field]) => field.presence !== "inline" && !(field.doc.endsWith(".") && field.doc.length <= 120),
      )
      .map(([key]) => `${title(message)}.${key}`),
  ]);
  assert.deepEqual(wrong, []);
});

test("the TypeScript type of a kind is derived from its declaration", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", creationTimestamp: null },
    spec: {
      containers: [
        {
          name: "web",
          image: "web:1",
          resources: { limits: { cpu: "1" } },
          livenessProbe: { httpGet: { port: 80 } },
        },
      ],
    },
    status: {},
  } satisfies api.Pod;
  // @ts-expect-error a container needs a name
  const nameless: api.Pod = { ...pod, spec: { containers: [{ image: "web:1", resources: {} }] } };
  const port: string | number | undefined = (pod as api.Pod).spec.containers?.[0]?.livenessProbe?.httpGet
    ?.port;
  assert.deepEqual([nameless.kind, port], [api.Pod.kind.kind, 80]);
});

test("a schema may contain schemas, and booleans or lists instead of them", () => {
  const open = {
    type: "object",
    properties: { replicas: { type: "integer", minimum: 0 } },
    items: [{ type: "string" }],
    additionalProperties: false,
  } satisfies api.JSONSchemaProps;
  // @ts-expect-error the inner schema is checked, too
  const wrong: api.JSONSchemaProps = { properties: { replicas: { type: 1 } } };
  const { shape } = api.inDialect(original, api.JSONSchemaProps).fields.not;
  assert.ok(shape.shape === "recursive" && `${extension}list-type` in shape.get().fields);
  assert.deepEqual(
    Object.keys(open).filter((key) => !(key in api.JSONSchemaProps.fields)),
    [],
  );
  assert.equal(typeof wrong, "object");
});

test("fields that contain a product name use the dialect's", () => {
  const info = (dialect: Dialect): string[] =>
    Object.keys(api.inDialect(dialect, api.NodeSystemInfo).fields).slice(6, 8);
  assert.deepEqual(info(dialects.orch), ["nodeagentVersion", "orchProxyVersion"]);
  assert.deepEqual(info(original), [`${original.cli.agent}Version`, api.keyIn(original, "orchProxyVersion")]);
  assert.notDeepEqual(info(dialects.orch), info(original));
  assert.equal(api.inDialect(original, api.Pod), api.Pod);
  assert.equal(api.inDialect(original, api.Node), api.inDialect(original, api.Node));
});

test("a list declaration is created once and named after its kind", () => {
  const Pods = api.listOf(api.ConfigMap);
  assert.equal(Pods, api.listOf(api.ConfigMap));
  assert.deepEqual(Pods.kind, { group: "", branded: false, version: "v1", kind: "ConfigMapList" });
  const empty = { apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items: [] } satisfies TypeOf<
    typeof Pods
  >;
  assert.deepEqual(Object.keys(Pods.fields), Object.keys(empty).slice(2));
});

// ---- protobuf ----

type ProtobufFacts = Record<
  string,
  { readonly messages: Record<string, Record<string, [number: number, type: string, label?: string]>> }
>;
const binary: Record<string, string> = {
  time: "Time",
  microTime: "MicroTime",
  duration: "Duration",
  quantity: "Quantity",
  intOrString: "IntOrString",
  rawExtension: "RawExtension",
  fieldsV1: "FieldsV1",
  json: "JSON",
};
const wrappers = {
  bool: "JSONSchemaPropsOrBool",
  array: "JSONSchemaPropsOrArray",
  strings: "JSONSchemaPropsOrStringArray",
};
const binaryType = (shape: Shape): string => {
  if (shape.shape === "scalar") return binary[shape.scalar] ?? shape.scalar;
  if (shape.shape === "message") return shape.name;
  if (shape.shape === "recursive") return shape.or ? wrappers[shape.or] : "JSONSchemaProps";
  if (shape.shape === "map")
    return `map<string,${shape.of.shape === "list" ? "wrapper" : binaryType(shape.of)}>`;
  return binaryType(shape.of);
};
const binaryField = (field: Field): unknown[] => {
  const repeated = field.shape.shape === "list" && !field.more.wrapped;
  return [
    field.number,
    field.more.wrapped ? "wrapper" : binaryType(field.shape),
    ...(repeated ? ["repeated"] : []),
  ];
};
const plain = (type: string): string =>
  type.replace(/[\w.]+/g, (name) => name.split(".").at(-1)!).replace(/\b(ExtraValue|Verbs)\b/, "wrapper");

/** Files that have no protobuf encoding, so the reference has no field numbers for them. */
const configFiles = all
  .filter(
    ({ package: name }) => name.startsWith(`${original.cli.agent}.`) || name === api.AuditPolicyFile.package,
  )
  .map((message) => message.name);
const jsonOnly = [
  "AutoscalerAnnotations",
  "Info",
  "Table",
  "TableColumnDefinition",
  "TableRow",
  "TableRowCondition",
  ...configFiles,
];

/**
 * Introduced after the release of the facts: a version, identical to v2beta1, and messages of gated fields and
 * kinds.
 */
const laterVersion = "api.apidiscovery.v2";
const laterMessages = [
  "api.core.v1.AppArmorProfile",
  "api.authorization.v1.FieldSelectorAttributes",
  "api.authorization.v1.LabelSelectorAttributes",
  "apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement",
  "api.authentication.v1.SelfSubjectReview",
  "api.authentication.v1.SelfSubjectReviewStatus",
  "api.batch.v1.SuccessPolicy",
  "api.batch.v1.SuccessPolicyRule",
  "apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField",
];

test("field numbers and binary types are those of the reference", { skip }, () => {
  const facts = read<ProtobufFacts>("protobuf-api-facts.json");
  const byPackage = new Map(
    Object.entries(facts).map(([name, { messages }]) => [name.replaceAll("_", "-"), messages]),
  );
  const suffix = original.wire.groupSuffix;
  const missing: string[] = [];
  for (const message of [...all, ...lists]) {
    const known = byPackage.get(`${suffix}.${message.package}`)?.[message.name];
    if (known === undefined) {
      const isLater = message.package === laterVersion || laterMessages.includes(title(message));
      if (!isLater) missing.push(message.name);
      continue;
    }
    const sort = (rows: unknown[][]): unknown[][] =>
      rows.toSorted((a, b) => (a[0] as number) - (b[0] as number));
    const facts = Object.values(known).map(([number, type, ...rest]) => [number, plain(type), ...rest]);
    assert.deepEqual(sort(Object.values(message.fields).map(binaryField)), sort(facts), title(message));
  }
  assert.deepEqual(
    missing.filter((name) => !jsonOnly.includes(name) && !lists.some((made) => made.name === name)),
    [],
  );
});

// ---- published schemas ----

interface Published {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Record<string, Published>;
  readonly items?: Published;
  readonly additionalProperties?: Published;
  readonly enum?: readonly string[];
  readonly [extension: `x-${string}`]: unknown;
}

/** The fields of a message as they appear in its JSON. */
const flat = (message: Message): [string, Field][] =>
  Object.entries(message.fields).flatMap(([key, field]) =>
    field.presence === "inline" && field.shape.shape === "message"
      ? flat(field.shape)
      : [[key, field] as [string, Field]],
  );

const listType = (published: Published): unknown => {
  const type = published[`${extension}list-type` as "x-"];
  const keys = published[`${extension}list-map-keys` as "x-"];
  return type === undefined ? undefined : keys === undefined ? { type } : { type, keys };
};
const patchOf = (published: Published): unknown => {
  const strategy = published[`${extension}patch-strategy` as "x-"];
  const key = published[`${extension}patch-merge-key` as "x-"];
  return strategy === undefined && key === undefined
    ? undefined
    : { ...(strategy === undefined ? {} : { strategy }), ...(key === undefined ? {} : { key }) };
};
const json: Record<string, string> = {
  bool: "boolean",
  int32: "integer",
  int64: "integer",
  double: "number",
  string: "string",
  bytes: "string",
};
const shown = (shape: Shape): string => {
  if (shape.shape === "list") return `[${shown(shape.of)}]`;
  if (shape.shape === "map") return `{${shown(shape.of)}}`;
  if (shape.shape === "message") return shape.name;
  if (shape.shape === "recursive") return shape.or ? wrappers[shape.or] : "JSONSchemaProps";
  return binary[shape.scalar] ?? json[shape.scalar] ?? shape.scalar;
};
const shownIn = (published: Published): string => {
  if (published.$ref !== undefined) return published.$ref.split(".").at(-1)!;
  if (published.items !== undefined) return `[${shownIn(published.items)}]`;
  if (published.additionalProperties !== undefined) return `{${shownIn(published.additionalProperties)}}`;
  return published.type ?? "none";
};

/** Published as a map list by name by mistake, without effect: lists are never applied. */
const slips = ["CSIStorageCapacityList"];

test(
  "required fields, types, lists, merge keys and enumerations are those of the reference",
  { skip },
  () => {
    const { definitions } = read<{ definitions: Record<string, Published> }>("openapi-facts.json");
    let compared = 0;
    for (const message of [...all, ...lists]) {
      const known = definitions[`${original.wire.schemaPrefix}.${title(message)}`];
      if (known === undefined) continue;
      compared += 1;
      const fields = flat(message);
      const typeFields = message.kind === undefined ? [] : ["kind", "apiVersion"];
      assert.deepEqual(
        new Set([...typeFields, ...fields.map(([key]) => key)]),
        new Set(Object.keys(known.properties ?? {})),
        `${title(message)}: fields`,
      );
      const mustHave = fields
        .filter(
          ([, { more, presence }]) =>
            (more.published ?? (presence === "required" ? "required" : "optional")) === "required",
        )
        .map(([key]) => key);
      assert.deepEqual(
        mustHave.toSorted(),
        [...(known.required ?? [])].toSorted(),
        `${title(message)}: required`,
      );
      assert.equal(
        message.more.atomic ?? false,
        known[`${extension}map-type` as "x-"] === "atomic",
        `${title(message)}: atomic`,
      );
      for (const [key, { shape, more }] of fields) {
        const property: Published = known.properties?.[key] ?? {};
        const where = `${title(message)}.${key}`;
        assert.equal(shown(shape), shownIn(property), `${where}: type`);
        if (!slips.includes(message.name))
          assert.deepEqual(more.list, listType(property), `${where}: list type`);
        assert.deepEqual(more.patch, patchOf(property), `${where}: patch`);
        assert.deepEqual(more.enum, property.enum ?? property.items?.enum, `${where}: enum`);
        const mapType = property[`${extension}map-type` as "x-"];
        assert.equal(
          more.atomicMap,
          mapType === undefined ? undefined : mapType === "atomic",
          `${where}: map type`,
        );
      }
    }
    const names = new Set(
      [...all, ...lists].map((message) => `${original.wire.schemaPrefix}.${title(message)}`),
    );
    const undeclared = Object.entries(definitions).filter(
      ([name, { properties }]) => properties !== undefined && !names.has(name),
    );
    assert.deepEqual(
      undeclared.map(([name]) => name.split(".").at(-1)),
      [],
      "the rest of what the reference publishes",
    );
    assert.ok(compared > 400, `only ${compared} compared`);
  },
);

test("fields are in the order in which the reference writes them", { skip }, () => {
  let compared = 0;
  const follow = (shape: Shape, value: unknown, where: string): void => {
    if (value === null || typeof value !== "object") return;
    if (shape.shape === "list") for (const item of value as unknown[]) follow(shape.of, item, where);
    if (shape.shape === "map") for (const item of Object.values(value)) follow(shape.of, item, where);
    if (shape.shape !== "message") return;
    const fields = flat(shape);
    const keys = Object.keys(value).filter(
      (key) => !(shape.kind && (key === "kind" || key === "apiVersion")),
    );
    assert.deepEqual(
      keys,
      fields.map(([key]) => key).filter((key) => key in value),
      `${where} (${title(shape)})`,
    );
    for (const [key, field] of fields)
      follow(field.shape, (value as Record<string, unknown>)[key], `${where}.${key}`);
  };
  for (const message of declared) {
    if (message.kind === undefined) continue;
    const group = groupName(original, message.kind) || "core";
    const path = `codec/${group}.${message.kind.version}.${message.kind.kind}.json`;
    if (!existsSync(new URL(path, reference))) continue;
    follow(message, read(path), message.kind.kind);
    compared += 1;
  }
  assert.ok(compared > 75, `only ${compared} compared`);
});
