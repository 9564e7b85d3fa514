import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../library.ts";

const kinds = ["certificates", "networking", "internal.apiserver"];
const config = kinds.map((group) => `${group}.orch.io/v1alpha1=true`).join(",");

const cases: [name: string, flags: string[], served: (string | undefined)[]][] = [
  ["alpha kinds are not served by default", ["--feature-gates=AllAlpha=true"], []],
  [
    "a gated kind requires its gate, too",
    [`--runtime-config=${config}`],
    ["clustercidrs", "storageversions"],
  ],
  [
    "alpha kinds are served if enabled",
    [`--runtime-config=${config}`, "--feature-gates=ClusterTrustBundle=true"],
    ["clustertrustbundles", "clustercidrs", "storageversions"],
  ],
];
test("kinds of dynamic resource allocation need no gate, but pod fields for them do", async () => {
  const served = "--runtime-config=resource.orch.io/v1alpha2=true";
  const plain = "--disable-admission-plugins=ServiceAccount";
  const resourceClaims = [{ name: "x", source: { resourceClaimName: "r" } }];
  const containers = [{ name: "c", image: "i", resources: { claims: [{ name: "x" }] } }];
  for (const isOn of [false, true]) {
    const flags = [served, plain, `--feature-gates=DynamicResourceAllocation=${isOn}`];
    await using server = await startServer({ store: "memory", flags });
    const request = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const headers = { "content-type": "application/json" };
      const reply = await server.inject({
        method,
        path,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return JSON.parse(await reply.text()) as Record<string, unknown>;
    };
    const { resources } = await request("GET", "/apis/resource.orch.io/v1alpha2");
    assert.deepEqual(
      (resources as { name: string }[]).map(({ name }) => name),
      [
        "podschedulingcontexts",
        "podschedulingcontexts/status",
        "resourceclaims",
        "resourceclaims/status",
        "resourceclaimtemplates",
        "resourceclasses",
      ],
    );
    const pod = {
      metadata: { name: "p" },
      spec: { resourceClaims, containers },
    };
    const { spec } = (await request("POST", "/api/v1/namespaces/default/pods", pod)) as {
      spec: { resourceClaims?: unknown; containers: { resources: { claims?: unknown } }[] };
    };
    assert.deepEqual(spec.resourceClaims, isOn ? resourceClaims : undefined);
    assert.deepEqual(spec.containers[0]!.resources.claims, isOn ? [{ name: "x" }] : undefined);
  }
});

for (const [name, flags, served] of cases)
  test(name, async () => {
    await using server = await startServer({ store: "memory", flags });
    const found: string[] = [];
    for (const group of kinds) {
      const reply = await server.inject({ path: `/apis/${group}.orch.io/v1alpha1` });
      if (reply.status === 200)
        found.push((JSON.parse(await reply.text()) as { resources: { name: string }[] }).resources[0]!.name);
    }
    assert.deepEqual(found, served);
  });
