import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { bootstrapSignerController, detachedSignature } from "./bootstrap-tokens.ts";
import { until, withController } from "./cluster.fixture.ts";
import { isEnabled } from "./controller-manager.ts";
import { resourceQuotaController } from "./resource-quota.ts";

const lists: [name: string, list: string[], expected: boolean][] = [
  ["job", ["*"], true],
  ["job", ["*", "-job"], false],
  ["job", ["cronjob"], false],
  ["tokencleaner", ["*"], false],
  ["tokencleaner", ["*", "tokencleaner"], true],
];
for (const [name, list, expected] of lists)
  test(`${name} is ${expected ? "on" : "off"} with ${list.join(",")}`, () =>
    assert.equal(isEnabled(name, list), expected));

test("a quota counts existing objects", () =>
  withController(resourceQuotaController, async ({ client }) => {
    const namespace = "default";
    const quotas = client.of(kinds.resourceQuotas);
    await quotas.create({
      metadata: { name: "q", namespace },
      spec: { hard: { configmaps: "9", pods: "3", "requests.cpu": "4" } },
    });
    await client.of(kinds.pods).create({
      metadata: { name: "p", namespace },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "500m" } } }] },
    });
    await client.of(kinds.configMaps).create({ metadata: { name: "m", namespace } });
    const used = await until(async () => {
      const found = (await quotas.get("q", { namespace })).status.used;
      return found?.["pods"] === "1" && found?.["configmaps"] === "1" && found;
    });
    assert.deepEqual(used, { configmaps: "1", pods: "1", "requests.cpu": "500m" });
  }));

test("a bootstrap token signs the public cluster info", () =>
  withController(bootstrapSignerController, async ({ client }) => {
    const { publicNamespace, systemNamespace } = client.dialect.data;
    await client
      .of(kinds.configMaps)
      .create({ metadata: { name: "cluster-info", namespace: publicNamespace }, data: { kubeconfig: "x" } });
    const encoded = (text: string): string => Buffer.from(text).toString("base64");
    await client.of(kinds.secrets).create({
      metadata: { name: "bootstrap-token-abcdef", namespace: systemNamespace },
      type: "bootstrap.orch.io/token",
      data: {
        "token-id": encoded("abcdef"),
        "token-secret": encoded("0123456789abcdef"),
        "usage-bootstrap-signing": encoded("true"),
      },
    });
    const data = await until(async () => {
      const map = await client.of(kinds.configMaps).get("cluster-info", { namespace: publicNamespace });
      return Object.keys(map.data ?? {}).length === 2 && map.data;
    });
    const token = { id: "abcdef", secret: "0123456789abcdef", mayBeUsedForSigning: true, expires: undefined };
    assert.equal(data["jws-kubeconfig-abcdef"], detachedSignature("x", token));
  }));
