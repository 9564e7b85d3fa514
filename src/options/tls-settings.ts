// The TLS options of a server: the minimum version, and the cipher suites.
import type { SecureContextOptions, SecureVersion } from "node:tls";
import { libraryCiphers, defaultCipherSuites } from "./cipher-suites.ts";

const versions: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};
/**
 * The suites of TLS 1.3 cannot be configured. The cheapest secure one is first: encryption is a quarter of
 * the cost of a long list.
 */
const tls13Suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

export function tlsSettings(minVersion: string, suites: readonly string[]): SecureContextOptions {
  const oldest = versions[minVersion] ?? "TLSv1.2";
  // If none of the requested suites is available, only TLS 1.3 is served, whose suites are always enabled.
  const ciphers = libraryCiphers(suites.length === 0 ? defaultCipherSuites : suites);
  const older = ciphers.filter((name) => !tls13Suites.includes(name));
  // The library only supports versions before 1.2 at its lowest security level.
  const level = oldest === "TLSv1" || oldest === "TLSv1.1" ? ["@SECLEVEL=0"] : [];
  return {
    minVersion: oldest,
    ciphers: [...tls13Suites, ...older, ...level].join(":"),
    honorCipherOrder: true,
  };
}
