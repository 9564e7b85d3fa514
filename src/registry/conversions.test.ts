import assert from "node:assert/strict";
import { test } from "node:test";
import { withConversions } from "./conversions.ts";
import type { ApiObject } from "./strategy.ts";

const object = (name: string): ApiObject =>
  ({ apiVersion: "v1", kind: "Thing", metadata: { name } }) as ApiObject;
const stamped = async (given: ApiObject, to: string): Promise<ApiObject> => ({ ...given, apiVersion: to });

test("a function is restarted until all its conversions are available, each requested once", async () => {
  const requested: string[] = [];
  let runs = 0;
  const result = await withConversions(
    async (given, to) => {
      requested.push(`${given.metadata.name ?? ""} to ${to}`);
      return await stamped(given, to);
    },
    (convert) => {
      runs += 1;
      return [convert(object("a"), "v2"), convert(object("b"), "v2"), convert(object("a"), "v2")];
    },
  );
  assert.deepEqual(
    result.map(({ apiVersion, metadata }) => [apiVersion, metadata.name]),
    [
      ["v2", "a"],
      ["v2", "b"],
      ["v2", "a"],
    ],
  );
  assert.deepEqual(requested, ["a to v2", "b to v2"]);
  assert.equal(runs, 3);
});

test("each run receives its own copy of a converted object", async () => {
  const first = await withConversions(stamped, (convert) => {
    convert(object("a"), "v2").metadata.name = "changed";
    return convert(object("a"), "v2").metadata.name;
  });
  assert.equal(first, "a");
});

test("a failed conversion rejects the whole run", async () => {
  const failing = async (): Promise<ApiObject> => {
    throw new Error("no webhook");
  };
  await assert.rejects(
    withConversions(failing, (convert) => convert(object("a"), "v2")),
    /no webhook/,
  );
});

test("a run with too many conversions is aborted", async () => {
  let count = 0;
  await assert.rejects(
    withConversions(stamped, (convert) => convert(object(`o${count++}`), "v2")),
    /too many conversions/,
  );
});
