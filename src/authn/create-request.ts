// Creates certificate signing requests (PKCS #10) for P-256 keys.
import { type KeyObject, createPublicKey, sign } from "node:crypto";
import { bits, integer, oid, sequence, set, tagged } from "./der.ts";
import { type ServingNames, type Subject, alternativeNames, nameOf } from "./issue.ts";

const extensionRequest = oid("1.2.840.113549.1.9.14");
const ecdsaSha256 = oid("1.2.840.10045.4.3.2");

/** Returns the request as PEM text; host names and addresses are requested as subject alternative names. */
export function createCertificateRequest(subject: Subject, names: ServingNames, key: KeyObject): string {
  const extensions = alternativeNames(names);
  const attributes =
    extensions.length > 0 ? sequence(extensionRequest, set(sequence(...extensions))) : new Uint8Array();
  const body = sequence(
    integer(Uint8Array.of(0)),
    nameOf(subject),
    createPublicKey(key).export({ type: "spki", format: "der" }),
    tagged(0, attributes, true),
  );
  const raw = sequence(body, sequence(ecdsaSha256), bits(sign("sha256", body, key)));
  const lines =
    Buffer.from(raw)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}
