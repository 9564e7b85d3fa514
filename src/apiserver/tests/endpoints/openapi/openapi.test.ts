import assert from "node:assert/strict";
import { test } from "node:test";
import protobufjs from "protobufjs";
import { type DialectName, dialects } from "#dialect";
import { type Json, at, serve } from "../../../server.fixture.ts";

/** The parts of the protobuf form that clients read, with the field numbers of gnostic. */
const binaryForm = protobufjs
  .parse(
    `
  syntax = "proto3";
  message Document { string swagger = 1; Info info = 2; Paths paths = 8; Definitions definitions = 9; SecurityDefinitions security_definitions = 13; }
  message Info { string title = 1; string version = 2; }
  message Paths { repeated NamedPathItem path = 2; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 2; Operation put = 3; Operation post = 4; Operation delete = 5; Operation options = 6; Operation head = 7; Operation patch = 8; repeated ParametersItem parameters = 9; }
  message Operation { repeated string tags = 1; string description = 3; string operation_id = 5; repeated string produces = 6; repeated string consumes = 7; repeated ParametersItem parameters = 8; Responses responses = 9; repeated string schemes = 10; repeated NamedAny vendor_extension = 13; }
  message ParametersItem { Parameter parameter = 1; }
  message Parameter { BodyParameter body_parameter = 1; NonBodyParameter non_body_parameter = 2; }
  message BodyParameter { string description = 1; string name = 2; string in = 3; bool required = 4; Schema schema = 5; }
  message NonBodyParameter { QueryParameter query_parameter = 3; PathParameter path_parameter = 4; }
  message QueryParameter { bool required = 1; string in = 2; string description = 3; string name = 4; string type = 6; bool unique_items = 20; }
  message PathParameter { bool required = 1; string in = 2; string description = 3; string name = 4; string type = 5; bool unique_items = 19; }
  message Responses { repeated NamedResponseValue response_code = 1; }
  message NamedResponseValue { string name = 1; ResponseValue value = 2; }
  message ResponseValue { Response response = 1; }
  message Response { string description = 1; SchemaItem schema = 2; }
  message SchemaItem { Schema schema = 1; }
  message Definitions { repeated NamedSchema additional_properties = 1; }
  message NamedSchema { string name = 1; Schema value = 2; }
  message Schema { string _ref = 1; string format = 2; string description = 4; Any default = 5; repeated string required = 19; SchemaItem additional_properties = 21; TypeItem type = 22; ItemsItem items = 23; repeated Schema all_of = 24; Properties properties = 25; repeated NamedAny vendor_extension = 31; }
  message TypeItem { repeated string value = 1; }
  message ItemsItem { repeated Schema schema = 1; }
  message Properties { repeated NamedSchema additional_properties = 1; }
  message NamedAny { string name = 1; Any value = 2; }
  message Any { string yaml = 2; }
  message SecurityDefinitions { repeated NamedSecurity additional_properties = 1; }
  message NamedSecurity { string name = 1; SecurityItem value = 2; }
  message SecurityItem { ApiKey api_key_security = 2; }
  message ApiKey { string type = 1; string name = 2; string in = 3; string description = 4; }
`,
    { keepCase: true },
  )
  .root.lookupType("Document");

/** Returns all values of a key, at any depth. */
function everywhere(value: unknown, key: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === "string" ? [inner] : everywhere(inner, key),
  );
}
const operationsOf = (document: Json): [path: string, method: string, operation: Json][] =>
  Object.entries(document["paths"] as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): [string, string, Json][] =>
      method === "parameters" ? [] : [[path, method, operation as Json]],
    ),
  );

// Everything is fetched before the first test is registered, since the runner may start with that one.
const fetched = [];
for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const { must, ask } = await serve({ dialect: name });
  const v2 = (await must(200, "GET", "/openapi/v2")).json;
  const index = (await must(200, "GET", "/openapi/v3")).at("paths") as Record<
    string,
    { serverRelativeURL: string }
  >;
  const documents = await Promise.all(
    Object.values(index).map(
      async ({ serverRelativeURL }) => (await must(200, "GET", serverRelativeURL)).json,
    ),
  );
  fetched.push({ name, must, ask, v2, index, documents });
}

