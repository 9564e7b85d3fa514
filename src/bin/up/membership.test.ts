import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createAuthority, signClient } from "#authn";
import { connectionOf, readClientConfig, singleContext, writeClientConfig } from "#client";
import { dialects } from "#dialect";
import { credentialsFor } from "./credentials.ts";
import { authorityHash } from "./discovery.ts";
import { type JoinTarget, authorityFile, bootstrapFile, isNodeOf, refuseNode } from "./membership.ts";
import { pathsFor } from "./paths.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-membership-"));
after(() => rmSync(folder, { recursive: true }));
const now = Date.UTC(2030, 0, 1);
const validity = { now, days: 30 };
const [first, second] = ["first", "second"].map((commonName) => createAuthority({ commonName }, validity));
const server = "https://192.0.2.1:6443";
const moved = "https://192.0.2.9:6443";
const nodeName = "n";
const silent = () => Promise.resolve(undefined);
const publishes = (authority: string, at: string) => () => Promise.resolve({ server: at, authority });

/** Returns the paths of a machine that joined the first cluster. */
function nodePaths(name: string) {
  const paths = pathsFor(dialects.orch, join(folder, name));
  const { certificate: ca } = first!;
  mkdirSync(paths.pki, { recursive: true });
  writeFileSync(authorityFile(paths), ca);
  const { certificate, key } = signClient(first!, { commonName: "system:node:n" }, validity);
  writeClientConfig(paths.agentConfig, singleContext({ name: "x", server, ca, certificate, key }));
  writeClientConfig(bootstrapFile(paths), singleContext({ name: "x", server, ca, token: "t" }));
  return paths;
}

test("an empty folder belongs to no cluster", async () => {
  const paths = pathsFor(dialects.orch, join(folder, "empty"));
  const published = () => assert.fail("nothing to compare with");
  assert.equal(await isNodeOf(paths, { server, nodeName, hash: "", published, now }), false);
  refuseNode(paths);
});

test("a node needs no token while its certificate is valid, whether its cluster responds or not", async () => {
  const paths = nodePaths("node");
  const hash = authorityHash(first!.certificate);
  for (const published of [silent, publishes(first!.certificate, server)]) {
    assert.equal(await isNodeOf(paths, { server, nodeName, hash, published, now }), true);
    const later = now + 31 * 86_400_000;
    assert.equal(await isNodeOf(paths, { server, nodeName, hash, published, now: later }), false);
  }
});

const foreign: [name: string, hash: string, published: JoinTarget["published"]][] = [
  ["by the CA that its server publishes", "", publishes(second!.certificate, moved)],
  ["by the given hash, although its server does not respond", authorityHash(second!.certificate), silent],
];
for (const [name, hash, published] of foreign)
  test(`a node of another cluster is recognized ${name}`, async () => {
    const paths = nodePaths("other");
    await assert.rejects(isNodeOf(paths, { server: moved, nodeName, hash, published, now }), {
      message: `${paths.root} belongs to a node of another cluster, ${server}, and not to ${moved}; choose another --data-dir, or remove the data with orch down --purge`,
    });
  });

test("a folder of another node of the cluster is rejected, even with an expired certificate", async () => {
  const paths = nodePaths("renamed");
  for (const at of [now, now + 31 * 86_400_000])
    await assert.rejects(isNodeOf(paths, { server, nodeName: "m", hash: "", published: silent, now: at }), {
      message: `${paths.root} belongs to the node n, and not to m; use --node-name=n, choose another --data-dir, or remove the data with orch down --purge`,
    });
});

test("a node follows its cluster to another address", async () => {
  const paths = nodePaths("moved");
  const published = publishes(first!.certificate, moved);
  assert.equal(await isNodeOf(paths, { server: moved, nodeName, hash: "", published, now }), true);
  assert.equal(connectionOf(readClientConfig(paths.agentConfig)).server, moved);
});

test("a folder of orch up joins no cluster, and one of a node starts none", async () => {
  const paths = pathsFor(dialects.orch, join(folder, "up"));
  credentialsFor({ paths, dialect: dialects.orch, server, bindAddress: "127.0.0.1", nodeName: "n", now });
  await assert.rejects(isNodeOf(paths, { server: moved, nodeName, hash: "", published: silent, now }), {
    message: `${paths.root} contains a cluster of orch up, which cannot join ${moved}; choose another --data-dir, or remove the data with orch down --purge`,
  });
  const node = nodePaths("joined");
  assert.throws(() => refuseNode(node), {
    message: `${node.root} belongs to a node that joined ${server}; choose another --data-dir, or remove the data with orch down --purge`,
  });
});
