// Authorities with X.509 version 1 certificates.
import { X509Certificate, createPrivateKey, sign } from "node:crypto";
import { bits, derItems, sequence } from "./der.ts";
import type { CertificatePair } from "./issue.ts";

/** The same authority, signed by itself or another, with a certificate of the first version, which has neither version nor extensions. */
export function firstVersion(
  { certificate, key }: CertificatePair,
  issuer: CertificatePair = { certificate, key },
): CertificatePair {
  const [body, algorithm] = derItems(derItems(new X509Certificate(certificate).raw)[0]!.content);
  const parts = derItems(body!.content).slice(1, 7);
  const old = sequence(...parts.map(({ whole }) => whole));
  const signature = bits(sign("sha256", old, createPrivateKey(issuer.key)));
  return { certificate: new X509Certificate(sequence(old, algorithm!.whole, signature)).toString(), key };
}
