// V8 represents a string made by concatenation or slicing as references to its parts. JSON.stringify takes
// three times as long for an object that contains one such string, and a slice keeps the whole string it was
// cut from alive.

/** V8 copies strings shorter than this. */
const shortestReference = 13;

/** Returns the same string, stored contiguously. */
export function flatText(text: string): string {
  if (text.length < shortestReference) return text;
  const copy = Buffer.from(text, "latin1").toString("latin1");
  return copy === text ? copy : text;
}
