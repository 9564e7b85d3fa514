import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import { type Call, parseQuery } from "#http";
import { type Choice, type Offer, bodyMedia, contentType, negotiate } from "./negotiate.ts";

const dialect = dialects.orch;
const everything: Offer = { forms: ["object", "Table", "PartialObjectMetadata"] };
const call = (headers: Record<string, string>): Call => ({ headers }) as unknown as Call;
const choose = (accept: string | undefined, offer = everything, query = "", agent?: string): Choice =>
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
  ["part of a type is not enough", "application/*", "406"],
  ["something else", "text/html", "406"],
  ["something else, or else anything", "text/html,*/*;q=0.1", "json object"],
  ["the first that is known", "text/html,application/yaml,application/json", "yaml object"],
  ["the most wanted that is known", "application/yaml;q=0.5,application/json;q=0.9", "json object"],
  ["what is refused is not given", "application/json;q=0", "406"],
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
    "a form this endpoint does not have",
    "application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1,application/json",
    "406",
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
    { forms: ["object"] },
  ],
  [
    "YAML rather than JSON where only frames can be",
    "application/yaml;q=0.9,application/json;q=0.1",
    "406",
    { ...everything, media: ["json", "protobuf"] },
  ],
  [
    "the binary form or anything, of what has none",
    "application/vnd.orch.protobuf, */*",
    "json object",
    { ...everything, objectsAsText: true },
  ],
  [
    "the binary form of what has none",
    "application/vnd.orch.protobuf",
    "406",
    { ...everything, objectsAsText: true },
  ],
  [
    "the binary form of the metadata of what has none itself",
    `application/vnd.orch.protobuf;as=PartialObjectMetadata;g=meta.orch.io;v=v1`,
    "protobuf PartialObjectMetadata",
    { ...everything, objectsAsText: true },
  ],
  [
    "YAML where only frames can be",
    "application/yaml",
    "406",
    { ...everything, media: ["json", "protobuf"] },
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

const orchTypes = "application/json, application/yaml, application/vnd.orch.protobuf";
const streams = "application/json;stream=watch, application/vnd.orch.protobuf;stream=watch";
const none = "406: Not Acceptable\n\nAvailable representations: ";
const only = "only the following media types are accepted: ";
const watched: Offer = { forms: ["object", "Table"], media: ["json", "protobuf"] };
const refusals: [name: string, accept: string, message: string, offer: Offer][] = [
  [
    "no type of a list",
    "text/html",
    `${none}${orchTypes}, ${streams}`,
    { forms: ["object", "PartialObjectMetadataList"] },
  ],
  [
    "no type of a list that is deleted",
    "text/html",
    `${none}${orchTypes}`,
    { forms: ["object", "PartialObjectMetadataList"], unwatched: true },
  ],
  [
    "no type of a defined kind",
    "text/html",
    `${only}${orchTypes}`,
    { forms: ["object", "PartialObjectMetadataList"], objectsAsText: true },
  ],
  ["no type of an object", "text/html", `${none}${orchTypes}`, { forms: ["object", "Table"] }],
  ["no type of a watch", "text/html", `${none}${orchTypes}, ${streams}`, watched],
  ["a form nobody knows", "application/json;as=Nope;g=meta.orch.io;v=v1", `${only}${orchTypes}`, watched],
  ["a type that is no stream", "application/yaml", `${only}${streams}`, watched],
];
for (const [name, accept, message, offer] of refusals)
  test(`what can be had instead of ${name}`, () => assert.throws(() => choose(accept, offer), { message }));

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
  test(`pretty: ${name}`, () => assert.equal(choose(accept, everything, query, agent).pretty, pretty));

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
