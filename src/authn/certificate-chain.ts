// Verifies a presented chain against a set of trusted authorities: signatures, validity, basic constraints
// and extended key usage. Successes are cached per certificate until the first certificate of the path
// expires, failures per presented chain for a minute; both caches are bounded and cleared when the trust
// changes.

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
  /** Milliseconds since the epoch until which the verification is valid. */
  readonly expires: number;
}

export interface CertificateVerifier {
  /**
   * Throws BadCredential if no chain leads to a trusted authority. `chain` is what the peer sent, its own
   * certificate first.
   */
  verify(chain: readonly X509Certificate[]): VerifiedCertificate;
}

const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyPurpose = "2.5.29.37.0";
const basicConstraints = "2.5.29.19";
const nameConstraints = "2.5.29.30";
const subjectAlternativeName = "2.5.29.17";
// These extensions are checked here or by node:crypto; an unknown critical extension must fail the chain.
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
const maxChainLength = 10;
/** As in Go's crypto/x509: without a limit, certificates that share a name and a key cost factorial time. */
const maxSignatureChecks = 100;
/** Verifying a signature of a longer RSA key takes milliseconds; crypto/tls has the same limit. */
const maxRsaBits = 8192;
const failureMilliseconds = 60_000;

export interface VerifierOptions {
  readonly trust: TrustBundle;
  readonly clock: Clock;
  /** Maximum number of cached verified certificates, and of cached failed chains. */
  readonly cacheSize?: number;
}

/** Verifies client certificates against the current content of the bundle. */
export function clientCertificateVerifier({
  trust,
  clock,
  cacheSize = 4096,
}: VerifierOptions): CertificateVerifier {
  const verified = new LRUCache<string, VerifiedCertificate>({ max: cacheSize });
  const failed = new LRUCache<string, { readonly message: string; readonly until: number }>({
    max: cacheSize,
  });
  const fingerprints = new WeakMap<X509Certificate, string>();
  const fingerprintOf = (certificate: X509Certificate): string => {
    let known = fingerprints.get(certificate);
    if (known === undefined) fingerprints.set(certificate, (known = certificate.fingerprint256));
    return known;
  };
  let authorities = trust.certificates();
  return {
    verify: (presented) => {
      const [leaf] = presented;
      if (!leaf) throw new BadCredential("no certificate was presented");
      const current = trust.certificates();
      if (current !== authorities) {
        authorities = current;
        verified.clear();
        failed.clear();
      }
      const now = clock.now();
      const known = verified.get(fingerprintOf(leaf));
      if (known && known.expires > now) return known;
      const chain = presented.slice(0, maxChainLength);
      const chainKey = chain.map(fingerprintOf).join();
      const failure = failed.get(chainKey);
      if (failure && failure.until > clock.monotonic()) throw new BadCredential(failure.message);
      const path = pathToAuthority(leaf, { sent: chain.slice(1), authorities, now });
      if ("problem" in path) {
        const message = `verifying certificate ${leaf.serialNumber} failed: ${path.problem}`;
        failed.set(chainKey, { message, until: clock.monotonic() + failureMilliseconds });
        throw new BadCredential(message);
      }
      const subject = leaf.toLegacyObject().subject as unknown as
        | Record<string, string | string[] | undefined>
        | undefined;
      const result: VerifiedCertificate = {
        commonName: [subject?.CN ?? ""].flat().at(-1) ?? "",
        organizations: [subject?.O ?? []].flat(),
        expires: Math.min(...path.certificates.map((certificate) => certificate.validToDate.getTime())),
      };
      verified.set(fingerprintOf(leaf), result);
      return result;
    },
  };
}

interface Search {
  readonly sent: readonly X509Certificate[];
  readonly authorities: readonly X509Certificate[];
  readonly now: number;
}

type Path = { readonly certificates: readonly X509Certificate[] } | { readonly problem: string };

