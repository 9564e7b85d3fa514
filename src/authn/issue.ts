// A small certificate authority for the cluster's own needs, built on node:crypto without another library.
// Keys are P-256. Certificates are valid from five minutes before their issue, to tolerate clocks that are
// slightly behind.

import {
  type KeyObject,
  X509Certificate,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  randomBytes,
  sign,
} from "node:crypto";
import { isIP, isIPv4 } from "node:net";
import { promisify } from "node:util";
import { writePrivate } from "#base";
import type { CertificateRequest } from "./certificate-request.ts";
import {
  bits,
  bool,
  certificateExtensions,
  derItems,
  integer,
  octets,
  oid,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from "./der.ts";

/** A certificate and its private key, in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface Validity {
  /** Milliseconds since the epoch; the time of issue. */
  readonly now: number;
  readonly days: number;
  /** Days before the time of issue from which the certificate is valid; five minutes by default. */
  readonly backdateDays?: number;
}

/** The DNS names and IP addresses that a serving certificate is valid for. */
export type ServingNames = readonly string[];

const day = 86_400_000;
const backdateMilliseconds = 300_000;
const oids = {
  commonName: oid("2.5.4.3"),
  organization: oid("2.5.4.10"),
  ecdsaSha256: oid("1.2.840.10045.4.3.2"),
  rsaSha256: oid("1.2.840.113549.1.1.11"),
  subjectKey: oid("2.5.29.14"),
  keyUsage: oid("2.5.29.15"),
  alternativeNames: oid("2.5.29.17"),
  basicConstraints: oid("2.5.29.19"),
  authorityKey: oid("2.5.29.35"),
  purposes: oid("2.5.29.37"),
  serverAuth: oid("1.3.6.1.5.5.7.3.1"),
  clientAuth: oid("1.3.6.1.5.5.7.3.2"),
};
const digitalSignature = bits(Uint8Array.of(0x80), 7);
const signatureAndAuthority = bits(Uint8Array.of(0xa4), 2); // digitalSignature, keyEncipherment, keyCertSign
const isAuthority = extension(oids.basicConstraints, true, sequence(bool(true)));
const isNoAuthority = extension(oids.basicConstraints, true, sequence());

/** Creates an authority, self-signed or signed by a higher one. */
export function createAuthority(
  subject: Subject,
  validity: Validity,
  parent?: CertificatePair,
): CertificatePair {
  return issue(subject, validity, parent, [
    isAuthority,
    extension(oids.keyUsage, true, signatureAndAuthority),
  ]);
}

/** Issues a serving certificate for these names. */
export function signServing(
  authority: CertificatePair,
  subject: Subject,
  names: ServingNames,
  validity: Validity,
): CertificatePair {
  return issue(subject, validity, authority, servingExtensions(names));
}

/** Issues a client certificate: the common name is the user, the organizations are its groups. */
export function signClient(
  authority: CertificatePair,
  subject: Subject,
  validity: Validity,
): CertificatePair {
  return issue(subject, validity, authority, [
    isNoAuthority,
    extension(oids.keyUsage, true, digitalSignature),
    extension(oids.purposes, false, sequence(oids.clientAuth)),
  ]);
}

