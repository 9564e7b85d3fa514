// Byte strings in JSON: standard base64, padded. Line breaks inside are tolerated, stray bits at the end
// dropped.

const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
const tolerated = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The canonical text of base64 text. */
export function canonicalBase64(text: string): string {
  if (canonical.test(text)) return text;
  const bytes = decodedBase64(text);
  if (!bytes) throw new Error(`illegal base64 data at input byte ${firstWrong(withoutBreaks(text))}`);
  return bytes.toString("base64");
}

/** Undefined where the text is no base64. */
export function decodedBase64(text: string): Buffer | undefined {
  const joined = withoutBreaks(text);
  return tolerated.test(joined) ? Buffer.from(joined, "base64") : undefined;
}

const withoutBreaks = (text: string): string => text.replace(/[\r\n]/g, "");

const firstWrong = (text: string): number => {
  const at = text.search(/[^A-Za-z0-9+/]/);
  return at < 0 ? text.length - (text.length % 4) : at;
};
