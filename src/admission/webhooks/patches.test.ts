import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf } from "../attributes.fixture.ts";
import { admissionChain } from "../chain.ts";
import { mutatingWebhooks } from "./mutating.ts";
import { type Respond, configurationOf, hook, patched, pod, world } from "./webhooks.fixture.ts";

/** Calls webhooks `a` and `b` and returns which of their calls counted as a mutation. */
async function mutations(given: Partial<AdmissionAttributes>, respond: Respond): Promise<unknown[]> {
  const { options } = world(respond);
  const webhooks = [hook("a"), hook("b")];
  const plugin = mutatingWebhooks({ ...options, configurations: () => [configurationOf(webhooks)] });
  const notes: unknown[] = [];
  const annotate = (key: string, value: string): void => {
    if (key.startsWith("mutation/")) notes.push((JSON.parse(value) as { mutated: boolean }).mutated);
  };
  await admissionChain([plugin]).mutate(attributesOf({ annotate, ...given }));
  return notes;
}

const managed = (labels: object, time = "2024-01-01T00:00:00Z") => ({
  ...pod(),
  metadata: { name: "p", labels, managedFields: [{ manager: "m", operation: "Update", time }] },
});
const changesNothing = patched({ op: "test", path: "/kind", value: "Pod" });

const counted: [
  name: string,
  given: Partial<AdmissionAttributes>,
  answer: Record<string, unknown>,
  mutated: boolean[],
][] = [
  [
    "the first patch of a new object counts, as it rounds times",
    { object: managed({}) },
    changesNothing,
    [true, false],
  ],
  ["no patch does not count", { object: managed({}) }, { allowed: true }, [false, false]],
  ["an object without managers", { object: pod() }, changesNothing, [false, false]],
  [
    "a custom resource has its times as text",
    { object: managed({}), custom: true },
    changesNothing,
    [false, false],
  ],
  [
    "an update of a field",
    { operation: "UPDATE", object: managed({ a: "1" }), oldObject: managed({ a: "0" }) },
    changesNothing,
    [true, false],
  ],
  [
    "an update by another manager",
    { operation: "UPDATE", object: managed({}, "2024-01-02T00:00:00Z"), oldObject: managed({}) },
    changesNothing,
    [true, false],
  ],
  [
    "an update without changes sets no time",
    { operation: "UPDATE", object: managed({}), oldObject: managed({}) },
    changesNothing,
    [false, false],
  ],
];
for (const [name, given, answer, mutated] of counted) {
  test(`a patch without effect: ${name}`, async () => {
    assert.deepEqual(await mutations(given, () => answer), mutated);
  });
}

test("an object whose patch removed its kind is decoded as its kind, unless it is a custom resource", async () => {
  const empty = patched({ op: "replace", path: "", value: {} });
  const object: Record<string, unknown> = pod();
  await mutations({ object }, () => empty);
  assert.deepEqual(object, { kind: "Pod", apiVersion: "v1" });
  await assert.rejects(
    mutations({ object: pod(), custom: true }, () => empty),
    /Internal error occurred/,
  );
});

test("a denial keeps the metadata of the webhook's status", async () => {
  const metadata = { resourceVersion: "3", continue: "", unknown: "x" };
  const denied = { allowed: false, status: { metadata } };
  await assert.rejects(
    mutations({ object: pod() }, () => denied),
    (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual((error as { listMetadata?: unknown }).listMetadata, { resourceVersion: "3" });
      return true;
    },
  );
});
