import assert from "node:assert/strict";
import { test } from "node:test";
import { NoAlternativeNames, isUntrusted } from "./server-identity.ts";

const cases: [name: string, error: unknown, expected: boolean][] = [
  ["an unknown authority", { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, true],
  ["a self-signed certificate", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, true],
  ["a certificate that has expired", { code: "CERT_HAS_EXPIRED" }, true],
  ["a certificate for another name", { code: "ERR_TLS_CERT_ALTNAME_INVALID" }, true],
  ["a certificate without names", new NoAlternativeNames("none"), true],
  ["an error caused by a certificate error", new Error("no", { cause: { code: "CERT_HAS_EXPIRED" } }), true],
  ["a refused connection", { code: "ECONNREFUSED" }, false],
  ["an error without a code", new Error("no"), false],
];
for (const [name, error, expected] of cases)
  test(`${name} ${expected ? "is" : "is not"} an untrusted certificate`, () =>
    assert.equal(isUntrusted(error), expected));
