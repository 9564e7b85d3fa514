import assert from "node:assert/strict";
import { test } from "node:test";
import { testAuthority } from "#kit";
import { pairFault } from "./tls-pair.ts";

const authority = await testAuthority();
const one = await authority.issue("/CN=one");
const other = await authority.issue("/CN=other");
const block = (type: string): string => `-----BEGIN ${type}-----\nMAo=\n-----END ${type}-----\n`;

const cases: [name: string, certificate: string, key: string, fault: RegExp | undefined][] = [
  ["a matching pair", one.cert, one.key, undefined],
  ["no certificate", "", one.key, /^tls: failed to find any PEM data in certificate input$/],
  ["no key", one.cert, "x", /^tls: failed to find any PEM data in key input$/],
  ["switched", one.key, one.cert, /PEM inputs may have been switched$/],
  ["a certificate in place of the key", one.cert, one.cert, /^tls: found a certificate rather than a key/],
  [
    "other blocks in place of the certificate",
    block("A") + block("B"),
    one.key,
    /"CERTIFICATE" PEM block .* types: \[A B\]$/,
  ],
  [
    "other blocks in place of the key",
    one.cert,
    block("A") + block("B"),
    /"PRIVATE KEY" in key input .* types: \[A B\]$/,
  ],
  ["a malformed certificate", block("CERTIFICATE"), one.key, /^x509: malformed certificate$/],
  ["a malformed key", one.cert, block("EC PRIVATE KEY"), /^tls: failed to parse private key$/],
  ["a key that does not match", one.cert, other.key, /^tls: private key does not match public key$/],
];
for (const [name, certificate, key, fault] of cases)
  test(`a TLS secret: ${name}`, () => {
    const found = pairFault(Buffer.from(certificate), Buffer.from(key));
    if (fault) assert.match(found ?? "", fault);
    else assert.equal(found, undefined);
  });

test("unterminated PEM blocks are scanned in linear time", () => {
  const many = Buffer.from("-----BEGIN A-----\n".repeat(50_000));
  assert.match(pairFault(many, many) ?? "", /any PEM data/);
});
