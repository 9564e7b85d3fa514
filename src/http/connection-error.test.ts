import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionErrorText } from "./connection-error.ts";

const x509 = "tls: failed to verify certificate: x509:";
const cases: [code: string | undefined, text: string][] = [
  ["DEPTH_ZERO_SELF_SIGNED_CERT", `${x509} certificate signed by unknown authority`],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", `${x509} certificate signed by unknown authority`],
  ["CERT_HAS_EXPIRED", `${x509} certificate has expired or is not yet valid`],
  ["ERR_TLS_CERT_ALTNAME_INVALID", `${x509} as node says it`],
  ["ECONNREFUSED", "dial tcp 192.0.2.1:10250: connect: connection refused"],
  ["ENOTFOUND", "dial tcp: lookup 192.0.2.1: no such host"],
  [undefined, "as node says it"],
];
for (const [code, text] of cases)
  test(`${code ?? "an error without a code"} has Go's text`, () => {
    const error = Object.assign(new Error("as node says it"), { code });
    assert.equal(connectionErrorText(error, { host: "192.0.2.1", port: 10_250 }), text);
  });
