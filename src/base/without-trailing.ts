// Removes a run of one character from the end of a text. A regular expression such as / +$/ starts at every
// character of a run that is not at the end, which takes quadratic time.

export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
