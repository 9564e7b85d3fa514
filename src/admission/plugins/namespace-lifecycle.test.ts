import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import type { AdmissionAttributes, Operation } from "../attributes.ts";
import { attributesOf } from "../attributes.fixture.ts";
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
  attributesOf({
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
  ["creation in an active namespace", attributes("CREATE", "pods", "live", "a"), undefined],
  [
    "creation in a missing namespace",
    attributes("CREATE", "pods", "none", "a"),
    [404, /^namespaces "none" not found$/],
  ],
  [
    "creation in a terminating namespace",
    attributes("CREATE", "pods", "going", "a"),
    [403, /unable to create new content in namespace going because it is being terminated/],
  ],
  ["an update in a terminating namespace", attributes("UPDATE", "pods", "going", "a"), undefined],
  [
    "an update in a missing namespace",
    attributes("UPDATE", "pods", "none", "a"),
    [404, /namespaces "none" not found/],
  ],
  ["a deletion in a terminating namespace", attributes("DELETE", "pods", "going", "a"), undefined],
  ["a deletion in a missing namespace", attributes("DELETE", "pods", "none", "a"), undefined],
  ["creation of a cluster-scoped object", attributes("CREATE", "nodes", "", "a"), undefined],
  [
    "an access review in a missing namespace",
    attributes("CREATE", "localsubjectaccessreviews", "none", "", "authorization"),
    undefined,
  ],
  ["a new namespace", attributes("CREATE", "namespaces", "new", "new"), undefined],
  ["the deletion of a namespace", attributes("DELETE", "namespaces", "live", "live"), undefined],
  [
    "the deletion of a system namespace",
    attributes("DELETE", "namespaces", "default", "default"),
    [403, /this namespace may not be deleted/],
  ],
  [
    "a resource named namespaces in another group",
    attributes("DELETE", "namespaces", "default", "default", "example.com"),
    undefined,
  ],
];
for (const [name, given, refusal] of cases) {
  test(`${name} is ${refusal ? "refused" : "admitted"}`, async () => {
    const run = async (): Promise<void> => plugin.mutate!(given);
    if (!refusal) return await run();
    await assert.rejects(
      run,
      (error) => error instanceof ApiError && error.code === refusal[0] && refusal[1].test(error.message),
    );
  });
}

test("the refusal for a terminating namespace has a cause that controllers rely on", async () => {
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
