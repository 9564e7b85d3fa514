import assert from "node:assert/strict";
import { test } from "node:test";
import { convertedToV3 } from "./convert-to-v3.ts";
import { mergedV2 } from "./merge-v2.ts";

const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });
const get = (name: string): object => ({
  get: { produces: ["application/json"], responses: { 200: { description: "OK", schema: ref(name) } } },
});
const own = {
  swagger: "2.0",
  paths: { "/api/": get("Meta") },
  definitions: { Meta: { type: "object" }, Shared: { type: "string" } },
};
const root = "/apis/example.com/v1";

test("without extension API servers the document is unchanged", () => {
  assert.equal(mergedV2(own, []), own);
});

test("the paths of an extension API server's version and the definitions they use are merged", () => {
  const document = {
    paths: {
      [`${root}/things`]: get("Thing"),
      "/apis/example.com/v10/a": get("Other"),
      "/api/": get("Other"),
    },
    definitions: {
      Thing: { type: "object", properties: { part: ref("Part"), self: ref("Thing") } },
      Part: { type: "integer" },
      Other: { type: "boolean" },
    },
  };
  assert.deepEqual(mergedV2(own, [{ root, document }]), {
    swagger: "2.0",
    paths: { "/api/": get("Meta"), [`${root}/things`]: get("Thing") },
    definitions: {
      Meta: { type: "object" },
      Part: { type: "integer" },
      Shared: { type: "string" },
      Thing: { type: "object", properties: { part: ref("Part"), self: ref("Thing") } },
    },
  });
});

test("a server that describes nothing but its API has all of its definitions merged", () => {
  const document = {
    paths: { [`${root}/things`]: get("Thing") },
    definitions: { Thing: { type: "object" }, Unused: { type: "string" } },
  };
  const { definitions } = mergedV2(own, [{ root, document }]) as typeof own;
  assert.deepEqual(Object.keys(definitions), ["Meta", "Shared", "Thing", "Unused"]);
});

test("kinds of a definition that are no objects are left out", () => {
  const kinds = "x-example-group-version-kind";
  const thing = { group: "a", version: "v1", kind: "Thing" };
  const documentOf = (...given: unknown[]) => ({ paths: {}, definitions: { Thing: { [kinds]: given } } });
  const remote = [documentOf(thing, null), documentOf(null, "Thing")];
  const { definitions } = mergedV2(
    own,
    remote.map((document) => ({ root, document })),
  ) as { definitions: Record<string, object> };
  assert.deepEqual(definitions["Thing"], { [kinds]: [thing] });
});

test("definitions that differ only in their kinds are merged, with all kinds", () => {
  const kinds = "x-example-group-version-kind";
  const documentOf = (group: string) => ({
    paths: { [`/apis/${group}/v1/things`]: get("Thing") },
    definitions: { Thing: { type: "object", [kinds]: [{ group, version: "v1", kind: "Thing" }] } },
  });
  const parts = ["b.io", "a.io"].map((group) => ({ root: `/apis/${group}/v1`, document: documentOf(group) }));
  const { definitions } = mergedV2(own, parts) as { definitions: Record<string, Record<string, unknown>> };
  assert.deepEqual(Object.keys(definitions), ["Meta", "Shared", "Thing"]);
  assert.deepEqual(definitions["Thing"]![kinds], [
    { group: "a.io", version: "v1", kind: "Thing" },
    { group: "b.io", version: "v1", kind: "Thing" },
  ]);
});

test("equal definitions are shared, and conflicting ones are renamed", () => {
  const document = {
    paths: { [root]: get("Thing") },
    definitions: {
      Thing: { properties: { a: ref("Meta"), b: ref("Shared") } },
      Meta: { type: "array" },
      Shared: { type: "string" },
    },
  };
  const { definitions, paths } = mergedV2(own, [{ root, document }]) as typeof own;
  assert.deepEqual(definitions, {
    Meta: { type: "object" },
    Meta_v2: { type: "array" },
    Shared: { type: "string" },
    Thing: { properties: { a: ref("Meta_v2"), b: ref("Shared") } },
  });
  assert.deepEqual(paths["/api/"], get("Meta"));
});

test("an invalid document adds nothing", () => {
  const merged = mergedV2(own, [{ root, document: { paths: null, definitions: 3 } }]);
  assert.deepEqual(merged, own);
});

test("an OpenAPI 2 document is converted to OpenAPI 3", () => {
  const document = {
    info: { title: "things", version: "1" },
    paths: {
      [`${root}/things`]: {
        post: {
          consumes: ["application/yaml"],
          produces: ["application/json"],
          schemes: ["https"],
          parameters: [
            { name: "body", in: "body", required: true, schema: ref("Thing") },
            { name: "pretty", in: "query", description: "Pretty.", type: "string", uniqueItems: true },
          ],
          responses: { 201: { description: "Created", schema: ref("Thing") }, 401: { description: "No" } },
        },
        parameters: [{ name: "namespace", in: "path", required: true, type: "string" }],
      },
      "/apis/other": {},
    },
    definitions: { Thing: { type: "object", properties: { next: ref("Thing") } } },
  };
  const schema = { $ref: "#/components/schemas/Thing" };
  assert.deepEqual(convertedToV3(document, root), {
    openapi: "3.0.0",
    info: { title: "things", version: "1" },
    paths: {
      [`${root}/things`]: {
        post: {
          parameters: [
            {
              name: "pretty",
              in: "query",
              description: "Pretty.",
              schema: { type: "string", uniqueItems: true },
            },
          ],
          requestBody: { required: true, content: { "application/yaml": { schema } } },
          responses: {
            201: { description: "Created", content: { "application/json": { schema } } },
            401: { description: "No" },
          },
        },
        parameters: [{ name: "namespace", in: "path", required: true, schema: { type: "string" } }],
      },
    },
    components: { schemas: { Thing: { type: "object", properties: { next: schema } } } },
  });
});
