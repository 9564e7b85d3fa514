// Service account tokens of later releases: identifiers, nodes of pods, tokens bound to nodes.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "later-tokens-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const core = "/api/v1/namespaces/default";
const tokens = `${core}/serviceaccounts/robot/token`;
const extra = (name: string): string => `authentication.orch.io/${name}`;

let files = 0;
/** A server of the release with a service account, a node, and a pod that runs on it. */
async function serveRelease(...flags: string[]) {
  const [policy, log] = [join(folder, `${++files}.yaml`), join(folder, `${files}.log`)];
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: "audit.orch.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] }),
  );
  const served = await serve({
    flags: [
      ...flags,
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      "--authorization-mode=AlwaysAllow",
      "--disable-admission-plugins=ServiceAccount",
    ],
  });
  const { must } = served;
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "robot" } } });
  const node = await must(201, "POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
  const spec = {
    serviceAccountName: "robot",
    nodeName: "n1",
    containers: [{ name: "main", image: "main" }],
  };
  await must(201, "POST", `${core}/pods`, { body: { metadata: { name: "web" }, spec } });
  await must(201, "POST", `${core}/pods`, {
    body: { metadata: { name: "lost" }, spec: { ...spec, nodeName: "gone" } },
  });
  const issue = async (kind?: string, name?: string): Promise<string> => {
    const boundObjectRef = kind && { kind, apiVersion: "v1", name };
    const body = { spec: { ...(boundObjectRef && { boundObjectRef }) } };
    return String((await must(201, "POST", tokens, { body })).at("status.token"));
  };
  const review = async (token: string): Promise<Json> =>
    (
      await must(201, "POST", "/apis/authentication.orch.io/v1/tokenreviews", { body: { spec: { token } } })
    ).at("status") as Json;
  const issued = (): (string | undefined)[] =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line.includes('"subresource":"token"') && line.includes("ResponseComplete"))
      .map((line) => {
        const { annotations } = JSON.parse(line) as { annotations: Record<string, string> };
        return annotations[extra("issued-credential-id")];
      });
  return { ...served, issue, review, issued, nodeUid: node.at("metadata.uid") };
}

const claimsOf = (token: string): Json =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as Json;
const extraOf = (status: Json): Json => ((status["user"] as Json)["extra"] as Json | undefined) ?? {};

test("a token has an identifier, which is an attribute of its user and of the audit event of its issue", async () => {
  const { issue, review, issued } = await serveRelease("--release=1.30");
  const token = await issue();
  const { jti } = claimsOf(token);
  assert.match(String(jti), /^[0-9a-f-]{36}$/);
  assert.deepEqual(extraOf(await review(token)), { [extra("credential-id")]: [`JTI=${String(jti)}`] });
  assert.deepEqual(issued(), [`JTI=${String(jti)}`]);
});

test("a token of a pod names the pod's node, without UID if the node does not exist", async () => {
  const { issue, review, nodeUid } = await serveRelease("--release=1.30");
  const token = await issue("Pod", "web");
  assert.deepEqual((claimsOf(token)["orch.io"] as Json)["node"], { name: "n1", uid: nodeUid });
  const found = extraOf(await review(token));
  assert.deepEqual(
    [found[extra("pod-name")], found[extra("node-name")], found[extra("node-uid")]],
    [["web"], ["n1"], [nodeUid]],
  );
  const lost = extraOf(await review(await issue("Pod", "lost")));
  assert.deepEqual([lost[extra("node-name")], lost[extra("node-uid")]], [["gone"], undefined]);
});

test("a token can be bound to a node, and is valid as long as the node exists", async () => {
  const { must, issue, review, nodeUid } = await serveRelease("--release=1.31");
  const token = await issue("Node", "n1");
  const found = extraOf(await review(token));
  assert.deepEqual([found[extra("node-name")], found[extra("node-uid")]], [["n1"], [nodeUid]]);
  const missing = { spec: { boundObjectRef: { kind: "Node", apiVersion: "v1", name: "n2" } } };
  assert.match(
    String((await must(404, "POST", tokens, { body: missing })).at("message")),
    /nodes "n2" not found/,
  );
  const other = { spec: { boundObjectRef: { ...missing.spec.boundObjectRef, name: "n1", uid: "other" } } };
  await must(409, "POST", tokens, { body: other });
  await must(200, "DELETE", "/api/v1/nodes/n1");
  assert.match(String((await review(token))["error"]), /has been invalidated/);
});

test("without the gates tokens have none of this", async () => {
  for (const flags of [
    [],
    [
      "--release=1.32",
      "--feature-gates=ServiceAccountTokenJTI=false,ServiceAccountTokenPodNodeInfo=false,ServiceAccountTokenNodeBinding=false",
    ],
  ]) {
    const { must, issue, review, issued } = await serveRelease(...flags);
    const token = await issue("Pod", "web");
    assert.equal(claimsOf(token)["jti"], undefined);
    assert.equal((claimsOf(token)["orch.io"] as Json)["node"], undefined);
    assert.deepEqual(Object.keys(extraOf(await review(token))), [extra("pod-name"), extra("pod-uid")]);
    assert.deepEqual(issued(), [undefined]);
    const refused = await must(400, "POST", tokens, {
      body: { spec: { boundObjectRef: { kind: "Node", apiVersion: "v1", name: "n1" } } },
    });
    assert.match(String(refused.at("message")), /cannot bind token to .*Node/);
  }
});
