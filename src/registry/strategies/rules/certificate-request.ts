// Certificate requests (PKCS #10) and certificates, as far as the server must understand them.
import { X509Certificate, constants, createPublicKey, verify } from "node:crypto";

interface Block {
  readonly type: string;
  readonly headers: boolean;
  readonly bytes: Buffer;
}

/** The PEM blocks of a text, in order. */
export function pemBlocks(text: string): Block[] {
  const found = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/g);
  return [...found].map(([, type = "", body = ""]) => ({
    type,
    headers: body.includes(":"),
    bytes: Buffer.from(body, "base64"),
  }));
}

/** One value of DER: where its content and its end are. */
interface Value {
  readonly tag: number;
  readonly start: number;
  readonly content: Buffer;
  readonly end: number;
}

function valueAt(bytes: Buffer, start: number): Value {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  if (tag === undefined || first === undefined) throw new Error("asn1: data truncated");
  const count = first & 0x80 ? first & 0x7f : 0;
  if (count > 4 || start + 2 + count > bytes.length) throw new Error("asn1: length is wrong");
  const length = count === 0 ? first : bytes.readUIntBE(start + 2, count);
  const from = start + 2 + count;
  if (from + length > bytes.length) throw new Error("asn1: data truncated");
  return { tag, start, content: bytes.subarray(from, from + length), end: from + length };
}

function valuesIn(bytes: Buffer): Value[] {
  const values: Value[] = [];
  for (let at = 0; at < bytes.length; at = values.at(-1)!.end) values.push(valueAt(bytes, at));
  return values;
}

/** Object identifiers of signature algorithms, in hex, and the digests they use. */
const digests: Readonly<Record<string, string | null>> = {
  "2a864886f70d010105": "sha1",
  "2a8648ce3d0401": "sha1",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
  "2b6570": null,
};

/** The one algorithm that names its digest apart. */
const rsaPss = "2a864886f70d01010a";
const pssDigests: readonly [digest: string, oid: string][] = [
  ["sha256", "608648016503040201"],
  ["sha384", "608648016503040202"],
  ["sha512", "608648016503040203"],
];
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** Says why a PEM text is no request signed with its own key, or nothing. */
export function requestProblem(pem: string): string | undefined {
  const block = pemBlocks(pem)[0];
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  try {
    const whole = valueAt(block.bytes, 0);
    const [info, algorithm, signature] = valuesIn(whole.content);
    if (whole.tag !== 0x30 || info?.tag !== 0x30 || algorithm?.tag !== 0x30 || signature?.tag !== 0x03)
      return "asn1: structure error";
    const key = valuesIn(info.content)[2];
    const oid = valuesIn(algorithm.content)[0]!.content.toString("hex");
    const digest =
      oid === rsaPss
        ? pssDigests.find(([, name]) => algorithm.content.includes(name, "hex"))?.[0]
        : digests[oid];
    if (!key || digest === undefined) return "x509: cannot verify signature: algorithm unimplemented";
    const publicKey = createPublicKey({
      key: info.content.subarray(key.start, key.end),
      format: "der",
      type: "spki",
    });
    const signed = verify(
      digest,
      whole.content.subarray(info.start, info.end),
      { key: publicKey, ...(oid === rsaPss && pss) },
      signature.content.subarray(1),
    );
    return signed ? undefined : "x509: verification error";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Says why a PEM text is no chain of certificates, or nothing. */
export function chainProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return "must contain at least one CERTIFICATE PEM block";
  for (const { type, headers, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found "${type}"`;
    if (headers) return "no PEM block headers are permitted";
    try {
      new X509Certificate(bytes);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}
