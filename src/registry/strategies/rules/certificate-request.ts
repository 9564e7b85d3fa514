// Validation of certificate requests (PKCS #10) and certificate chains.
import { X509Certificate, constants, createPublicKey, verify } from "node:crypto";
import { derItems } from "#authn";
import { pemBlocks } from "#base";

/** DER of signature algorithm OIDs in hex, with their digests. */
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

/** RSASSA-PSS, whose digest is a parameter. */
const rsaPss = "2a864886f70d01010a";
const pssDigests: readonly [digest: string, oid: string][] = [
  ["sha256", "608648016503040201"],
  ["sha384", "608648016503040202"],
  ["sha512", "608648016503040203"],
];
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** Returns why a PEM text is not a certificate request with a valid signature, or undefined. */
export function requestProblem(pem: string): string | undefined {
  const block = pemBlocks(pem)[0];
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  try {
    const [request] = derItems(block.bytes);
    const [info, algorithm, signature] = derItems(request?.content ?? new Uint8Array());
    if (request?.tag !== 0x30 || info?.tag !== 0x30 || algorithm?.tag !== 0x30 || signature?.tag !== 0x03)
      return "asn1: structure error";
    const key = derItems(info.content)[2];
    const oid = Buffer.from(derItems(algorithm.content)[0]!.content).toString("hex");
    const digest =
      oid === rsaPss
        ? pssDigests.find(([, name]) => Buffer.from(algorithm.content).includes(name, "hex"))?.[0]
        : digests[oid];
    if (!key || digest === undefined) return "x509: cannot verify signature: algorithm unimplemented";
    const publicKey = createPublicKey({
      key: Buffer.from(key.whole),
      format: "der",
      type: "spki",
    });
    const signed = verify(
      digest,
      info.whole,
      { key: publicKey, ...(oid === rsaPss && pss) },
      signature.content.subarray(1),
    );
    return signed ? undefined : "x509: verification error";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns why a PEM text is not a certificate chain, or undefined. */
export function chainProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return "must contain at least one CERTIFICATE PEM block";
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found "${type}"`;
    if (hasHeaders) return "no PEM block headers are permitted";
    try {
      new X509Certificate(bytes);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}
