import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createAuthority } from "#authn";
import { singleContext } from "#client";
import { dialects } from "#dialect";
import { authorityHash, believe, parseToken } from "./discovery.ts";

const dialect = dialects.orch;
const token = { id: "abcdef", secret: "0123456789abcdef" };
const authority = createAuthority({ commonName: "test" }, { now: Date.now(), days: 1 }).certificate;
const hash = authorityHash(authority);
const content = JSON.stringify(singleContext({ name: "x", server: "https://192.0.2.1:6443", ca: authority }));
const { clusterInfoConfig, clusterInfoSignaturePrefix } = dialect.names.objects;

function told(secret: string, of = content, header: object = { alg: "HS256", kid: token.id }) {
  const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
  const payload = Buffer.from(of).toString("base64url");
  const signature = createHmac("sha256", secret).update(`${encoded}.${payload}`).digest("base64url");
  return {
    [clusterInfoConfig]: content,
    [`${clusterInfoSignaturePrefix}${token.id}`]: `${encoded}..${signature}`,
  };
}

test("a cluster is believed that signed with the token and has the named authority", () => {
  assert.deepEqual(believe(told(token.secret), token, hash, dialect), {
    server: "https://192.0.2.1:6443",
    authority,
  });
});

const disbelieved: [name: string, data: Record<string, string>, hash: string, message: RegExp][] = [
  ["signed with another token", told("another-one-0000"), hash, /does not know this token/],
  ["signed something else", told(token.secret, `${content} `), hash, /does not know this token/],
  ["signed in no way", { [clusterInfoConfig]: content }, hash, /does not know this token/],
  ["named no algorithm", told(token.secret, content, { alg: "none" }), hash, /does not know this token/],
  [
    "has another authority",
    told(token.secret),
    `sha256:${"0".repeat(64)}`,
    /authority of the cluster is not/,
  ],
];
for (const [name, data, wanted, message] of disbelieved)
  test(`a cluster is not believed that ${name}`, () =>
    assert.throws(() => believe(data, token, wanted, dialect), message));

test("a token has two parts of six and sixteen letters", () => {
  assert.deepEqual(parseToken("abcdef.0123456789abcdef"), token);
  for (const wrong of ["", "abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef0"])
    assert.equal(parseToken(wrong), undefined);
});
