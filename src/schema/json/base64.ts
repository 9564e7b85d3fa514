// Byte strings in JSON: standard base64 with padding. Line breaks are tolerated and stray trailing bits are
// dropped.

const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
const tolerated = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns the canonical form of base64 text. */
export function canonicalBase64(text: string): string {
  if (canonical.test(text)) return text;
  const bytes = decodedBase64(text);
  if (!bytes) throw new Error(`illegal base64 data at input byte ${firstWrong(withoutBreaks(text))}`);
  return bytes.toString("base64");
}

/** Decodes base64 text; returns undefined if it is invalid. */
export function decodedBase64(text: string): Buffer | undefined {
  const joined = withoutBreaks(text);
  return tolerated.test(joined) ? Buffer.from(joined, "base64") : undefined;
}

const withoutBreaks = (text: string): string => text.replace(/[\r\n]/g, "");

const firstWrong = (text: string): number => {
  const at = text.search(/[^A-Za-z0-9+/]/);
  return at < 0 ? text.length - (text.length % 4) : at;
};
