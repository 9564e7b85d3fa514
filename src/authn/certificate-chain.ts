// Verifies a presented chain against a set of trusted authorities: signatures, validity, authority rights and
// purpose. Good results are remembered per certificate until the first of the chain expires; the memory is
// bounded and dies with the trust.

import type { X509Certificate } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#base";
import { BadCredential } from "./authenticator.ts";
import { certificateExtensions, derItems } from "./der.ts";
import type { TrustBundle } from "./trust-bundle.ts";

/** The subject of a verified certificate. */
export interface VerifiedCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Milliseconds since the epoch at which the verification stops being true. */
  readonly expires: number;
}

export interface CertificateVerifier {
  /**
   * Throws BadCredential when no chain leads to a trusted authority. `chain` is what the peer sent, its own
   * certificate first.
   */
  verify(chain: readonly X509Certificate[]): VerifiedCertificate;
}

const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyPurpose = "2.5.29.37.0";
const basicConstraints = "2.5.29.19";
const nameConstraints = "2.5.29.30";
const subjectAlternativeName = "2.5.29.17";
// Everything below is either checked here or by node:crypto; a critical extension that is not known must fail
// the chain.
const knownExtensions = new Set([
  basicConstraints,
  nameConstraints,
  subjectAlternativeName,
  "2.5.29.15",
  "2.5.29.37",
  "2.5.29.32",
  "2.5.29.14",
  "2.5.29.35",
  "2.5.29.36",
  "2.5.29.54",
]);
const longestChain = 10;

export interface VerifierOptions {
  readonly trust: TrustBundle;
  readonly clock: Clock;
  /** How many verified certificates are remembered. */
  readonly remember?: number;
}

/** Verifies client certificates against the bundle as it stands at each call. */
export function clientCertificateVerifier({
  trust,
  clock,
  remember = 4096,
}: VerifierOptions): CertificateVerifier {
  const verified = new LRUCache<string, VerifiedCertificate>({ max: remember });
  const objects = new WeakMap<X509Certificate, string>();
  let authorities = trust.certificates();
  return {
    verify: (chain) => {
      const [leaf] = chain;
      if (!leaf) throw new BadCredential("no certificate was presented");
      const current = trust.certificates();
      if (current !== authorities) {
        authorities = current;
        verified.clear();
      }
      let fingerprint = objects.get(leaf);
      if (fingerprint === undefined) objects.set(leaf, (fingerprint = leaf.fingerprint256));
      const now = clock.now();
      const known = verified.get(fingerprint);
      if (known && known.expires > now) return known;
      const path = pathToAuthority(leaf, chain.slice(1, longestChain), authorities, now);
      const subject = leaf.toLegacyObject().subject as unknown as
        | Record<string, string | string[] | undefined>
        | undefined;
      const result: VerifiedCertificate = {
        commonName: [subject?.CN ?? ""].flat().at(-1) ?? "",
        organizations: [subject?.O ?? []].flat(),
        expires: Math.min(...path.map((certificate) => certificate.validToDate.getTime())),
      };
      verified.set(fingerprint, result);
      return result;
    },
  };
}

/** The chain from the certificate to a trusted authority, both included. */
function pathToAuthority(
  leaf: X509Certificate,
  sent: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: number,
): X509Certificate[] {
  const problems: string[] = [];
  const walk = (path: readonly X509Certificate[]): X509Certificate[] | undefined => {
    const last = path.at(-1)!;
    if (authorities.some((authority) => authority.raw.equals(last.raw))) return [...path];
    if (path.length >= longestChain) return undefined;
    for (const issuer of [...authorities, ...sent]) {
      if (
        path.some((certificate) => certificate.raw.equals(issuer.raw)) ||
        !last.checkIssued(issuer) ||
        !last.verify(issuer.publicKey)
      )
        continue;
      const problem = problemAsAuthority(issuer, path.length - 1, now);
      if (problem) problems.push(problem);
      else {
        const found = walk([...path, issuer]);
        if (found) return found;
      }
    }
    return undefined;
  };
  const own = problemAnywhere(leaf, now);
  const path = own ? undefined : walk([leaf]);
  if (!path)
    throw new BadCredential(
      `verifying certificate ${leaf.serialNumber} failed: ${own ?? problems[0] ?? "signed by an unknown authority"}`,
    );
  const constrained = path.slice(1).some((certificate) => extension(certificate, nameConstraints));
  if (constrained && extension(leaf, subjectAlternativeName)) {
    throw new BadCredential(
      `verifying certificate ${leaf.serialNumber} failed: its authority limits alternative names, which is not supported`,
    );
  }
  return path;
}

function problemAnywhere(certificate: X509Certificate, now: number): string | undefined {
  if (certificate.validFromDate.getTime() > now)
    return `not valid before ${certificate.validFromDate.toISOString()}`;
  if (certificate.validToDate.getTime() < now) return `expired at ${certificate.validToDate.toISOString()}`;
  // In node:crypto `keyUsage` lists the extended purposes. None listed means any.
  const purposes = certificate.keyUsage as string[] | undefined;
  if (purposes && !purposes.includes(clientAuth) && !purposes.includes(anyPurpose))
    return "not meant for client authentication";
  const unknown = certificateExtensions(certificate.raw).find(
    ({ oid, critical }) => critical && !knownExtensions.has(oid),
  );
  return unknown && `has the unknown critical extension ${unknown.oid}`;
}

function problemAsAuthority(
  certificate: X509Certificate,
  intermediatesBelow: number,
  now: number,
): string | undefined {
  if (!certificate.ca) return `signed by ${JSON.stringify(certificate.subject)}, which is not an authority`;
  const limit = pathLengthLimit(certificate);
  if (limit !== undefined && intermediatesBelow > limit) return "too many intermediate authorities";
  return problemAnywhere(certificate, now);
}

const extension = (certificate: X509Certificate, oid: string): Uint8Array | undefined =>
  certificateExtensions(certificate.raw).find((each) => each.oid === oid)?.value;

function pathLengthLimit(certificate: X509Certificate): number | undefined {
  const constraints = extension(certificate, basicConstraints);
  const limit = constraints && derItems(derItems(constraints)[0]!.content).find(({ tag }) => tag === 0x02);
  return limit && Buffer.from(limit.content).readUIntBE(0, Math.min(6, limit.content.length));
}
