import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition } from "#api";
import { dialects } from "#dialect";
import type { ApiObject } from "#registry";
import { webhookConversion } from "./webhook-conversion.ts";

const definition = (versions: string[]): CustomResourceDefinition =>
  ({
    spec: {
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://x.example/" }, conversionReviewVersions: versions },
      },
    },
  }) as unknown as CustomResourceDefinition;

const object = (apiVersion: string, name = "a"): ApiObject =>
  ({ apiVersion, kind: "Thing", metadata: { name, uid: "u" }, spec: { one: 1 } }) as unknown as ApiObject;

interface Review {
  apiVersion: string;
  request: { uid: string; desiredAPIVersion: string; objects: ApiObject[] };
}

/** Runs a conversion with a webhook that changes the version; `edit` modifies its response. */
const convertWith = (
  edit: (response: Record<string, unknown>, review: Review) => void = () => undefined,
  versions = ["v1"],
) =>
  webhookConversion(
    definition(versions),
    async (_client, body) => {
      const review = body as unknown as Review;
      const { uid, desiredAPIVersion, objects } = review.request;
      const response: Record<string, unknown> = {
        uid,
        result: { status: "Success" },
        convertedObjects: structuredClone(objects).map((each) => ({
          ...each,
          apiVersion: desiredAPIVersion,
        })),
      };
      edit(response, review);
      const answer = { kind: "ConversionReview", apiVersion: review.apiVersion, response };
      return { status: 200, body: JSON.stringify(answer) };
    },
    dialects.orch,
  );

test("only objects of another version are sent, and all are returned in order", async () => {
  const requests: string[] = [];
  const convert = convertWith(
    (_, review) => void requests.push(...review.request.objects.map((each) => each.metadata.name!)),
  );
  const made = await convert([object("g/v1", "a"), object("g/v2", "b"), object("g/v1", "c")], "g/v2");
  assert.deepEqual(requests, ["a", "c"]);
  assert.deepEqual(
    made.map(({ apiVersion, metadata }) => [apiVersion, metadata.name]),
    [
      ["g/v2", "a"],
      ["g/v2", "b"],
      ["g/v2", "c"],
    ],
  );
});

test("a webhook can change labels and nothing else in metadata", async () => {
  const convert = convertWith((response) => {
    const [first] = response["convertedObjects"] as { metadata: Record<string, unknown> }[];
    first!.metadata = { name: "a", uid: "u", labels: { x: "y" }, generation: 7 };
  });
  const [made] = await convert([object("g/v1")], "g/v2");
  assert.deepEqual(made!.metadata, { name: "a", uid: "u", labels: { x: "y" } });
});

type Edit = (response: Record<string, unknown>) => void;
const first = (response: Record<string, unknown>): Record<string, Record<string, unknown>> =>
  (response["convertedObjects"] as Record<string, Record<string, unknown>>[])[0]!;

const wrong: [name: string, edit: Edit, says: RegExp][] = [
  [
    "a status that is a number",
    (response) => void (response["result"] = { status: 3 }),
    /failed: json: cannot unmarshal number into Go struct field Status\.response\.result\.status of type string$/,
  ],
  [
    "objects that are not a list",
    (response) => void (response["convertedObjects"] = {}),
    /cannot unmarshal object into Go struct field ConversionResponse\.response\.convertedObjects of type/,
  ],
  ["another uid", (response) => void (response["uid"] = "other"), /expected response\.uid/],
  ["a failure", (response) => void (response["result"] = { status: "Failure", message: "no way" }), /no way/],
  ["too few objects", (response) => void (response["convertedObjects"] = []), /0 objects, expected 1/],
  ["another name", (response) => void (first(response)["metadata"]!["name"] = "b"), /same name/],
  ["another kind", (response) => void Object.assign(first(response), { kind: "Other" }), /invalid kind/],
  [
    "the old version",
    (response) => void Object.assign(first(response), { apiVersion: "g/v1" }),
    /invalid groupVersion/,
  ],
  [
    "another UID",
    (response) => void (first(response)["metadata"]!["uid"] = "42"),
    /^ApiError: conversion webhook for g\/v1, Kind=\w+ returned invalid object: must have the same UID: u != 42$/,
  ],
  ["no metadata", (response) => void delete first(response)["metadata"], /must have the same name: a != $/],
  [
    "a label that is not a string",
    (response) => void (first(response)["metadata"]!["labels"] = { a: 1 }),
    /returned invalid metadata: metadata\.labels\[a] must be a string, but is int64 in converted object$/,
  ],
  [
    "an invalid label",
    (response) => void (first(response)["metadata"]!["labels"] = { "a b": "c" }),
    /metadata\.labels/,
  ],
];
for (const [name, edit, says] of wrong) {
  test(`a response is rejected: ${name}`, async () => {
    await assert.rejects(convertWith(edit)([object("g/v1")], "g/v2"), says);
  });
}

