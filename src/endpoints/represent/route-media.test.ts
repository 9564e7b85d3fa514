import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import type { Call } from "#http";
import { type RouteMedia, checkRoute, listMedia, objectMedia } from "./route-media.ts";

const dialect = dialects.orch;
const objects: RouteMedia = { produces: objectMedia(dialect) };
const types = "application/json, application/yaml, application/vnd.orch.protobuf";
const streams = "application/json;stream=watch, application/vnd.orch.protobuf;stream=watch";
const none = "406: Not Acceptable\n\nAvailable representations: ";
const patches: RouteMedia = { ...objects, consumes: ["application/merge-patch+json"] };

const cases: [
  name: string,
  route: RouteMedia,
  method: string,
  headers: Record<string, string>,
  expected?: string,
][] = [
  ["no headers", objects, "GET", {}],
  ["an empty Accept", objects, "GET", { accept: "" }],
  ["anything", objects, "GET", { accept: "text/html, */*;q=0.1" }],
  ["a type with parameters, whatever they are", objects, "GET", { accept: "application/yaml ;as=Nope" }],
  ["another type", objects, "GET", { accept: "text/html" }, none + types],
  ["a type in another case", objects, "GET", { accept: "Application/JSON" }, none + types],
  ["any application type", objects, "GET", { accept: "application/*" }, none + types],
  [
    "another type of a list",
    { produces: listMedia(dialect) },
    "GET",
    { accept: "x/y" },
    `${none}${types}, ${streams}`,
  ],
  [
    "a write of unknown length",
    objects,
    "POST",
    { accept: "x/y" },
    `415: Unsupported Media Type\n\nAvailable representations: ${types}`,
  ],
  ["a write of known length", objects, "POST", { accept: "x/y", "content-length": "2" }, none + types],
  [
    "a body of an accepted type",
    patches,
    "PATCH",
    { "content-type": "application/merge-patch+json; charset=utf-8" },
  ],
  [
    "a body of an unknown type",
    patches,
    "PATCH",
    { "content-type": "application/json", "content-length": "2" },
    "415: Unsupported Media Type",
  ],
  ["a body of no type", patches, "PATCH", { "content-length": "2" }, "415: Unsupported Media Type"],
  ["an empty body of another type", patches, "PATCH", { "content-type": "x/y", "content-length": "0" }, none],
  ["a read of no type", patches, "GET", {}],
];
for (const [name, route, method, headers, expected] of cases)
  test(`media types of a path: ${name}`, () => {
    const call = { method, headers } as unknown as Call;
    if (expected === undefined) return checkRoute(call, route);
    assert.throws(
      () => checkRoute(call, route),
      (error) =>
        error instanceof ApiError &&
        error.message === expected &&
        error.code === Number(expected.slice(0, 3)),
    );
  });
