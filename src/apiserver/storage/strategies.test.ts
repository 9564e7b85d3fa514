import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../library.ts";

const kinds = ["certificates", "networking", "internal.apiserver"];
const config = kinds.map((group) => `${group}.orch.io/v1alpha1=true`).join(",");

const cases: [name: string, flags: string[], served: (string | undefined)[]][] = [
  ["alpha kinds are not served unless asked for", ["--feature-gates=AllAlpha=true"], []],
  ["a gated kind needs its gate, too", [`--runtime-config=${config}`], ["clustercidrs", "storageversions"]],
  [
    "alpha kinds are served when asked for",
    [`--runtime-config=${config}`, "--feature-gates=ClusterTrustBundle=true"],
    ["clustertrustbundles", "clustercidrs", "storageversions"],
  ],
];
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
