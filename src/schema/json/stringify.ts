// JSON text of plain data that may hold bigints.

const raw = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
const exact = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? raw(value.toString()) : value;

export function stringifyJson(value: unknown, indent?: number): string {
  try {
    // V8's fast way is open only to calls without any indentation, not even one of zero: a third of the time.
    return JSON.stringify(value, undefined, indent);
  } catch {
    return JSON.stringify(value, exact, indent); // a bigint: rare, and the only thing plain data fails on
  }
}
