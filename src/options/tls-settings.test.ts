import assert from "node:assert/strict";
import { test } from "node:test";
import { createSecureContext } from "node:tls";
import { cipherSuiteNames, cipherSuiteWarnings } from "./cipher-suites.ts";
import { tlsSettings } from "./tls-settings.ts";

const newest = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
const cases: [name: string, version: string, suites: string[], oldest: string, ciphers: RegExp][] = [
  [
    "defaults",
    "",
    [],
    "TLSv1.2",
    new RegExp(`^${newest}:ECDHE-ECDSA-AES128-GCM-SHA256:(?!.*(TLS_|SECLEVEL))`),
  ],
  [
    "suites of the older versions",
    "VersionTLS12",
    ["TLS_RSA_WITH_AES_128_GCM_SHA256"],
    "TLSv1.2",
    new RegExp(`^${newest}:AES128-GCM-SHA256$`),
  ],
  ["a suite of TLS 1.3", "VersionTLS13", ["TLS_AES_256_GCM_SHA384"], "TLSv1.3", new RegExp(`^${newest}$`)],
  [
    "suites that the library was built without",
    "VersionTLS12",
    ["TLS_RSA_WITH_RC4_128_SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA"],
    "TLSv1.2",
    new RegExp(`^${newest}$`),
  ],
  ["an old version", "VersionTLS10", [], "TLSv1", /:@SECLEVEL=0$/],
];
for (const [name, version, suites, oldest, ciphers] of cases) {
  test(`TLS: ${name}`, () => {
    const settings = tlsSettings(version, suites);
    assert.equal(settings.minVersion, oldest);
    assert.match(settings.ciphers!, ciphers);
    createSecureContext(settings);
  });
}

test("every single suite creates a context, and problems are reported", () => {
  for (const name of cipherSuiteNames) {
    createSecureContext(tlsSettings("VersionTLS12", [name]));
    const weak = /RC4|3DES|CBC_SHA256$/.test(name);
    assert.equal(cipherSuiteWarnings([name]).length, weak ? 1 : 0, name);
  }
  assert.match(cipherSuiteWarnings(["TLS_RSA_WITH_RC4_128_SHA"])[0]!, /not available in this build/);
});
