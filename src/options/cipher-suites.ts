// Maps the cipher suite names of the configuration to those of the TLS library.

import { getCiphers } from "node:tls";

/** Suites considered secure. The first three belong to TLS 1.3, where they are always enabled. */
const preferred: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
};
/** Permitted with a warning. */
const insecure: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ECDHE-ECDSA-AES128-SHA256",
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: "ECDHE-ECDSA-RC4-SHA",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: "ECDHE-RSA-DES-CBC3-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ECDHE-RSA-AES128-SHA256",
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: "ECDHE-RSA-RC4-SHA",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: "DES-CBC3-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_RC4_128_SHA: "RC4-SHA",
};

/** The default suites of kube-apiserver: authenticated ciphers first, those without forward secrecy last. */
export const defaultCipherSuites: readonly string[] = Object.keys(preferred).toSorted(
  (one, other) => rankOf(one) - rankOf(other),
);

function rankOf(name: string): number {
  return (name.startsWith("TLS_RSA_") ? 2 : 0) + (name.endsWith("_CBC_SHA") ? 1 : 0);
}

export const cipherSuiteNames: readonly string[] = [...Object.keys(preferred), ...Object.keys(insecure)];
export const isInsecureCipherSuite = (name: string): boolean => Object.hasOwn(insecure, name);

/** Returns the TLS library's names of suites, without those missing from this build. */
export function libraryCiphers(names: readonly string[]): readonly string[] {
  const missing = new Set(unavailableCipherSuites(names));
  const present = names.filter((name) => !missing.has(name));
  return [...new Set(present.flatMap((name) => preferred[name] ?? insecure[name] ?? []))];
}

/**
 * Returns suites that may be configured but are not supported by this build of the TLS library, such as RC4
 * and 3DES.
 */
export function unavailableCipherSuites(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  return names.filter((name) => {
    const own = preferred[name] ?? insecure[name];
    return own !== undefined && !known.has(own);
  });
}

/** Returns warnings about the configured suites. */
export const cipherSuiteWarnings = (names: readonly string[]): string[] => {
  const missing = new Set(unavailableCipherSuites(names));
  return names.flatMap((name) =>
    missing.has(name)
      ? [`${name} is not available in this build and is left out`]
      : isInsecureCipherSuite(name)
        ? [`${name} is insecure`]
        : [],
  );
};