test("the v1beta1 review ignores the uid", async () => {
  const convert = convertWith((response) => void (response["uid"] = "other"), ["v1beta1"]);
  assert.equal((await convert([object("g/v1")], "g/v2"))[0]!.apiVersion, "g/v2");
});

test("a response with an error status is reported with kube-apiserver's message", async () => {
  const convert = webhookConversion(
    definition(["v1"]),
    () => Promise.resolve({ status: 422, body: "" }),
    dialects.orch,
  );
  await assert.rejects(
    convert([object("g/v1")], "g/v2"),
    /failed: the server rejected our request due to an error in our request$/,
  );
});

const requested = "apiextensions.orch.io/v1";
const replies: [name: string, body: string, says: RegExp][] = [
  ["nothing", "", /failed: 0-length response with status code: 200 and content type: application\/json$/],
  ["a text", "oh no", /failed: couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value/],
  ["an older version", `{"apiVersion":"${requested}beta1","kind":"ConversionReview"}`, /failed: converting \(v1beta1.ConversionReview\) to \(v1.ConversionReview\): unknown conversion$/],
  ["another kind", `{"apiVersion":"${requested}","kind":"X"}`, /no kind "X" is registered for version "[^"]+\/v1" in scheme "[^"]+\/client.go:69"$/],
  ["no kind", "{}", /failed: expected webhook response of [^ ]+\/v1, Kind=ConversionReview, got \/, Kind=$/],
]; // prettier-ignore
for (const [name, body, says] of replies)
  test(`a response is rejected with kube-apiserver's message: ${name}`, async () => {
    const headers = new Map([["content-type", "application/json"]]);
    const reply = { status: 200, body, headers };
    const convert = webhookConversion(definition(["v1"]), () => Promise.resolve(reply), dialects.orch);
    await assert.rejects(convert([object("g/v1")], "g/v2"), says);
  });

test("a response in YAML is accepted, with exact numbers", async () => {
  const convert = webhookConversion(
    definition(["v1"]),
    (_, body) => {
      const { uid } = (body as unknown as Review).request;
      const made = `{"apiVersion":"g/v2","kind":"Thing","metadata":{"name":"a","uid":"u"},"big":9007199254740993}`;
      const response = `{uid: ${uid}, result: {status: Success}, convertedObjects: [${made}]}`;
      const yaml = `apiVersion: ${requested}\nkind: ConversionReview\nresponse: ${response}\n`;
      return Promise.resolve({ status: 200, body: yaml });
    },
    dialects.orch,
  );
  const [made] = await convert([object("g/v1")], "g/v2");
  assert.equal((made as unknown as { big: bigint }).big, 9007199254740993n);
});

const strange: [name: string, object: unknown, says: RegExp][] = [
  ["null", null, /^ApiError: unexpected end of JSON input$/],
  [
    "a text",
    "x",
    /^ApiError: json: cannot unmarshal string into Go value of type map\[string]interface \{}$/,
  ],
  ["no kind", { a: 1 }, /^ApiError: Object 'Kind' is missing in '\{"a":1}'$/],
];
for (const [name, object_, says] of strange)
  test(`a converted value that is not an object is rejected: ${name}`, async () => {
    const convert = convertWith((response) => void (response["convertedObjects"] = [object_]));
    await assert.rejects(convert([object("g/v1")], "g/v2"), says);
  });
