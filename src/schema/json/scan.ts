// What JSON.parse does not tell: how many keys a text has (fewer arrive when some stand twice), and whether
// it holds anything that parsing blurs: long or fractional numbers, halves of surrogate pairs.

/** From this many digits on, a double may lose some. */
const longDigits = 16;

/**
 * Counts the keys of a text that parsing does not blur; undefined if it does or might. Numbers in lists are
 * not looked at.
 */
export function countKeys(text: string): number | undefined {
  // In most texts every key is a quote followed by a colon, and no such pair stands in a string: then colons
  // can be hopped along.
  if (oddities.some((oddity) => text.includes(oddity))) return scan(text);
  let keys = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    if (text.charCodeAt(at - 1) !== 34) continue;
    keys++;
    let next = at + 1;
    while (text.charCodeAt(next) === 32) next++;
    const code = text.charCodeAt(next);
    if ((code === 45 || (code >= 48 && code <= 57)) && isBlurred(text, next)) return undefined;
  }
  return keys;
}

/** Spaces before colons, quoted quotes before colons, escaped surrogates. */
const oddities = [" :", "\n:", "\t:", "\r:", '\\":', "\\ud", "\\uD"];

/** Whether the number that begins here is long, has a fraction or an exponent. */
function isBlurred(text: string, start: number): boolean {
  let at = text.charCodeAt(start) === 45 ? start + 1 : start;
  const first = at;
  let code = text.charCodeAt(at);
  while (code >= 48 && code <= 57) code = text.charCodeAt(++at);
  return at - first >= longDigits || code === 46 || code === 101 || code === 69;
}

/** The same, for any text and for all its numbers, by going through it. */
export function scan(text: string): number | undefined {
  const length = text.length;
  let keys = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      // Strings are most of the text. A quote after an even number of backslashes ends one.
      for (i++; i < length; i++) {
        const inner = text.charCodeAt(i);
        if (inner === 34) break;
        if (inner === 92 && text.charCodeAt(++i) === 117 && (text.charCodeAt(i + 1) | 32) === 100)
          return undefined;
      }
    } else if (code === 58) keys++;
    else if (code >= 48 && code <= 57) {
      if (isBlurred(text, i)) return undefined;
      while (text.charCodeAt(i + 1) >= 48 && text.charCodeAt(i + 1) <= 57) i++;
    }
  }
  return keys;
}
