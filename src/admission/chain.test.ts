import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, badRequest, forbidden } from "#base";
import type { AdmissionPlugin, AdmissionAttributes, Operation } from "./attributes.ts";
import { attributesOf } from "./attributes.fixture.ts";
import { admissionChain } from "./chain.ts";

const attributes = (operation: Operation = "CREATE"): AdmissionAttributes =>
  attributesOf({
    operation,
    resource: { group: "apps", version: "v1", resource: "deployments" },
    kind: { group: "apps", version: "v1", kind: "Deployment" },
    namespace: "default",
    name: "a",
    object: { log: [] },
  });
const logOf = ({ object }: AdmissionAttributes): string[] => (object as { log: string[] }).log;
const noting = (name: string, handles: readonly Operation[] = ["CREATE"]): AdmissionPlugin => ({
  name,
  handles,
  mutate: async (seen) => void logOf(seen).push(`${name} mutates`),
  validate: async (seen) => {
    logOf(seen).push(`${name} validates`);
    return [];
  },
});
const refusing = (name: string, field: string): AdmissionPlugin => ({
  name,
  handles: ["CREATE"],
  validate: async () => [{ type: "FieldValueForbidden", field, detail: "no" }],
});

test("plugins run in order, and only for operations they handle", async () => {
  const chain = admissionChain([
    noting("one"),
    noting("two", ["DELETE"]),
    noting("three", ["UPDATE", "CREATE"]),
  ]);
  assert.deepEqual(chain.plugins, ["one", "two", "three"]);
  const seen = attributes();
  await chain.mutate(seen);
  await chain.validate(seen);
  assert.deepEqual(logOf(seen), ["one mutates", "three mutates", "one validates", "three validates"]);
  const deletion = attributes("DELETE");
  await chain.mutate(deletion);
  assert.deepEqual(logOf(deletion), ["two mutates"]);
});

test("plugins that list resources are not called for others", async () => {
  const chain = admissionChain([
    { ...noting("one"), resources: ["pods"] },
    { ...noting("two"), resources: ["deployments", "pods"] },
  ]);
  const seen = attributes();
  await chain.mutate(seen);
  await chain.validate(seen);
  assert.deepEqual(logOf(seen), ["two mutates", "two validates"]);
});

test("a plugin may be only mutating or only validating", async () => {
  const { mutate, ...validating } = noting("v");
  const { validate, ...mutating } = noting("m");
  const chain = admissionChain([validating, mutating]);
  const seen = attributes();
  await chain.mutate(seen);
  await chain.validate(seen);
  assert.deepEqual(logOf(seen), ["m mutates", "v validates"]);
  assert.ok(mutate && validate);
});

test("field errors of all plugins are combined in one refusal that names the object", async () => {
  const chain = admissionChain([refusing("one", "spec.a"), noting("two"), refusing("three", "spec.b")]);
  const seen = attributes();
  await assert.rejects(chain.validate(seen), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.code, error.details?.name, error.details?.group, error.details?.kind],
      [422, "a", "apps", "Deployment"],
    );
    assert.deepEqual(
      error.details?.causes?.map(({ field }) => field),
      ["spec.a", "spec.b"],
    );
    return true;
  });
  assert.deepEqual(logOf(seen), ["two validates"]);
});

test("an error stops the chain where it is thrown", async () => {
  const throwing: AdmissionPlugin = {
    name: "no",
    handles: ["CREATE"],
    mutate: async () => {
      throw badRequest("no");
    },
  };
  const seen = attributes();
  await assert.rejects(admissionChain([noting("one"), throwing, noting("two")]).mutate(seen), { code: 400 });
  assert.deepEqual(logOf(seen), ["one mutates"]);
});

test("a chain without plugins admits everything", async () => {
  const chain = admissionChain([]);
  await chain.mutate(attributes());
  await chain.validate(attributes());
});

test("the refusal of an object without a name contains a placeholder", async () => {
  const chain = admissionChain([
    {
      name: "no",
      handles: ["CREATE"],
      mutate: async ({ resource, name }) => {
        throw forbidden(resource, name, "no");
      },
    },
  ]);
  const named = async (name: string, object = attributes().object): Promise<unknown> => {
    const error = await chain.mutate({ ...attributes(), name, object }).catch((refusal: unknown) => refusal);
    return error instanceof ApiError ? [error.details?.name, error.message] : error;
  };
  assert.deepEqual(await named(""), ["Unknown", 'deployments.apps "Unknown" is forbidden: no']);
  assert.deepEqual(await named("", { metadata: { generateName: "$&-" } }), [
    "$&-",
    'deployments.apps "$&-" is forbidden: no',
  ]);
  assert.deepEqual(await named("a"), ["a", 'deployments.apps "a" is forbidden: no']);
});
