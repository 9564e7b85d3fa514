// Events are written as lines, but bodies are not: clients indent patches, and ask for indented responses.

/** Returns a JSON text without line breaks. Numbers and strings are kept as they are. */
export function oneLine(json: string): string {
  if (!json.includes("\n") && !json.includes("\r")) return json;
  let text = "";
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    text += json.slice(at, end).replace(/[ \t\n\r]+/g, "");
    at = stringEnd(json, end);
    text += json.slice(end, at);
  }
  return text;
}

/** Returns the position after the string that starts at `start`. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
