// Finds what JSON.parse discards: the number of keys in a text (a parsed object has fewer if some are
// duplicates), and whether parsing may lose detail: long or fractional numbers, unpaired surrogates.

/** From this many digits on, a double may lose precision. */
const longDigits = 16;

/**
 * Counts the keys of a text; returns undefined if parsing loses or might lose detail. Numbers in lists are
 * not checked.
 */
export function countKeys(text: string): number | undefined {
  // In most texts every key is a quote followed by a colon, and no string contains that pair. The colons can
  // then be found with indexOf.
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

/** Spaces before colons, escaped quotes before colons, escaped surrogates. */
const oddities = [" :", "\n:", "\t:", "\r:", '\\":', "\\ud", "\\uD"];

/** Reports whether the number at `start` is long or has a fraction or an exponent. */
function isBlurred(text: string, start: number): boolean {
  let at = text.charCodeAt(start) === 45 ? start + 1 : start;
  const first = at;
  let code = text.charCodeAt(at);
  while (code >= 48 && code <= 57) code = text.charCodeAt(++at);
  return at - first >= longDigits || code === 46 || code === 101 || code === 69;
}

/** Like countKeys, but scans the whole text and also checks numbers in lists. */
export function scan(text: string): number | undefined {
  const length = text.length;
  let keys = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) {
      // Strings make up most of the text. A quote after an even number of backslashes ends one.
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
