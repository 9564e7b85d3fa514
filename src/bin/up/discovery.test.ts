import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createAuthority } from "#authn";
import { singleContext } from "#client";
import { dialects } from "#dialect";
import { authorityHash, verifyClusterInfo, parseToken } from "./discovery.ts";

const dialect = dialects.orch;
const token = { id: "abcdef", secret: "0123456789abcdef" };
const authority = createAuthority({ commonName: "test" }, { now: Date.now(), days: 1 }).certificate;
const hash = authorityHash(authority);
const content = JSON.stringify(singleContext({ name: "x", server: "https://192.0.2.1:6443", ca: authority }));
const { clusterInfoConfig, clusterInfoSignaturePrefix } = dialect.names.objects;

function clusterInfo(secret: string, of = content, header: object = { alg: "HS256", kid: token.id }) {
  const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
  const payload = Buffer.from(of).toString("base64url");
  const signature = createHmac("sha256", secret).update(`${encoded}.${payload}`).digest("base64url");
  return {
    [clusterInfoConfig]: content,
    [`${clusterInfoSignaturePrefix}${token.id}`]: `${encoded}..${signature}`,
  };
}

test("a cluster info signed with the token and with the given CA is trusted", () => {
  assert.deepEqual(verifyClusterInfo(clusterInfo(token.secret), token, hash, dialect), {
    server: "https://192.0.2.1:6443",
    authority,
  });
});

const disbelieved: [name: string, data: Record<string, string>, hash: string, message: RegExp][] = [
  ["signed with another token", clusterInfo("another-one-0000"), hash, /does not know this token/],
  ["signed for other content", clusterInfo(token.secret, `${content} `), hash, /does not know this token/],
  ["not signed", { [clusterInfoConfig]: content }, hash, /does not know this token/],
  [
    "signed without an algorithm",
    clusterInfo(token.secret, content, { alg: "none" }),
    hash,
    /does not know this token/,
  ],
  [
    "has another CA",
    clusterInfo(token.secret),
    `sha256:${"0".repeat(64)}`,
    /CA of the cluster does not match/,
  ],
];
for (const [name, data, wanted, message] of disbelieved)
  test(`a cluster info is not trusted: ${name}`, () =>
    assert.throws(() => verifyClusterInfo(data, token, wanted, dialect), message));

test("a token has parts of six and sixteen characters", () => {
  assert.deepEqual(parseToken("abcdef.0123456789abcdef"), token);
  for (const wrong of ["", "abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef0"])
    assert.equal(parseToken(wrong), undefined);
});
