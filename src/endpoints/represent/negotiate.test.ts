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
  ["nothing said is JSON", undefined, "json object"],
  ["nothing said in as many words", "", "json object"],
  ["anything is JSON", "*/*", "json object"],
  ["YAML", "application/yaml", "yaml object"],
  ["the binary form", "application/vnd.orch.protobuf", "protobuf object"],
  ["the other dialect's binary form is unknown", "application/vnd.kubernetes.protobuf", "406"],
  ["any sort of application", "application/*", "json object"],
  ["something else", "text/html", "406"],
  ["something else, or else anything", "text/html,*/*;q=0.1", "json object"],
  ["the first that is known", "text/html,application/yaml,application/json", "yaml object"],
  ["the most wanted that is known", "application/yaml;q=0.5,application/json;q=0.9", "json object"],
  ["what is wanted least is given all the same", "application/json;q=0", "json object"],
  ["a type in other letters is another", "Application/JSON", "406"],
  ["what is wanted least of two", "application/json;q=0,application/yaml;q=0.1", "yaml object"],
  ["a quality that is no number is none", "application/json;q=x,application/yaml;q=0.1", "yaml object"],
  ["a quality that is empty says nothing", "application/json;q=,application/yaml;q=0.9", "json object"],
  ["a type that is named before any that is wanted more", "*/*,application/yaml;q=0.1", "yaml object"],
  ["a type without an end", "application", "406"],
  ["a single star", "*", "json object"],
  ["a parameter in quotes is another", 'application/json;as="Table";g=meta.orch.io;v=v1', "406"],
  ["a form in any type", `*/*;${table}`, "json Table"],
  ["YAML as a stream", "application/yaml;stream=watch", "406"],
  ["a form without a name", "application/json;as= ;g=meta.orch.io;v=v1", "406"],
  ["parameters that mean nothing are nothing", "application/json;charset=utf-8", "json object"],
  ["a table", `application/json;${table}`, "json Table"],
  ["a table of the older version", "application/json;as=Table;g=meta.orch.io;v=v1beta1", "json Table"],
  ["a table of a version nobody knows", "application/json;as=Table;g=meta.orch.io;v=v7", "406"],
  ["a table of a group nobody knows", "application/json;as=Table;g=example.com;v=v1", "406"],
  [
    "a table of a group nobody knows, or else plain",
    "application/json;as=Table;g=example.com;v=v1,application/json",
    "json object",
  ],
  ["a table as YAML", `application/yaml;${table}`, "yaml Table"],
  [
    "metadata alone",
    "application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1",
    "json PartialObjectMetadata",
  ],
  [
    "a list of metadata, whatever it will be of",
    "application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1,application/json",
    "json PartialObjectMetadataList",
  ],
  ["a form nobody has", "application/json;as=Poem;g=meta.orch.io;v=v1,application/json", "json object"],
  ["a stream of watch frames", "application/json;stream=watch", "json object"],
  ["a stream of something else", "application/json;stream=video", "406"],
  ["a server version", "application/json;sv=1", "406"],
  ["the server version there is", "application/json;sv=v1", "json object"],
  [
    "a table in the binary form, or else plain",
    `application/vnd.orch.protobuf;${table},application/json`,
    "json object",
  ],
  [
    "a table when the endpoint has none",
    `application/json;${table},application/json`,
    "json object",
    withoutTable,
  ],
  ["the server version where there are no forms", "application/json;sv=v1", "406", justObjects],
  [
    "the binary form or anything, of what has none",
    "application/vnd.orch.protobuf, */*",
    "json object",
    customForms,
  ],
  ["the binary form of what has none", "application/vnd.orch.protobuf", "406", customForms],
  [
    "the binary form of the metadata of what has none itself",
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

test("who is refused is told what there is", () =>
  assert.throws(() => choose("application/json;as=Nope;g=meta.orch.io;v=v1"), {
    message: `${only}application/json, application/yaml, application/vnd.orch.protobuf`,
  }));

test("a watch that is wanted as YAML is told what can be a stream", () => {
  checkStreams(choose("application/json"), dialect);
  assert.throws(() => checkStreams(choose("application/yaml;q=0.9,application/json;q=0.1"), dialect), {
    message: `${only}application/json;stream=watch, application/vnd.orch.protobuf;stream=watch`,
  });
});

const prettiness: [name: string, pretty: boolean, accept: string, query: string, agent: string][] = [
  ["asked in the query", true, "", "pretty=true", ""],
  ["asked with a 1", true, "", "pretty=1", ""],
  ["declined in the query", false, "", "pretty=false", "curl/8"],
  ["nonsense declines", false, "", "pretty=maybe", "curl/8"],
  ["nothing said", false, "", "pretty=", "tool/1"],
  ["asked in Accept", true, "application/json;pretty=1", "", ""],
  ["for people at a terminal", true, "", "", "curl/8.5"],
  ["for people at a browser", true, "*/*", "", "Mozilla/5.0 (X11)"],
  ["not for programs", false, "", "", "orch-controller/1.0"],
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
