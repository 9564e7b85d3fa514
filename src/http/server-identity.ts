// Checks that a server's certificate is valid for the name used to connect. As in Go, a certificate without
// subject alternative names is never valid: the common name is not considered (RFC 9525 §2).
import { type PeerCertificate, type SecureContextOptions, checkServerIdentity as checkNames } from "node:tls";

export class NoAlternativeNames extends Error {
  override readonly name = "NoAlternativeNames";
}

/** The `checkServerIdentity` option for outgoing TLS connections. */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname === undefined)
    return new NoAlternativeNames("x509: certificate relies on legacy Common Name field, use SANs instead");
  return checkNames(host, certificate);
}

/**
 * The authorities of an outgoing TLS connection. As in Go, every certificate among them is trusted: an
 * intermediate authority without its root, and the server's own certificate.
 */
export function trust(authorities: string | Buffer): SecureContextOptions {
  return { ca: authorities, allowPartialTrustChain: true };
}

/** OpenSSL's errors in certificate chains, by their names in X509_verify_cert(3). */
const chainErrors =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_)/;

/** Reports whether a connection failed because the server's certificate was rejected. */
export function isUntrusted(error: unknown): boolean {
  if (error instanceof NoAlternativeNames) return true;
  const { code, cause } = error as NodeJS.ErrnoException;
  if (cause !== undefined) return isUntrusted(cause);
  return typeof code === "string" && (code === "ERR_TLS_CERT_ALTNAME_INVALID" || chainErrors.test(code));
}
