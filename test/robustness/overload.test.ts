// More concurrent requests than the server may serve: every request is answered, refusals carry Retry-After,
// and node heartbeats succeed. Latencies are measured by bench/overload.ts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { type RunningApiserver, startApiserver } from "../kit/apiserver.ts";
import { offer } from "../kit/offered-load.ts";

const group = (name: string): string => groupName(dialects.orch, { group: name, branded: true });
const leases = `/apis/${group("coordination")}/v1/namespaces/default/leases`;
const users = [
  'admin-token,admin,admin,"system:masters"',
  "load-token,load,load",
  'node-token,system:node:n1,n1,"system:nodes"',
];
const renewals = 20;

test("an overloaded server answers every request and accepts every heartbeat", async () => {
  const folder = mkdtempSync(join(tmpdir(), "overload-"));
  const tokens = join(folder, "users.csv");
  writeFileSync(tokens, `${users.join("\n")}\n`, { mode: 0o600 });
  const few = ["--max-requests-inflight=4", "--max-mutating-requests-inflight=4"];
  try {
    await using server = await startApiserver({ flags: [`--token-auth-file=${tokens}`, ...few] });
    await allow(server);
    const load = offer(server.url, "load-token", "/api/v1/namespaces/default/configmaps", {
      rate: 400,
      seconds: 3,
      connections: 8,
    });
    const statuses: number[] = [];
    for (let at = 0; at < renewals; at++) statuses.push(await renew(server));
    const { offered, answers, withoutRetryAfter } = await load;
    assert.deepEqual(statuses, Array.from({ length: renewals }).fill(200));
    assert.deepEqual(
      Object.keys(answers).filter((status) => status !== "200" && status !== "429"),
      [],
      JSON.stringify(answers),
    );
    assert.equal((answers["200"] ?? 0) + (answers["429"] ?? 0), offered);
    assert.ok(answers["200"]! > 0);
    assert.equal(withoutRetryAfter, 0);
    assert.equal((await server.call("GET", "/readyz")).status, 200);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

async function allow({ call }: RunningApiserver): Promise<void> {
  const rbac = group("rbac.authorization");
  for (const user of ["load", "system:node:n1"]) {
    const { status } = await call("POST", `/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: user.replaceAll(":", "-") },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: rbac, kind: "User", name: user }],
    });
    assert.equal(status, 201);
  }
  const { status } = await call("POST", leases, { metadata: { name: "n1" }, spec: { holderIdentity: "n1" } });
  assert.equal(status, 201);
}

function renew({ url, ca }: RunningApiserver): Promise<number> {
  const headers = { authorization: "Bearer node-token", "content-type": "application/merge-patch+json" };
  return new Promise((resolve, reject) => {
    const options = { method: "PATCH", ca, headers, agent: false as const };
    const sent = request(new URL(`${leases}/n1`, url), options, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
    });
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    sent.on("error", reject).end(JSON.stringify({ spec: { renewTime } }));
  });
}
