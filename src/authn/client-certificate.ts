// Authenticates users by client certificate: the common name is the user, the organizations are its groups.

import { hash } from "node:crypto";
import type { Clock, Metrics } from "#base";
import type { Authenticator } from "./authenticator.ts";
import type { CertificateVerifier, VerifiedCertificate } from "./certificate-chain.ts";
import type { Identity, User } from "./user.ts";

/**
 * Authenticates client certificates; `used` is called for every request with a valid one. If `idKey` is given, this
 * extra attribute of users identifies their certificate.
 */
export function clientCertificates(
  verifier: CertificateVerifier,
  used: (verified: VerifiedCertificate) => void = () => undefined,
  idKey?: string,
): Authenticator {
  const identities = new WeakMap<VerifiedCertificate, Identity>();
  return {
    authenticate: async ({ certificates }) => {
      if (!certificates?.length) return undefined;
      const verified = verifier.verify(certificates);
      if (verified.commonName === "") return undefined;
      used(verified);
      let identity = identities.get(verified);
      if (!identity) {
        const id = `X509SHA256=${hash("sha256", certificates[0]!.raw)}`;
        const user: User = {
          name: verified.commonName,
          groups: verified.organizations,
          ...(idKey !== undefined && { extra: { [idKey]: [id] } }),
        };
        identities.set(verified, (identity = { user }));
      }
      return identity;
    },
  };
}

const [hour, day] = [3600, 86_400];

/**
 * Records the remaining validity of the certificates that clients present, so that clients that do not renew
 * theirs are noticed in time.
 */
export function certificateExpirationMetric(
  metrics: Metrics,
  clock: Clock,
): (verified: VerifiedCertificate) => void {
  const remaining = metrics.histogram({
    name: "apiserver_client_certificate_expiration_seconds",
    help: "Distribution of the remaining lifetime in seconds of the client certificates of requests.",
    buckets: [
      0,
      hour / 2,
      hour,
      2 * hour,
      6 * hour,
      12 * hour,
      day,
      2 * day,
      4 * day,
      7 * day,
      30 * day,
      90 * day,
      180 * day,
      360 * day,
    ],
    stability: "ALPHA",
  });
  return ({ expires }) => remaining.with().observe((expires - clock.now()) / 1000);
}