/** The usages and validity of a certificate to be issued for a request. */
export interface RequestedCertificate {
  /** As named in the API: `client auth`, `digital signature`. */
  readonly usages: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The names of the key usage bits, starting with the highest. */
const keyUsages: readonly (readonly string[])[] = [
  ["digital signature", "signing"],
  ["content commitment"],
  ["key encipherment"],
  ["data encipherment"],
  ["key agreement"],
  ["cert sign"],
  ["crl sign"],
  ["encipher only"],
];
const extendedUsages: Readonly<Record<string, Uint8Array>> = {
  any: oid("2.5.29.37.0"),
  "server auth": oids.serverAuth,
  "client auth": oids.clientAuth,
  "code signing": oid("1.3.6.1.5.5.7.3.3"),
  "email protection": oid("1.3.6.1.5.5.7.3.4"),
  "s/mime": oid("1.3.6.1.5.5.7.3.4"),
  timestamping: oid("1.3.6.1.5.5.7.3.8"),
  "ocsp signing": oid("1.3.6.1.5.5.7.3.9"),
};

/** Issues the requested certificate and returns it in PEM. */
export function signRequest(
  authority: CertificatePair,
  { subject, alternativeNames, publicKey }: CertificateRequest,
  { usages, notBefore, notAfter }: RequestedCertificate,
): string {
  let usageBits = 0;
  for (const [index, names] of keyUsages.entries())
    if (names.some((name) => usages.includes(name))) usageBits |= 0x80 >> index;
  const extended = usages.flatMap((usage) => extendedUsages[usage] ?? []);
  const unused = usageBits === 0 ? 0 : 31 - Math.clz32(usageBits & -usageBits);
  const issuer = issuerOf(authority);
  const hasSubject = derItems(subject)[0]!.content.length > 0;
  return signed(subject, publicKey, issuer, { notBefore, notAfter }, [
    ...(usageBits === 0 ? [] : [extension(oids.keyUsage, true, bits(Uint8Array.of(usageBits), unused))]),
    ...(extended.length > 0 ? [extension(oids.purposes, false, sequence(...extended))] : []),
    isNoAuthority,
    authorityKey(issuer),
    // RFC 5280, 4.2.1.6: critical if the subject is empty.
    ...(alternativeNames ? [extension(oids.alternativeNames, !hasSubject, alternativeNames)] : []),
  ]);
}

/** Creates a self-signed serving certificate, for a server that is configured without one. */
export function selfSigned(subject: Subject, names: ServingNames, validity: Validity): CertificatePair {
  return issue(subject, validity, undefined, [
    isAuthority,
    extension(oids.keyUsage, true, signatureAndAuthority),
    ...servingExtensions(names).slice(2),
  ]);
}

/**
 * Creates a serving certificate with an RSA key, issued by a temporary authority that follows it in the same
 * file. Used by a node agent that is configured without a certificate.
 */
export async function servingWithAuthority(
  name: string,
  stamp: string,
  names: ServingNames,
  validity: Validity,
): Promise<CertificatePair> {
  const authority = createAuthority({ commonName: `${name}-ca@${stamp}` }, validity);
  // Generating primes takes time; it happens on another thread.
  const key = await generateKey("rsa", { modulusLength: 2048 });
  const made = issue({ commonName: `${name}@${stamp}` }, validity, authority, rsaServing(names), key);
  return { certificate: made.certificate + authority.certificate, key: made.key };
}

/** Writes both files atomically, readable by their owner only. */
export function writePair(pair: CertificatePair, certificateFile: string, keyFile: string): void {
  writePrivate(keyFile, pair.key);
  writePrivate(certificateFile, pair.certificate);
}

/**
 * Reports whether a pair can be used for serving: the key belongs to the certificate, which stays valid for
 * `margin` milliseconds and covers every name.
 */
export function isPairUsable(
  pair: CertificatePair,
  names: ServingNames,
  now: number,
  margin: number,
): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    return (
      certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
      certificate.validToDate.getTime() > now + margin &&
      names.every(
        (name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined,
      )
    );
  } catch {
    return false;
  }
}

/**
 * Reports whether a pair found in the certificate directory stays there: one that this program did not
 * generate, whatever its names, or a usable one.
 */
export function isPairKept(pair: CertificatePair, names: ServingNames, now: number, margin: number): boolean {
  try {
    const { subject } = new X509Certificate(pair.certificate);
    return !generatedName.test(subject) || isPairUsable(pair, names, now, margin);
  } catch {
    return false;
  }
}

/** The common name of generated pairs: a name and the time in seconds. */
const generatedName = /^CN=.+@\d+$/m;

/** Returns the subject alternative name extension; an empty list for no names. */
export function alternativeNames(names: ServingNames): Uint8Array[] {
  const alternatives = names.map((name) =>
    isIP(name) ? tagged(7, addressBytes(name), false) : tagged(2, Buffer.from(name, "latin1"), false),
  );
  return alternatives.length ? [extension(oids.alternativeNames, false, sequence(...alternatives))] : [];
}

function servingExtensions(names: ServingNames): Uint8Array[] {
  return [
    isNoAuthority,
    extension(oids.keyUsage, true, digitalSignature),
    extension(oids.purposes, false, sequence(oids.serverAuth)),
    ...alternativeNames(names),
  ];
}

/** Extensions for an RSA key, which may also be used for key encipherment. */
const rsaServing = (names: ServingNames): Uint8Array[] => [
  isNoAuthority,
  extension(oids.keyUsage, true, bits(Uint8Array.of(0xa0), 5)),
  ...servingExtensions(names).slice(2),
];