/**
 * Returns the path from the certificate to a trusted authority, both included. Searches depth-first with a
 * limit on signature checks.
 */
function pathToAuthority(leaf: X509Certificate, search: Search): Path {
  const { sent, authorities, now } = search;
  const candidates = [...authorities, ...sent];
  let problem: string | undefined = problemAnywhere(leaf, now);
  if (problem !== undefined) return { problem };
  let checks = 0;
  const isSignedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean => {
    checks++;
    const { asymmetricKeyDetails } = issuer.publicKey;
    return (asymmetricKeyDetails?.modulusLength ?? 0) <= maxRsaBits && certificate.verify(issuer.publicKey);
  };
  const extend = (path: readonly X509Certificate[]): readonly X509Certificate[] | undefined => {
    const last = path.at(-1)!;
    if (authorities.some((authority) => authority.raw.equals(last.raw))) return path;
    if (path.length >= maxChainLength) return undefined;
    for (const issuer of candidates) {
      if (checks >= maxSignatureChecks) return undefined;
      if (path.some((certificate) => isSameEntity(certificate, issuer)) || !last.checkIssued(issuer))
        continue;
      if (!isSignedBy(last, issuer)) continue;
      const isTrusted = authorities.includes(issuer);
      const asAuthority = problemAsAuthority(issuer, path.length - 1, now, isTrusted);
      problem ??= asAuthority;
      const found = asAuthority === undefined ? extend([...path, issuer]) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  const certificates = extend([leaf]);
  if (!certificates && checks >= maxSignatureChecks)
    return { problem: "signature check attempts limit reached while verifying certificate chain" };
  if (!certificates) return { problem: problem ?? "certificate signed by unknown authority" };
  const constrained = certificates.slice(1).some((certificate) => extension(certificate, nameConstraints));
  return constrained && extension(leaf, subjectAlternativeName)
    ? { problem: "its authority constrains alternative names, which is not supported" }
    : { certificates };
}

/**
 * Reports whether two certificates have the same subject and key. A path contains each only once: a
 * cross-signed copy leads nowhere new.
 */
const isSameEntity = (a: X509Certificate, b: X509Certificate): boolean =>
  a.raw.equals(b.raw) || (a.subject === b.subject && a.publicKey.equals(b.publicKey));

function problemAnywhere(certificate: X509Certificate, now: number): string | undefined {
  if (certificate.validFromDate.getTime() > now)
    return `not valid before ${certificate.validFromDate.toISOString()}`;
  if (certificate.validToDate.getTime() < now) return `expired at ${certificate.validToDate.toISOString()}`;
  // In node:crypto `keyUsage` lists the extended key usages. If absent, any usage is allowed.
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
  isTrusted: boolean,
): string | undefined {
  // Version 1 certificates cannot state that they are authorities: trusting one explicitly makes it an
  // authority.
  const mayIssue = certificate.ca || (isTrusted && isFirstVersion(certificate));
  if (!mayIssue) return `signed by ${JSON.stringify(certificate.subject)}, which is not an authority`;
  const limit = pathLengthLimit(certificate);
  if (limit !== undefined && intermediatesBelow > limit) return "too many intermediate authorities";
  return problemAnywhere(certificate, now);
}

const versionTag = 0xa0;
const isFirstVersion = ({ raw }: X509Certificate): boolean =>
  derItems(derItems(derItems(raw)[0]!.content)[0]!.content)[0]!.tag !== versionTag;

const extension = (certificate: X509Certificate, oid: string): Uint8Array | undefined =>
  certificateExtensions(certificate.raw).find((each) => each.oid === oid)?.value;

function pathLengthLimit(certificate: X509Certificate): number | undefined {
  const constraints = extension(certificate, basicConstraints);
  const limit = constraints && derItems(derItems(constraints)[0]!.content).find(({ tag }) => tag === 0x02);
  return limit && Buffer.from(limit.content).readUIntBE(0, Math.min(6, limit.content.length));
}
