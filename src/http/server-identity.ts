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

/** What OpenSSL finds wrong with a chain of certificates, by its names of X509_verify_cert(3). */
const chainErrors =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_)/;

/** Whether a connection failed because the other side's certificate was not accepted. */
export function isUntrusted(error: unknown): boolean {
  if (error instanceof NoAlternativeNames) return true;
  const { code, cause } = error as NodeJS.ErrnoException;
  if (cause !== undefined) return isUntrusted(cause);
  return typeof code === "string" && (code === "ERR_TLS_CERT_ALTNAME_INVALID" || chainErrors.test(code));
}
