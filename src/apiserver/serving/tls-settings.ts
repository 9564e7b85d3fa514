// TLS as the operator asked for it: the oldest version, and the cipher suites.
import { DEFAULT_CIPHERS, type SecureContextOptions, type SecureVersion } from "node:tls";
import { cipherString } from "#options";

const versions: Readonly<Record<string, SecureVersion>> = { VersionTLS10: "TLSv1", VersionTLS11: "TLSv1.1", VersionTLS12: "TLSv1.2", VersionTLS13: "TLSv1.3" };
const always = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];

export function tlsSettings(minVersion: string, suites: readonly string[]): SecureContextOptions {
  const oldest = versions[minVersion] ?? "TLSv1.2";
  const chosen = cipherString(suites);
  // The library knows the versions before 1.2 only at its lowest security level.
  const level = oldest === "TLSv1" || oldest === "TLSv1.1" ? ":@SECLEVEL=0" : "";
  if (chosen === undefined && level === "") return { minVersion: oldest };
  const own = chosen === undefined ? DEFAULT_CIPHERS : [...new Set([...always, ...chosen.split(":")])].join(":");
  return { minVersion: oldest, ciphers: `${own}${level}` };
}
