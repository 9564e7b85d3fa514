import assert from "node:assert/strict";
import { test } from "node:test";
import { each, serve } from "../server.fixture.ts";

const cases: [name: string, flags: string[], seconds: number[]][] = [
  ["pods tolerate an unready and an unreachable node for 300 seconds", [], [300, 300]],
  [
    "pods tolerate them for --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds",
    ["--default-not-ready-toleration-seconds=7", "--default-unreachable-toleration-seconds=8"],
    [7, 8],
  ],
];
for (const [name, flags, seconds] of cases)
  test(name, async () => {
    const { must, place } = await serve({ flags: ["--disable-admission-plugins=ServiceAccount", ...flags] });
    const namespace = await place();
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const { json } = await must(201, "POST", `/api/v1/namespaces/${namespace}/pods`, { body: pod });
    const { tolerations } = json["spec"] as { readonly tolerations: unknown };
    assert.deepEqual(each(tolerations, "tolerationSeconds"), seconds);
    assert.deepEqual(each(tolerations, "effect"), ["NoExecute", "NoExecute"]);
  });
