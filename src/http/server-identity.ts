// Whether a server's certificate is for the name by which it was called. As in Go, a certificate without subject
// alternative names is for none: the common name of its subject is not one (RFC 9525 §2).
import { type PeerCertificate, checkServerIdentity as checkNames } from "node:tls";

export class NoAlternativeNames extends Error {
  override readonly name = "NoAlternativeNames";
}

/** The option of this name for connections over TLS that we make. */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname === undefined)
    return new NoAlternativeNames("x509: certificate relies on legacy Common Name field, use SANs instead");
  return checkNames(host, certificate);
}
