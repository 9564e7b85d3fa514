// Parses certificate signing requests (PKCS #10): subject, names and key.
import { createPublicKey, verify } from "node:crypto";
import { pemBlocks } from "#base";
import { type DerItem, derItems, oid, oidText, printableOrUtf8, sequence, set, tagged } from "./der.ts";

const oids = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  extensionRequest: "1.2.840.113549.1.9.14",
  alternativeNames: "2.5.29.17",
} as const;

const multiple = true;
/**
 * The attributes of a subject that are copied to a certificate, in this order: country to unit, common name,
 * serial number.
 */
const subjectAttributes: readonly (readonly [oid: string, multiple?: boolean])[] = [
  ["2.5.4.6", multiple],
  ["2.5.4.8", multiple],
  ["2.5.4.7", multiple],
  ["2.5.4.9", multiple],
  ["2.5.4.17", multiple],
  [oids.organization, multiple],
  ["2.5.4.11", multiple],
  [oids.commonName],
  ["2.5.4.5"],
];
/** The kinds of subject alternative names that signers honor, in this order: DNS, email, address, URI. */
const nameTags = [2, 1, 7, 6];

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /**
   * The subject, the subject alternative names (if any) and the public key, in DER. The names are in the form
   * for a certificate: re-encoded, without the kinds that no signer honors.
   */
  readonly subject: Uint8Array;
  readonly alternativeNames: Uint8Array | undefined;
  readonly publicKey: Uint8Array;
  /** Whether the request is signed with its private key. */
  readonly isSigned: boolean;
}

const children = (item: DerItem | undefined): DerItem[] => derItems(item?.content ?? new Uint8Array());

/** Throws if the text is not a certificate signing request. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== "CERTIFICATE REQUEST") throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [info, algorithm, signature] = children(derItems(block.bytes)[0]);
  const [, subject, publicKey, attributes] = children(info);
  if (!info || !subject || !publicKey)
    throw new Error("asn1: syntax error: a certificate request has more parts");
  const parts = children(subject).flatMap(children).map(children);
  const named = (oid: string): string[] =>
    parts
      .filter(([type]) => type !== undefined && oidText(type.content) === oid)
      .map(([, value]) => (value ? textOf(value) : ""));
  const requestedNames = alternativeNamesIn(attributes);
  const names = requestedNames ? derItems(derItems(requestedNames)[0]?.content ?? new Uint8Array()) : [];
  const ofKind = (tag: number): Uint8Array[] =>
    names.filter((item) => (item.tag & 0x1f) === tag).map(({ content }) => content);
  const texts = (tag: number): string[] => ofKind(tag).map((bytes) => Buffer.from(bytes).toString("latin1"));
  const alternatives = nameTags.flatMap((tag) => ofKind(tag).map((bytes) => tagged(tag, bytes, false)));
  return {
    commonName: named(oids.commonName).at(-1) ?? "",
    organizations: named(oids.organization),
    dnsNames: texts(2),
    emails: texts(1),
    uris: texts(6),
    ipAddresses: ofKind(7).map((bytes) =>
      bytes.length === 4
        ? bytes.join(".")
        : Buffer.from(bytes)
            .toString("hex")
            .replaceAll(/(....)(?!$)/g, "$1:"),
    ),
    subject: subjectOf(named),
    alternativeNames: alternatives.length > 0 ? sequence(...alternatives) : undefined,
    publicKey: publicKey.whole,
    isSigned: isSigned(info.whole, publicKey.whole, algorithm, signature),
  };
}

const bmpString = 0x1e;

/** Returns a text of the subject as crypto/x509 reads it: signers written in Go must see what is checked here. */
function textOf({ tag, content }: DerItem): string {
  const bytes = Buffer.from(content);
  if (tag !== bmpString) return bytes.toString();
  if (bytes.length % 2 === 1) throw new Error("asn1: syntax error: odd-length BMP string");
  return bytes.swap16().toString("utf16le").replace(/\0$/, "");
}

const subjectOf = (named: (oid: string) => string[]): Uint8Array =>
  sequence(
    ...subjectAttributes.flatMap(([id, isMultiple]) => {
      const all = named(id);
      const values = isMultiple ? all : all.slice(-1).filter((value) => value !== "");
      const attributes = values.map((value) => sequence(oid(id), printableOrUtf8(value)));
      return attributes.length > 0 ? [set(...attributes.toSorted(Buffer.compare))] : [];
    }),
  );

function alternativeNamesIn(attributes: DerItem | undefined): Uint8Array | undefined {
  for (const attribute of children(attributes)) {
    const [type, values] = children(attribute);
    if (!type || oidText(type.content) !== oids.extensionRequest) continue;
    for (const extension of children(children(values)[0])) {
      const extensionParts = children(extension);
      if (extensionParts[0] && oidText(extensionParts[0].content) === oids.alternativeNames)
        return extensionParts.at(-1)!.content;
    }
  }
  return undefined;
}

function isSigned(
  info: Uint8Array,
  publicKey: Uint8Array,
  algorithm: DerItem | undefined,
  signature: DerItem | undefined,
): boolean {
  const oid = children(algorithm)[0];
  if (!oid || !signature) return false;
  const hash = hashes[oidText(oid.content)];
  if (hash === undefined) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
    return verify(hash === "" ? null : hash, info, key, signature.content.subarray(1));
  } catch {
    return false;
  }
}

/** Hash algorithms by signature algorithm; Ed25519 has a built-in one. */
const hashes: Readonly<Record<string, string>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.3.101.112": "",
};

/** Returns the organizations in a request. Throws if the text is not a certificate signing request. */
export const requestedOrganizations = (pem: string): string[] => [
  ...parseCertificateRequest(pem).organizations,
];