for (const { name, must, ask, v2, index, documents } of fetched) {
  const events = `/apis/events.${name === "orch" ? "orch.io" : "k8s.io"}/v1`;
  const prefix = dialects[name].wire.extensionPrefix;

  test(`${name}: every reference of OpenAPI v2 resolves`, () => {
    const definitions = v2["definitions"] as Json;
    const refs = new Set(everywhere(v2, "$ref") as string[]);
    assert.ok(refs.size > 100);
    assert.deepEqual(
      [...refs].filter((ref) => !(ref.replace("#/definitions/", "") in definitions)),
      [],
    );
  });

  test(`${name}: every reference of the OpenAPI v3 documents resolves`, () => {
    for (const document of documents) {
      const schemas = at(document, "components.schemas") as Json;
      assert.deepEqual(
        (everywhere(document, "$ref") as string[]).filter(
          (ref) => !(ref.replace("#/components/schemas/", "") in schemas),
        ),
        [],
      );
      assert.equal(document["openapi"], "3.0.0");
    }
  });

  test(`${name}: a Status is published in the two groups in which it is registered`, () => {
    const { groupSuffix, schemaPrefix } = dialects[name].wire;
    const status = `${schemaPrefix}.apimachinery.pkg.apis.meta.v1.Status`;
    const published = [
      (v2["definitions"] as Json)[status] as Json,
      ...documents.flatMap((document): Json[] => {
        const schemas = at(document, "components.schemas") as Record<string, Json> | undefined;
        return schemas?.[status] ? [schemas[status]] : [];
      }),
    ];
    assert.ok(published.length > 10);
    for (const schema of published)
      assert.deepEqual(schema[`${prefix}group-version-kind`], [
        { group: "", kind: "Status", version: "v1" },
        { group: `resource.${groupSuffix}`, kind: "Status", version: "v1alpha2" },
      ]);
  });

  test(`${name}: fields without a description in the original are plain references`, () => {
    const { schemaPrefix } = dialects[name].wire;
    const found = new Map<string, Json>();
    for (const document of documents)
      for (const [key, schema] of Object.entries((at(document, "components.schemas") ?? {}) as Json))
        found.set(key.slice(schemaPrefix.length + 1), schema as Json);
    const props = [...found].find(([key]) => key.endsWith(".apiextensions.v1.JSONSchemaProps"))![1];
    for (const field of [
      "additionalItems",
      "additionalProperties",
      "example",
      "externalDocs",
      "items",
      "not",
    ])
      assert.deepEqual(Object.keys(at(props, `properties.${field}`) as Json), ["$ref"], field);
    const rule = found.get("api.networking.v1.IngressRule")!;
    assert.deepEqual(Object.keys(at(rule, "properties.http") as Json), ["$ref"]);
    const capacities = found.get("api.storage.v1.CSIStorageCapacityList")!;
    assert.deepEqual((at(capacities, "properties.items") as Json)[`${prefix}list-map-keys`], ["name"]);
  });

  test(`${name}: operations have unique IDs, and responses`, () => {
    for (const document of [v2, ...documents]) {
      const operations = operationsOf(document);
      const ids = operations.map(([, , operation]) => operation["operationId"]);
      assert.equal(new Set(ids).size, ids.length);
      for (const [path, method, operation] of operations) {
        // Log file operations document only the response of a rejected request.
        const isLog = path.startsWith("/logs/");
        assert.ok(
          (operation["description"] || isLog) &&
            operation["operationId"] &&
            Object.keys(operation["responses"] as object).length > (isLog ? 0 : 1),
          `${method} ${path}`,
        );
      }
    }
  });

  test(`${name}: parameters of a path are declared exactly once`, () => {
    for (const document of [v2, ...documents]) {
      for (const [path, item] of Object.entries(document["paths"] as Record<string, Json>)) {
        const shared = (item["parameters"] ?? []) as { name: string; in: string }[];
        const inPath = shared
          .filter((parameter) => parameter.in === "path")
          .map((parameter) => parameter.name);
        assert.deepEqual(
          inPath.toSorted(),
          [...path.matchAll(/\{(\w+)\}/g)].map(([, word]) => word!).toSorted(),
          path,
        );
        for (const [, , operation] of operationsOf({ paths: { [path]: item } })) {
          const all = [...shared, ...((operation["parameters"] ?? []) as typeof shared)].map(
            (parameter) => `${parameter.in} ${parameter.name}`,
          );
          assert.equal(new Set(all).size, all.length, path);
        }
      }
    }
  });

  test(`${name}: both versions describe the same operations`, () => {
    const of = (document: Json): string[] =>
      operationsOf(document).map(([path, method]) => `${method} ${path}`);
    assert.deepEqual(documents.flatMap(of).toSorted(), of(v2).toSorted());
  });

  const published: [path: string, methods: string, operation: string, parameters: string][] = [
    ["/api/", "get", "getCoreAPIVersions", ""],
    ["/apis/apps/", "get", "getAppsAPIGroup", ""],
    ["/apis/apps/v1/", "get", "getAppsV1APIResources", ""],
    ["/version/", "get", "getCodeVersion", ""],
    ["/logs/", "get", "logFileListHandler", ""],
    ["/logs/{logpath}", "get", "logFileHandler", "logpath"],
    ["/api/v1/componentstatuses/{name}", "get", "readCoreV1ComponentStatus", "name pretty"],
    [
      "/api/v1/namespaces/{namespace}/bindings",
      "post",
      "createCoreV1NamespacedBinding",
      "dryRun fieldManager fieldValidation namespace pretty",
    ],
    [
      "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
      "post",
      "createCoreV1NamespacedPodEviction",
      "dryRun fieldManager fieldValidation name namespace pretty",
    ],
    [
      "/api/v1/namespaces/{namespace}/pods/{name}/exec",
      "get post",
      "connectCoreV1GetNamespacedPodExec",
      "command container name namespace stderr stdin stdout tty",
    ],
    [
      "/api/v1/nodes/{name}/proxy/{path}",
      "delete get head options patch post put",
      "connectCoreV1DeleteNodeProxyWithPath",
      "name path path",
    ],
    [
      "/api/v1/namespaces/{name}/finalize",
      "put",
      "replaceCoreV1NamespaceFinalize",
      "dryRun fieldManager fieldValidation name pretty",
    ],
    [
      "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
      "get patch put",
      "readAppsV1NamespacedDeploymentScale",
      "name namespace pretty",
    ],
    [
      "/api/v1/watch/namespaces/{namespace}/pods/{name}",
      "get",
      "watchCoreV1NamespacedPod",
      "allowWatchBookmarks continue fieldSelector labelSelector limit name namespace pretty resourceVersion resourceVersionMatch sendInitialEvents timeoutSeconds watch",
    ],
  ];
  for (const [path, methods, operation, parameters] of published) {
    test(`${name}: ${path} is described`, () => {
      const { parameters: common = [], ...operations } = (v2["paths"] as Record<string, Json>)[path]!;
      const found = Object.keys(operations).toSorted();
      assert.deepEqual(found.join(" "), methods);
      assert.equal((operations[found[0]!] as Json)["operationId"], operation);
      assert.equal((common as Json[]).map((each) => each["name"]).join(" "), parameters);
    });
  }

  test(`${name}: paths outside of the groups have separate documents`, () => {
    for (const each of [
      "api",
      "apis",
      "apis/apps",
      "version",
      ".well-known/openid-configuration",
      "openid/v1/jwks",
    ])
      assert.ok(index[each], each);
  });

  test(`${name}: every operation of Events is described with its parameters and responses`, () => {
    const list = [
      "allowWatchBookmarks",
      "continue",
      "fieldSelector",
      "labelSelector",
      "limit",
      "pretty",
      "resourceVersion",
      "resourceVersionMatch",
      "sendInitialEvents",
      "timeoutSeconds",
      "watch",
    ];
    const write = ["dryRun", "fieldManager", "fieldValidation", "pretty"];
    const remove = ["dryRun", "gracePeriodSeconds", "orphanDependents", "pretty", "propagationPolicy"];
    const expected: [
      method: string,
      path: string,
      query: string[],
      answers: string[],
      body: boolean | undefined,
    ][] = [
      ["get", `${events}/events`, list, ["200", "401"], undefined],
      ["get", `${events}/namespaces/{namespace}/events`, list, ["200", "401"], undefined],
      ["post", `${events}/namespaces/{namespace}/events`, write, ["200", "201", "202", "401"], true],
      [
        "delete",
        `${events}/namespaces/{namespace}/events`,
        [...list.filter((each) => each !== "allowWatchBookmarks" && each !== "watch"), ...remove],
        ["200", "401"],
        false,
      ],
      ["get", `${events}/namespaces/{namespace}/events/{name}`, ["pretty"], ["200", "401"], undefined],
      ["put", `${events}/namespaces/{namespace}/events/{name}`, write, ["200", "201", "401"], true],
      [
        "patch",
        `${events}/namespaces/{namespace}/events/{name}`,
        [...write, "force"],
        ["200", "201", "401"],
        true,
      ],
      ["delete", `${events}/namespaces/{namespace}/events/{name}`, remove, ["200", "202", "401"], false],
    ];
    const paths = v2["paths"] as Record<string, Json>;
    for (const [method, path, query, answers, body] of expected) {
      const operation = paths[path]![method] as Json;
      const parameters = [
        ...(paths[path]!["parameters"] as Json[]),
        ...((operation["parameters"] ?? []) as Json[]),
      ];
      assert.deepEqual(
        parameters
          .filter((each) => each["in"] === "query")
          .map((each) => each["name"] as string)
          .toSorted(),
        [...new Set(query)].toSorted(),
        `${method} ${path}`,
      );
      assert.deepEqual(Object.keys(operation["responses"] as object), answers);
      const sent = parameters.find((each) => each["in"] === "body");
      assert.equal(sent && sent["required"] === true, body);
      assert.equal((operation[`${prefix}group-version-kind`] as Json)["kind"], "Event");
    }
    const own = Object.keys(paths).filter(
      (path) => path.startsWith(`${events}/`) && path !== `${events}/` && !path.includes("/watch/"),
    );
    assert.deepEqual(own.toSorted(), [...new Set(expected.map(([, path]) => path))].toSorted());
  });

  /** The decoded bytes, with which those of the other media type name are compared. */
  let known: Buffer | undefined;
  for (const type of [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  ]) {
    test(`${name}: the protobuf form for ${type} is the same document`, async () => {
      const binary = await must(200, "GET", "/openapi/v2", { accept: type });
      assert.equal(
        binary.headers["content-type"],
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
      );
      if (known?.equals(binary.bytes)) return;
      known = binary.bytes;
      const document = binaryForm.toObject(binaryForm.decode(binary.bytes), { arrays: false });
      assert.deepEqual([document["swagger"], document["info"]], ["2.0", v2["info"]]);
      const named = (list: unknown): Map<string, Json> =>
        new Map((list as { name: string; value: Json }[]).map((each) => [each.name, each.value]));
      const paths = named(at(document, "paths.path"));
      assert.deepEqual([...paths.keys()], Object.keys(v2["paths"] as object));
      for (const [path, method, operation] of operationsOf(v2)) {
        const found = paths.get(path)![method] as Json;
        assert.equal(found["operation_id"], operation["operationId"]);
        assert.deepEqual(found["produces"], operation["produces"]);
        const answers = named(at(found, "responses.response_code"));
        for (const [code, answer] of Object.entries(operation["responses"] as Record<string, Json>)) {
          assert.equal(
            at(answers.get(code), "response.schema.schema._ref"),
            (at(answer, "schema") as Json | undefined)?.["$ref"],
          );
        }
        const body = ((operation["parameters"] ?? []) as Json[]).find((each) => each["in"] === "body");
        const sent = ((found["parameters"] ?? []) as Json[]).flatMap(
          (each) => at(each, "parameter.body_parameter") ?? [],
        ) as Json[];
        assert.equal(at(sent[0], "schema._ref"), body && (body["schema"] as Json)["$ref"]);
      }
      const definitions = named(at(document, "definitions.additional_properties"));
      for (const [kind, schema] of Object.entries(v2["definitions"] as Record<string, Json>)) {
        const found = definitions.get(kind)!;
        const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Json>);
        const decoded = named(at(found, "properties.additional_properties") ?? []);
        assert.deepEqual(
          [...decoded.keys()],
          properties.map(([key]) => key),
          kind,
        );
        for (const [key, { type, $ref, format }] of properties) {
          const { _ref, type: typed, format: formatted } = decoded.get(key)!;
          assert.deepEqual([_ref, at(typed, "value.0"), formatted], [$ref, type, format], `${kind}.${key}`);
        }
        assert.deepEqual(found["required"], schema["required"]);
      }
    });
  }

  const taken: [accept: string, v2: number, v3: number][] = [
    ["application/json", 200, 200],
    ["application/*", 200, 200],
    ["*/*", 200, 200],
    ["application/yaml, application/json;q=0.1", 200, 200],
    ["application/yaml", 406, 406],
    ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200, 406],
    ["application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 406, 200],
    ["application/com.github.proto-openapi.spec.v3.v1.0+protobuf", 406, 200],
  ];
  for (const [accept, two, three] of taken) {
    test(`${name}: documents for clients that accept ${accept}`, async () => {
      await must(two, "GET", "/openapi/v2", { accept });
      await must(three, "GET", "/openapi/v3/api/v1", { accept });
    });
  }

  test(`${name}: documents are cached under their hashes`, async () => {
    for (const [key, { serverRelativeURL }] of Object.entries(index)) {
      assert.match(serverRelativeURL, new RegExp(`^/openapi/v3/${key}\\?hash=[0-9A-F]{128}$`));
      const found = await must(200, "GET", serverRelativeURL);
      assert.match(String(found.headers["cache-control"]), /immutable/);
      const [path, hash] = serverRelativeURL.split("?hash=") as [string, string];
      assert.equal(found.headers["etag"], `"${hash}"`);
      const moved = await must(301, "GET", `${path}?hash=OLD`);
      assert.equal(moved.headers["location"], serverRelativeURL);
      assert.equal(moved.headers["vary"], "Accept");
      await must(304, "GET", path, { headers: { "if-none-match": `"${hash}"` } });
    }
    await must(404, "GET", "/openapi/v3/apis/unheard/v1");
    await must(404, "GET", "/openapi/v3/");
    const v2Again = await must(200, "GET", "/openapi/v2");
    await must(304, "GET", "/openapi/v2", { headers: { "if-none-match": String(v2Again.headers["etag"]) } });
    assert.equal((await ask("GET", "/openapi")).status, 404);
  });
}

test("log files that are not served are not described", async () => {
  const { must } = await serve({ dialect: "kubernetes", flags: ["--enable-logs-handler=false"] });
  const paths = Object.keys((await must(200, "GET", "/openapi/v2")).at("paths") as Json);
  assert.deepEqual(
    paths.filter((path) => path.startsWith("/logs")),
    [],
  );
  assert.equal("logs" in ((await must(200, "GET", "/openapi/v3")).at("paths") as Json), false);
});
