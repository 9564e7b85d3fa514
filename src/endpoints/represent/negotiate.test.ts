import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import { type Call, parseQuery } from "#http";
import {
  type Choice,
  type Offer,
  bodyMedia,
  checkStreams,
  contentType,
  customForms,
  everyForm,
  justObjects,
  negotiate,
  withoutTable,
} from "./negotiate.ts";

const dialect = dialects.orch;
const call = (headers: Record<string, string>): Call => ({ headers }) as unknown as Call;
const choose = (accept: string | undefined, offer = everyForm, query = "", agent?: string): Choice =>
  negotiate(
    call({ ...(accept !== undefined && { accept }), ...(agent && { "user-agent": agent }) }),
    parseQuery(query),
    dialect,
    offer,
  );

const table = "as=Table;g=meta.orch.io;v=v1";
const cases: [name: string, accept: string | undefined, expected: string, offer?: Offer][] = [
  ["a missing header means JSON", undefined, "json object"],
  ["an empty header means JSON", "", "json object"],
  ["anything is JSON", "*/*", "json object"],
  ["YAML", "application/yaml", "yaml object"],
  ["the binary form", "application/vnd.orch.protobuf", "protobuf object"],
  ["the other dialect's binary form is unknown", "application/vnd.kubernetes.protobuf", "406"],
  ["any application type", "application/*", "json object"],
  ["something else", "text/html", "406"],
  ["an unknown type or anything", "text/html,*/*;q=0.1", "json object"],
  ["the first known type", "text/html,application/yaml,application/json", "yaml object"],
  ["the known type of the highest quality", "application/yaml;q=0.5,application/json;q=0.9", "json object"],
  ["a type of quality 0 is returned nevertheless", "application/json;q=0", "json object"],
  ["types are case-sensitive", "Application/JSON", "406"],
  ["the higher quality of two", "application/json;q=0,application/yaml;q=0.1", "yaml object"],
  ["an invalid quality is 0", "application/json;q=x,application/yaml;q=0.1", "yaml object"],
  ["an empty quality is ignored", "application/json;q=,application/yaml;q=0.9", "json object"],
  ["a specific type before a wildcard of higher quality", "*/*,application/yaml;q=0.1", "yaml object"],
  ["a type without a subtype", "application", "406"],
  ["a single star", "*", "json object"],
  ["parameters are compared with their quotes", 'application/json;as="Table";g=meta.orch.io;v=v1', "406"],
  ["a form in any type", `*/*;${table}`, "json Table"],
  ["YAML as a stream", "application/yaml;stream=watch", "406"],
  ["a form without a name", "application/json;as= ;g=meta.orch.io;v=v1", "406"],
  ["unknown parameters are ignored", "application/json;charset=utf-8", "json object"],
  ["a table", `application/json;${table}`, "json Table"],
  ["a table of the older version", "application/json;as=Table;g=meta.orch.io;v=v1beta1", "json Table"],
  ["a table of an unknown version", "application/json;as=Table;g=meta.orch.io;v=v7", "406"],
  ["a table of an unknown group", "application/json;as=Table;g=example.com;v=v1", "406"],
  [
    "a table of an unknown group, or else the object",
    "application/json;as=Table;g=example.com;v=v1,application/json",
    "json object",
  ],
  ["a table as YAML", `application/yaml;${table}`, "yaml Table"],
  [
    "metadata only",
    "application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1",
    "json PartialObjectMetadata",
  ],
  [
    "a list of metadata",
    "application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1,application/json",
    "json PartialObjectMetadataList",
  ],
  ["an unknown form", "application/json;as=Poem;g=meta.orch.io;v=v1,application/json", "json object"],
  ["a stream of watch frames", "application/json;stream=watch", "json object"],
  ["an unknown stream", "application/json;stream=video", "406"],
  ["a server version", "application/json;sv=1", "406"],
  ["the supported server version", "application/json;sv=v1", "json object"],
  [
    "a table in the binary form, or else the object",
    `application/vnd.orch.protobuf;${table},application/json`,
    "json object",
  ],
  [
    "a table from an endpoint without tables",
    `application/json;${table},application/json`,
    "json object",
    withoutTable,
  ],
  ["the server version from an endpoint without forms", "application/json;sv=v1", "406", justObjects],
  [
    "the binary form or anything, for objects without a binary form",
    "application/vnd.orch.protobuf, */*",
    "json object",
    customForms,
  ],
  ["the binary form of objects without one", "application/vnd.orch.protobuf", "406", customForms],
  [
    "the binary form of metadata, for objects without a binary form",
    `application/vnd.orch.protobuf;as=PartialObjectMetadata;g=meta.orch.io;v=v1`,
    "protobuf PartialObjectMetadata",
    customForms,
  ],
];
for (const [name, accept, expected, offer] of cases) {
  test(`Accept: ${name}`, () => {
    if (expected === "406")
      assert.throws(
        () => choose(accept, offer),
        (error) =>
          error instanceof ApiError &&
          error.code === 406 &&
          /application\/json|you requested/.test(error.message),
      );
    else {
      const { media, form } = choose(accept, offer);
      assert.equal(`${media} ${form}`, expected);
    }
  });
}

