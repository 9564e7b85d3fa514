import assert from "node:assert/strict";
import { test } from "node:test";
import { NoAlternativeNames, isUntrusted } from "./server-identity.ts";

const cases: [name: string, error: unknown, expected: boolean][] = [
  ["an authority that nobody knows", { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, true],
  ["a certificate that vouches for itself", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, true],
  ["a certificate that has expired", { code: "CERT_HAS_EXPIRED" }, true],
  ["a certificate of another name", { code: "ERR_TLS_CERT_ALTNAME_INVALID" }, true],
  ["a certificate without names", new NoAlternativeNames("none"), true],
  ["whoever says so of another error", new Error("no", { cause: { code: "CERT_HAS_EXPIRED" } }), true],
  ["a connection that is refused", { code: "ECONNREFUSED" }, false],
  ["an error without a code", new Error("no"), false],
];
for (const [name, error, expected] of cases)
  test(`${name} ${expected ? "is" : "is not"} for want of trust`, () =>
    assert.equal(isUntrusted(error), expected));
