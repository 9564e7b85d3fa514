// What a certificate request (PKCS #10) asks to be: the organizations in its subject, which become groups.
import { pemBlocks } from "#base";
import { derItems, oidText } from "./der.ts";

const organization = "2.5.4.10";

/** Throws when the text is no request. */
export function requestedOrganizations(pem: string): string[] {
  const [block] = pemBlocks(pem);
  if (block?.type !== "CERTIFICATE REQUEST") throw new Error("PEM block type must be CERTIFICATE REQUEST");
  const [request] = derItems(block.bytes);
  const [info] = derItems(request?.content ?? new Uint8Array());
  const subject = derItems(info?.content ?? new Uint8Array())[1];
  return derItems(subject?.content ?? new Uint8Array())
    .flatMap(({ content }) => derItems(content))
    .map(({ content }) => derItems(content))
    .filter(([type]) => type !== undefined && oidText(type.content) === organization)
    .map(([, value]) => Buffer.from(value?.content ?? []).toString());
}