const only = "only the following media types are accepted: ";

test("the error lists the supported types", () =>
  assert.throws(() => choose("application/json;as=Nope;g=meta.orch.io;v=v1"), {
    message: `${only}application/json, application/yaml, application/vnd.orch.protobuf`,
  }));

test("the error for a watch as YAML lists the types that can be streamed", () => {
  checkStreams(choose("application/json"), dialect);
  assert.throws(() => checkStreams(choose("application/yaml;q=0.9,application/json;q=0.1"), dialect), {
    message: `${only}application/json;stream=watch, application/vnd.orch.protobuf;stream=watch`,
  });
});

const prettiness: [name: string, pretty: boolean, accept: string, query: string, agent: string][] = [
  ["requested in the query", true, "", "pretty=true", ""],
  ["requested with a 1", true, "", "pretty=1", ""],
  ["declined in the query", false, "", "pretty=false", "curl/8"],
  ["an invalid value declines", false, "", "pretty=maybe", "curl/8"],
  ["no value", false, "", "pretty=", "tool/1"],
  ["requested in Accept", true, "application/json;pretty=1", "", ""],
  ["default for curl", true, "", "", "curl/8.5"],
  ["default for browsers", true, "*/*", "", "Mozilla/5.0 (X11)"],
  ["not the default for other clients", false, "", "", "orch-controller/1.0"],
];
for (const [name, pretty, accept, query, agent] of prettiness)
  test(`pretty: ${name}`, () => assert.equal(choose(accept, everyForm, query, agent).pretty, pretty));

const bodies: [type: string | undefined, media: string][] = [
  [undefined, "json"],
  ["", "json"],
  ["application/json", "json"],
  ["Application/JSON; charset=utf-8", "json"],
  ["application/yaml", "yaml"],
  ["application/vnd.orch.protobuf", "protobuf"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
  ["text/plain", "415"],
  ["application/merge-patch+json", "415"],
  ["nonsense", "415"],
  ["application/json;", "json"],
  ['application/json; a="b;c"', "json"],
  ["application/json;charset", "415"],
  ["application/json;=x", "415"],
];
for (const [type, media] of bodies) {
  test(`a body of type ${JSON.stringify(type)} is ${media}`, () => {
    const given = call(type === undefined ? {} : { "content-type": type });
    if (media === "415")
      assert.throws(
        () => bodyMedia(given, dialect),
        (error) => error instanceof ApiError && error.code === 415,
      );
    else assert.equal(bodyMedia(given, dialect), media);
  });
}

test("the neutral name of the binary form is unknown in the other dialect", () => {
  assert.throws(
    () => bodyMedia(call({ "content-type": dialect.wire.protobufMediaType }), dialects.kubernetes),
    /accepted media types include/,
  );
});

test("media types are those of the dialect", () => {
  assert.equal(contentType("protobuf", dialects.kubernetes), "application/vnd.kubernetes.protobuf");
  assert.equal(contentType("yaml", dialects.orch), "application/yaml");
});
