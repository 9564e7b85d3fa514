// Conversion by a conversion webhook during one write. In code that needs a synchronous result, the function is
// aborted and restarted once the converted object is available. The function must have no side effects.
import { deepCopy } from "#base";
import { stringifyJson } from "#schema";
import type { ApiObject } from "./strategy.ts";

/** Converts an object to another version asynchronously, by a conversion webhook. */
export type ConvertBetween = (object: ApiObject, to: string) => Promise<ApiObject>;
/** Synchronous conversion as seen by a restartable function. */
export type ConvertObject = (object: ApiObject, to: string) => ApiObject;

class PendingConversion extends Error {
  override readonly name = "Waiting";
  readonly conversion: { readonly object: ApiObject; readonly to: string; readonly key: string };
  constructor(conversion: PendingConversion["conversion"]) {
    super("an object is being converted");
    this.conversion = conversion;
  }
}

/** Upper bound on conversions for one write; more than work on a single object can need. */
const maxConversions = 100;

export async function withConversions<T>(
  between: ConvertBetween,
  run: (convert: ConvertObject) => T | Promise<T>,
): Promise<T> {
  const done = new Map<string, ApiObject>();
  const convert: ConvertObject = (object, to) => {
    const key = keyOf(object, to);
    const made = done.get(key);
    if (!made) throw new PendingConversion({ object, to, key });
    return structuredClone(made);
  };
  while (done.size < maxConversions) {
    try {
      return await run(convert);
    } catch (error) {
      if (!(error instanceof PendingConversion)) throw error;
      const { object, to, key } = error.conversion;
      done.set(key, await between(object, to));
    }
  }
  throw new Error("a write needs too many conversions");
}

/** The objects of one write in other versions: each is converted to a version once. */
export class ConvertedObjects {
  readonly #between: ConvertBetween;
  readonly #made = new Map<string, Promise<ApiObject> | ApiObject>();

  constructor(between: ConvertBetween) {
    this.#between = between;
  }

  /** Returns a copy of the object in another version. */
  async get(object: ApiObject, to: string): Promise<ApiObject> {
    const made = this.#made.getOrInsertComputed(keyOf(object, to), () => this.#between(object, to));
    return deepCopy(await made);
  }

  /** Converts an object from another version; converting it back returns the given one. */
  async from(object: ApiObject, to: string, read: (converted: ApiObject) => ApiObject): Promise<ApiObject> {
    const { apiVersion } = object;
    const converted = read(await this.get(object, to));
    this.#made.set(keyOf(converted, apiVersion), object);
    return converted;
  }
}

const keyOf = (object: ApiObject, to: string): string => `${to} ${stringifyJson(object)}`;
