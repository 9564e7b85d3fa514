// Validation of a PEM certificate and its private key, with the error texts of Go's TLS library, which
// kube-apiserver returns.
import { X509Certificate, createPrivateKey } from "node:crypto";
import { pemBlocks } from "#base";

/** Returns the types of the PEM blocks, in order. */
const typesIn = (pem: string): string[] => pemBlocks(pem).map(({ type }) => type);

const isKey = (type: string): boolean => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY");

function certificateFault(pem: string): string | undefined {
  const types = typesIn(pem);
  if (types.includes("CERTIFICATE")) return undefined;
  if (types.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (types.length === 1 && isKey(types[0]!))
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function keyFault(pem: string): string | undefined {
  const types = typesIn(pem);
  if (types.some(isKey)) return undefined;
  if (types.length === 0) return "tls: failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE")
    return "tls: found a certificate rather than a key in the PEM for the private key";
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

/** Returns why the certificate and key are not a pair, or undefined. */
export function pairFault(certificate: Buffer, key: Buffer): string | undefined {
  const missing = certificateFault(certificate.toString()) ?? keyFault(key.toString());
  if (missing !== undefined) return missing;
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
  } catch {
    return "x509: malformed certificate";
  }
  try {
    return parsed.checkPrivateKey(createPrivateKey(key))
      ? undefined
      : "tls: private key does not match public key";
  } catch {
    return "tls: failed to parse private key";
  }
}
