import assert from "node:assert/strict";
import { X509Certificate, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { parseCertificateRequest } from "./certificate-request.ts";
import { bits, certificateExtensions, integer, octets, oid, sequence, set, tagged, utf8 } from "./der.ts";
import { createAuthority, signRequest } from "./issue.ts";

const now = Date.now();
const authority = createAuthority({ commonName: "authority" }, { now, days: 1 });
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const attribute = (id: string, value: string): Uint8Array => set(sequence(oid(id), utf8(value)));
const dns = tagged(2, Buffer.from("a.example"), false);
const uri = tagged(6, Buffer.from("spiffe://a"), false);
const address = tagged(7, Uint8Array.of(10, 0, 0, 1), false);
const other = tagged(0, sequence(oid("1.3.6.1.4.1.311.20.2.3"), tagged(0, utf8("root"), true)), true);

function certificateFor(subject: readonly Uint8Array[], names: readonly Uint8Array[]): X509Certificate {
  const alternatives = sequence(oid("2.5.29.17"), octets(sequence(...names)));
  const body = sequence(
    integer(Uint8Array.of(0)),
    sequence(...subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0, sequence(oid("1.2.840.113549.1.9.14"), set(sequence(alternatives))), true),
  );
  const signature = bits(sign("sha256", body, privateKey));
  const raw = sequence(body, sequence(oid("1.2.840.10045.4.3.2")), signature);
  const text = Buffer.from(raw).toString("base64");
  const request = parseCertificateRequest(
    `-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----\n`,
  );
  assert.ok(request.isSigned);
  const usages = ["client auth", "digital signature"];
  return new X509Certificate(
    signRequest(authority, request, { usages, notBefore: now, notAfter: now + 1e6 }),
  );
}
const extensionsOf = (certificate: X509Certificate): string[] =>
  certificateExtensions(certificate.raw).map((each) => each.oid + (each.critical ? " critical" : ""));

test("the known attributes of a request's subject are copied in their usual order", () => {
  const subject = [
    attribute("2.5.4.3", "first"),
    attribute("2.5.4.10", "b"),
    attribute("1.2.840.113549.1.9.1", "a@b.example"),
    attribute("2.5.4.10", "a"),
    attribute("2.5.4.6", "DE"),
    attribute("2.5.4.3", "last"),
  ];
  assert.equal(certificateFor(subject, [dns]).subject, "C=DE\nO=a + O=b\nCN=last");
});

test("a subject in UTF-16 is read as text, without a terminator", () => {
  const utf16 = (text: string): Uint8Array => {
    const bytes = Buffer.from(text, "utf16le").swap16();
    return Buffer.concat([Uint8Array.of(0x1e, bytes.length), bytes]);
  };
  const subject = ["system:masters", "dev\0"].map((name) => set(sequence(oid("2.5.4.10"), utf16(name))));
  assert.equal(certificateFor(subject, [dns]).subject, "O=dev + O=system:masters");
});

test("only the alternative names that signers honor are copied", () => {
  const certificate = certificateFor([attribute("2.5.4.3", "a")], [other, uri, address, dns]);
  assert.equal(certificate.subjectAltName, "DNS:a.example, IP Address:10.0.0.1, URI:spiffe://a");
  const usage = ["2.5.29.15 critical", "2.5.29.37", "2.5.29.19 critical"];
  assert.deepEqual(extensionsOf(certificate), [...usage, "2.5.29.35", "2.5.29.17"]);
});

test("alternative names are critical without a subject, and absent if none is honored", () => {
  assert.ok(extensionsOf(certificateFor([], [dns])).includes("2.5.29.17 critical"));
  const certificate = certificateFor([attribute("2.5.4.3", "a")], [other]);
  assert.equal(certificate.subjectAltName, undefined);
});
