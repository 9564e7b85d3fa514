import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import type { AdmissionAttributes, Operation } from "../attributes.ts";
import { attemptOf } from "../attributes.fixture.ts";
import { type NamespaceLookup, namespaceLifecycle } from "./namespace-lifecycle.ts";

const states: Record<string, Awaited<ReturnType<NamespaceLookup>>> = { live: "active", going: "terminating" };
const plugin = namespaceLifecycle(async (name) => states[name] ?? "absent", ["default", "system"]);

const attributes = (
  operation: Operation,
  resource: string,
  namespace: string,
  name: string,
  group = "",
): AdmissionAttributes =>
  attemptOf({
    operation,
    resource: { group, version: "v1", resource },
    kind: { group, version: "v1", kind: "X" },
    namespace,
    name,
  });

const cases: [
  name: string,
  attributes: AdmissionAttributes,
  refusal: [code: number, message: RegExp] | undefined,
][] = [
  ["creation in a live namespace", attributes("CREATE", "pods", "live", "a"), undefined],
  [
    "creation in an absent namespace",
    attributes("CREATE", "pods", "none", "a"),
    [404, /^namespaces "none" not found$/],
  ],
  [
    "creation in a namespace that goes",
    attributes("CREATE", "pods", "going", "a"),
    [403, /unable to create new content in namespace going because it is being terminated/],
  ],
  ["a change in a namespace that goes", attributes("UPDATE", "pods", "going", "a"), undefined],
  [
    "a change in an absent namespace",
    attributes("UPDATE", "pods", "none", "a"),
    [404, /namespaces "none" not found/],
  ],
  ["a deletion in a namespace that goes", attributes("DELETE", "pods", "going", "a"), undefined],
  ["a deletion in an absent namespace", attributes("DELETE", "pods", "none", "a"), undefined],
  ["creation outside of namespaces", attributes("CREATE", "nodes", "", "a"), undefined],
  [
    "a question about rights in an absent namespace",
    attributes("CREATE", "localsubjectaccessreviews", "none", "", "authorization"),
    undefined,
  ],
  ["a new namespace", attributes("CREATE", "namespaces", "new", "new"), undefined],
  ["the deletion of a namespace", attributes("DELETE", "namespaces", "live", "live"), undefined],
  [
    "the deletion of one the system needs",
    attributes("DELETE", "namespaces", "default", "default"),
    [403, /this namespace may not be deleted/],
  ],
  [
    "a resource of the same name in another group",
    attributes("DELETE", "namespaces", "default", "default", "example.com"),
    undefined,
  ],
];
for (const [name, given, refusal] of cases) {
  test(`${name} is ${refusal ? "refused" : "let through"}`, async () => {
    const run = async (): Promise<void> => plugin.mutate!(given);
    if (!refusal) return await run();
    await assert.rejects(
      run,
      (error) => error instanceof ApiError && error.code === refusal[0] && refusal[1].test(error.message),
    );
  });
}

test("a refusal for a namespace that goes says so in its causes, which controllers look at", async () => {
  await assert.rejects(
    async () => plugin.mutate!(attributes("CREATE", "pods", "going", "a")),
    (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(error.details?.causes, [
        {
          reason: "NamespaceTerminating",
          message: "namespace going is being terminated",
          field: "metadata.namespace",
        },
      ]);
      return error.reason === "Forbidden";
    },
  );
});
