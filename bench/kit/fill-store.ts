// Fills the embedded store of a stopped server with copies of an object that it stored itself.
import { openStore } from "#store";
import { inFlight } from "./in-flight.ts";

/** A word of the template, and the word of the same length that replaces it in a copy. */
export interface Replacement {
  readonly word: string;
  readonly with: (copy: number) => string;
}

export interface Copies {
  readonly dir: string;
  /** The template's key in the store. */
  readonly key: string;
  readonly count: number;
  readonly replacements: readonly Replacement[];
  readonly ttlSeconds?: (copy: number) => number;
}

const writesInFlight = 512;

/** Writes the copies, numbered from 1, and closes the store. */
export async function fillStore({ dir, key, count, replacements, ttlSeconds }: Copies): Promise<void> {
  const store = await openStore({ dir });
  const [template] = (await store.read({ key })).entries;
  if (!template) throw new Error(`${key} is not in the store`);
  const bytes = Buffer.from(template.value);
  const places = replacements.map((each) => ({ ...each, at: placesOf(bytes, each.word) }));
  await inFlight(writesInFlight, count, async (before) => {
    const copy = before + 1;
    const value = Buffer.from(bytes);
    let name = key;
    for (const { at, word, with: wordOf } of places) {
      const given = wordOf(copy);
      if (given.length !== word.length) throw new Error(`"${given}" is not as long as "${word}"`);
      for (const place of at) value.write(given, place, "latin1");
      name = name.replace(word, given);
    }
    const ttl = ttlSeconds && { ttlSeconds: ttlSeconds(copy) };
    await store.write({ key: name, value, expect: "absent", ...ttl });
  });
  await store.close();
}

function placesOf(bytes: Buffer, word: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) found.push(at);
  return found;
}
