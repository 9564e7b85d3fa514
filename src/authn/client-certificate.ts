// Users by client certificate: the common name is the user, the organizations are its groups.

import type { TLSSocket } from "node:tls";
import { X509Certificate } from "node:crypto";
import type { Authenticator } from "./authenticator.ts";
import type { CertificateVerifier, VerifiedCertificate } from "./certificate-chain.ts";
import type { Identity } from "./user.ts";

export function clientCertificates(verifier: CertificateVerifier): Authenticator {
  const identities = new WeakMap<VerifiedCertificate, Identity>();
  return {
    authenticate: async ({ certificates }) => {
      if (!certificates?.length) return undefined;
      const verified = verifier.verify(certificates);
      if (verified.commonName === "") return undefined;
      let identity = identities.get(verified);
      if (!identity) identities.set(verified, (identity = { user: { name: verified.commonName, groups: verified.organizations } }));
      return identity;
    },
  };
}

/** What the peer of a TLS connection presented, its own certificate first. Ask once per connection: it costs tens of microseconds. */
export function peerCertificates(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  let next: { raw?: Buffer; fingerprint256?: string; issuerCertificate?: object } | undefined = socket.getPeerCertificate(true);
  while (next?.raw && next.fingerprint256 && !seen.has(next.fingerprint256) && chain.length < 10) {
    seen.add(next.fingerprint256);
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}
