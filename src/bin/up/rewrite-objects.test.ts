import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type RunningServer, startServer } from "#apiserver";
import { kinds } from "#client";
import { eventually } from "#kit";
import { rewriteObjects } from "./rewrite-objects.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-rewrite-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "encryption.json");
const encryptWith = (...keys: string[]): void =>
  writeFileSync(
    file,
    JSON.stringify({
      kind: "EncryptionConfiguration",
      apiVersion: "apiserver.config.orch.io/v1",
      resources: [
        {
          resources: ["secrets"],
          providers: [
            {
              secretbox: {
                keys: keys.map((name) => ({ name, secret: Buffer.alloc(32, name).toString("base64") })),
              },
            },
          ],
        },
      ],
    }),
  );

const namespace = "default";

async function rewritten({ client }: RunningServer) {
  const stale: Record<string, number> = {};
  const failures: string[] = [];
  await rewriteObjects(client, {
    done: (resource, _objects, count) => void (stale[resource] = count),
    failed: (what, why) => failures.push(`${what}: ${why}`),
  });
  return { stale, failures };
}

test("objects under a replaced key are stored again, and others are left alone", async () => {
  encryptWith("one");
  const flags = [`--encryption-provider-config=${file}`, "--encryption-provider-config-automatic-reload"];
  await using server = await startServer({ store: "memory", flags });
  const secrets = server.client.of(kinds.secrets);
  const maps = server.client.of(kinds.configMaps);
  for (const name of ["a", "b"]) await secrets.create({ metadata: { name, namespace }, data: {} });
  await maps.create({ metadata: { name: "c", namespace } });
  assert.equal((await rewritten(server)).stale["secrets"], 0);
  const before = await maps.get("c", { namespace });
  encryptWith("two", "one");
  const { stale, failures } = await eventually(async () => {
    const found = await rewritten(server);
    return found.stale["secrets"] === 2 && found;
  });
  assert.deepEqual(failures, []);
  assert.equal(stale["configmaps"], 0);
  assert.deepEqual(await maps.get("c", { namespace }), before);
  assert.equal((await rewritten(server)).stale["secrets"], 0);
});

test("an object that cannot be written does not stop the others", async () => {
  await using server = await startServer({ store: "memory" });
  const maps = server.client.of(kinds.configMaps);
  await maps.create({ metadata: { name: "refused", namespace } });
  await server.client.request(
    "POST",
    "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations",
    {
      metadata: { name: "down" },
      webhooks: [
        {
          name: "down.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: "https://127.0.0.1:1/" },
          rules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["configmaps"] },
          ],
        },
      ],
    },
  );
  const { stale, failures } = await eventually(async () => {
    const found = await rewritten(server);
    return found.failures.length > 0 && found;
  });
  assert.match(
    failures.join("\n"),
    /^configmaps default\/refused: .*failed calling webhook "down.example.com"/m,
  );
  assert.equal(stale["namespaces"], 0);
});
