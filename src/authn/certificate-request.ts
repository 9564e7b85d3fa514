// What a certificate request (PKCS #10) asks to be: the organizations in its subject, which become groups.
import { derItems, oidText } from "./der.ts";

const organization = "2.5.4.10";
const block = /-----BEGIN CERTIFICATE REQUEST-----\r?\n([\s\S]*?)-----END CERTIFICATE REQUEST-----/;

/** Throws when the text is no request. */
export function requestedOrganizations(pem: string): string[] {
  const body = block.exec(pem)?.[1];
  if (body === undefined) throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request] = derItems(Buffer.from(body, "base64"));
  const [info] = derItems(request?.content ?? new Uint8Array());
  const subject = derItems(info?.content ?? new Uint8Array())[1];
  return derItems(subject?.content ?? new Uint8Array())
    .flatMap(({ content }) => derItems(content))
    .map(({ content }) => derItems(content))
    .filter(([type]) => type !== undefined && oidText(type.content) === organization)
    .map(([, value]) => Buffer.from(value?.content ?? []).toString());
}