interface NewKey {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const generateKey = promisify(generateKeyPair);

function issue(
  subject: Subject,
  { now, days, backdateDays }: Validity,
  authority: CertificatePair | undefined,
  extensions: readonly Uint8Array[],
  { publicKey, privateKey }: NewKey = generateKeyPairSync("ec", { namedCurve: "P-256" }),
): CertificatePair {
  const publicBytes = publicKey.export({ type: "spki", format: "der" });
  const issuer = authority
    ? issuerOf(authority)
    : { key: privateKey, name: nameOf(subject), keyId: keyIdOf(publicBytes) };
  const backdate = backdateDays === undefined ? backdateMilliseconds : backdateDays * day;
  const validity = { notBefore: now - backdate, notAfter: now + days * day };
  const keys = [extension(oids.subjectKey, false, octets(keyIdOf(publicBytes))), authorityKey(issuer)];
  return {
    certificate: signed(nameOf(subject), publicBytes, issuer, validity, [...extensions, ...keys]),
    key: privateKey
      .export({ type: privateKey.asymmetricKeyType === "rsa" ? "pkcs1" : "pkcs8", format: "pem" })
      .toString(),
  };
}

interface Issuer {
  readonly key: KeyObject;
  readonly name: Uint8Array;
  readonly keyId: Uint8Array;
}

/** Returns the certificate in PEM. */
function signed(
  subject: Uint8Array,
  publicBytes: Uint8Array,
  issuer: Issuer,
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  extensions: readonly Uint8Array[],
): string {
  const algorithm =
    issuer.key.asymmetricKeyType === "rsa"
      ? sequence(oids.rsaSha256, Uint8Array.of(5, 0))
      : sequence(oids.ecdsaSha256);
  const serial = randomBytes(16);
  serial[0]! &= 0x7f;
  const body = sequence(
    tagged(0, integer(Uint8Array.of(2)), true),
    integer(serial),
    algorithm,
    issuer.name,
    sequence(time(new Date(notBefore)), time(new Date(notAfter))),
    subject,
    publicBytes,
    tagged(3, sequence(...extensions), true),
  );
  const raw = sequence(body, algorithm, bits(sign("sha256", body, issuer.key)));
  return new X509Certificate(raw).toString();
}

const authorityKey = ({ keyId }: Issuer): Uint8Array =>
  extension(oids.authorityKey, false, sequence(tagged(0, keyId, false)));

const versionTag = 0xa0;

function issuerOf(authority: CertificatePair): Issuer {
  const certificate = new X509Certificate(authority.certificate);
  const key = createPrivateKey(authority.key);
  if (!certificate.checkPrivateKey(key))
    throw new Error(`the key does not belong to the certificate of ${JSON.stringify(certificate.subject)}`);
  const body = derItems(derItems(derItems(certificate.raw)[0]!.content)[0]!.content);
  const own = certificateExtensions(certificate.raw).find((each) => each.oid === "2.5.29.14");
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  // version (absent in the first one), serial, algorithm, issuer, validity, subject
  const name = body[body[0]!.tag === versionTag ? 5 : 4]!.whole;
  return { key, name, keyId: own ? derItems(own.value)[0]!.content : keyIdOf(spki) };
}

function extension(id: Uint8Array, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(id, ...(critical ? [bool(true)] : []), octets(value));
}

export const nameOf = ({ commonName, organizations = [] }: Subject): Uint8Array =>
  sequence(
    ...organizations.map((name) => set(sequence(oids.organization, utf8(name)))),
    set(sequence(oids.commonName, utf8(commonName))),
  );

/** Returns the usual key identifier: the hash of the key's bits, without their header. */
const keyIdOf = (spki: Uint8Array): Uint8Array =>
  createHash("sha1")
    .update(derItems(derItems(spki)[0]!.content)[1]!.content.subarray(1))
    .digest();

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split("."), Number);
  // The URL parser normalizes IPv6 addresses, so that only `::` is left to expand.
  const canonical = new URL(`http://[${address.replace(/%.*$/, "")}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = (text: string | undefined): string[] => (text ? text.split(":") : []);
  const before = groups(head);
  const after = groups(tail);
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after].map(
    (group) => Number.parseInt(group, 16),
  );
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
