// Test authorities that share names and keys and sign each other in every direction, as an attacker would
// present them to make path building expensive.
import { type KeyObject, X509Certificate, generateKeyPairSync, sign } from "node:crypto";
import { bits, bool, integer, octets, oid, sequence, set, tagged, time, utf8 } from "./der.ts";

export interface Entity {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const entity = (name: string): Entity => ({
  name,
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
});

const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
const nameOf = (text: string): Uint8Array => sequence(set(sequence(oid("2.5.4.3"), utf8(text))));
const authorityExtension = sequence(sequence(oid("2.5.29.19"), bool(true), octets(sequence(bool(true)))));
let serial = 0;

/**
 * An authority's certificate without key identifiers: only the signature identifies the key that signed it.
 */
export function crossSigned(subject: Entity, issuer: Entity, now: number): X509Certificate {
  const day = 86_400_000;
  const body = sequence(
    tagged(0, integer(Uint8Array.of(2)), true),
    integer(Uint8Array.of(1, ++serial)),
    algorithm,
    nameOf(issuer.name),
    sequence(time(new Date(now - day)), time(new Date(now + day))),
    nameOf(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    tagged(3, authorityExtension, true),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  return new X509Certificate(Buffer.from(sequence(body, algorithm, bits(signature))));
}
