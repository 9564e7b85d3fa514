// Conversion in the middle of work that cannot wait: when an object has to be converted by somebody else, the work
// stops, and starts over once the conversion is there. The work must have no effects of its own.
import { stringifyJson } from "#schema";
import type { ApiObject } from "./strategy.ts";

/** Converts an object to another version, somewhere else. */
export type ConvertBetween = (object: ApiObject, to: string) => Promise<ApiObject>;
/** The same for work that starts over. */
export type ConvertObject = (object: ApiObject, to: string) => ApiObject;

class Waiting extends Error {
  override readonly name = "Waiting";
  readonly conversion: { readonly object: ApiObject; readonly to: string; readonly key: string };
  constructor(conversion: Waiting["conversion"]) {
    super("an object is being converted");
    this.conversion = conversion;
  }
}

/** More than work on one object can need. */
const mostConversions = 100;

export async function withConversions<T>(
  between: ConvertBetween,
  run: (convert: ConvertObject) => T | Promise<T>,
): Promise<T> {
  const done = new Map<string, ApiObject>();
  const convert: ConvertObject = (object, to) => {
    const key = `${to} ${stringifyJson(object)}`;
    const made = done.get(key);
    if (!made) throw new Waiting({ object, to, key });
    return structuredClone(made);
  };
  while (done.size < mostConversions) {
    try {
      return await run(convert);
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
      const { object, to, key } = error.conversion;
      done.set(key, await between(object, to));
    }
  }
  throw new Error("a write needs too many conversions");
}
