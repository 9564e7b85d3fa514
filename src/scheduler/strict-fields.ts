// Strict parsing of configuration objects: unknown fields and values of the wrong type are reported with
// their path.

export type FieldReader<T> = (value: unknown, path: string, problems: string[]) => T;
type Readers = Readonly<Record<string, FieldReader<unknown>>>;
type ValuesOf<R extends Readers> = { readonly [K in keyof R]?: ReturnType<R[K]> };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads an object; null fields count as absent. */
export function readObject<R extends Readers>(readers: R): FieldReader<ValuesOf<R>> {
  return (value, path, problems) => {
    const found: Record<string, unknown> = {};
    if (!isObject(value)) {
      problems.push(`${path || "the configuration"}: must be an object`);
      return found as ValuesOf<R>;
    }
    for (const [name, given] of Object.entries(value)) {
      const at = path === "" ? name : `${path}.${name}`;
      if (!Object.hasOwn(readers, name)) problems.push(`unknown field "${at}"`);
      else if (given !== null) found[name] = readers[name]!(given, at, problems);
    }
    return found as ValuesOf<R>;
  };
}

export const readList =
  <T>(item: FieldReader<T>): FieldReader<readonly T[]> =>
  (value, path, problems) => {
    if (Array.isArray(value)) return value.map((each, index) => item(each, `${path}[${index}]`, problems));
    problems.push(`${path}: must be a list`);
    return [];
  };

const readType =
  <T>(type: string, word: string, fallback: T): FieldReader<T> =>
  (value, path, problems) => {
    if (typeof value === type) return value as T;
    problems.push(`${path}: must be ${word}`);
    return fallback;
  };
export const readText = readType("string", "a string", "");
export const readBoolean = readType("boolean", "true or false", false);

export const readInteger =
  (min: number, max: number): FieldReader<number> =>
  (value, path, problems) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    problems.push(`${path}: must be a whole number from ${min} to ${max}`);
    return min;
  };

export const readOneOf =
  <T extends string>(...allowed: readonly T[]): FieldReader<T> =>
  (value, path, problems) => {
    if (allowed.includes(value as T)) return value as T;
    problems.push(`${path}: must be one of ${allowed.join(", ")}`);
    return allowed[0]!;
  };

/** A field of the original without a counterpart here: only values without effect are accepted. */
export const readOnly =
  (accepted: readonly unknown[], reason: string): FieldReader<undefined> =>
  (value, path, problems) => {
    if (!accepted.includes(value) && !(Array.isArray(value) && value.length === 0))
      problems.push(`${path}: ${reason}`);
    return undefined;
  };
