// Users log in at a real identity provider and send its tokens to the server: while the provider is up, after
// it has replaced its keys, while it is down, and after it has come back.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startServer } from "#apiserver";
import { virtualClock } from "#base";
import { type IdentityProvider, startIdentityProvider } from "#kit";

const folder = mkdtempSync(join(tmpdir(), "identity-"));
let provider: IdentityProvider;
before(async () => {
  provider = await startIdentityProvider(["cluster", "elsewhere"], ["developers"]);
});
after(async () => {
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startTarget() {
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, provider.ca);
  const clock = virtualClock(Date.now());
  const server = await startServer({
    store: "memory",
    clock,
    flags: [
      `--oidc-issuer-url=${provider.url}`,
      "--oidc-client-id=cluster",
      `--oidc-ca-file=${ca}`,
      "--oidc-username-prefix=idp:",
      "--oidc-groups-claim=groups",
      "--oidc-groups-prefix=idp:",
    ],
  });
  const group = "rbac.authorization.orch.io";
  await server.inject({
    method: "POST",
    path: `/apis/${group}/v1/clusterrolebindings`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      metadata: { name: "developers" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "system:aggregate-to-view" },
      subjects: [{ apiGroup: group, kind: "Group", name: "idp:developers" }],
    }),
  });
  const ask = async (token: string, path: string) => {
    const answer = await server.inject({
      method: "GET",
      path,
      trusted: null,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: answer.status, text: await answer.text() };
  };
  return { server, clock, ask };
}
const pods = "/api/v1/pods";

test("a token of the provider authenticates its user and groups, and is refused when modified", async () => {
  const { server, ask } = await startTarget();
  await using _ = server;
  const token = await provider.login("ann");
  assert.equal((await ask(token, pods)).status, 200);
  const refused = await ask(token, "/api/v1/secrets");
  assert.equal(refused.status, 403);
  assert.match(refused.text, /User \\"idp:ann\\" cannot list resource \\"secrets\\"/);
  const [head, claims, signature] = token.split(".") as [string, string, string];
  const other = { ...(JSON.parse(Buffer.from(claims, "base64url").toString()) as object), sub: "root" };
  const forged = [head, Buffer.from(JSON.stringify(other)).toString("base64url"), signature].join(".");
  assert.equal((await ask(forged, pods)).status, 401);
});

test("a token for another client of the provider is refused", async () => {
  const { server, ask } = await startTarget();
  await using _ = server;
  assert.equal((await ask(await provider.login("ann", "elsewhere"), pods)).status, 401);
});

test("replaced keys of the provider are fetched when a token needs them, and old ones are dropped", async () => {
  const { server, clock, ask } = await startTarget();
  await using _ = server;
  const old = await provider.login("ann");
  assert.equal((await ask(old, pods)).status, 200);
  await provider.stop();
  await provider.start("new");
  await clock.advance(60_000);
  assert.equal((await ask(await provider.login("ben"), pods)).status, 200);
  await clock.advance(60_000);
  assert.equal((await ask(old, pods)).status, 401);
});

test("while the provider is down its tokens stay valid; a server that has not reached it yet waits until it is back", async () => {
  const known = await startTarget();
  await using _known = known.server;
  const [first, second] = [await provider.login("ann"), await provider.login("ben")];
  assert.equal((await known.ask(first, pods)).status, 200);
  await provider.stop();
  assert.equal((await known.ask(second, pods)).status, 200);
  const late = await startTarget();
  await using _late = late.server;
  assert.equal((await late.ask(first, pods)).status, 401);
  await provider.start();
  await late.clock.advance(10_000);
  assert.equal((await late.ask(first, pods)).status, 200);
});
