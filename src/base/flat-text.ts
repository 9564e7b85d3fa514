// V8 keeps a text that was put together or cut out as a reference to its pieces. JSON.stringify takes three times
// as long for an object that holds one such text, and what was cut out keeps all of the text it was cut from.

/** V8 copies shorter ones. */
const shortestReference = 13;

/** The same text in one piece of memory. */
export function flatText(text: string): string {
  if (text.length < shortestReference) return text;
  const copy = Buffer.from(text, "latin1").toString("latin1");
  return copy === text ? copy : text;
}
