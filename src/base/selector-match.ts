// Selector requirements compiled for matching: the cost per object is bounded by the size of the object, not
// by the number of requirements or their values.

export interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "!" | "gt" | "lt";
  readonly values: readonly string[];
}

/** The combination of all requirements on one key. */
interface KeyRule {
  /** Whether the key must exist, and with which values (undefined for any). */
  present: boolean;
  allowed: ReadonlySet<string> | undefined;
  forbidden: Set<string> | undefined;
  absent: boolean;
  above: bigint | undefined;
  below: bigint | undefined;
}

/** From this number of keys on, iterating over the object's labels first is cheaper. */
const manyKeys = 16;

/** The rules by key, and matching of an item's values against them. */
export class CompiledRequirements {
  readonly #rules: readonly (readonly [key: string, rule: KeyRule])[];
  readonly #byKey: ReadonlyMap<string, KeyRule>;
  /** Keys that must exist. */
  readonly #presentKeys: readonly string[];

  constructor(requirements: readonly Requirement[]) {
    const byKey = new Map<string, KeyRule>();
    for (const requirement of requirements) {
      const rule = byKey.get(requirement.key) ?? noRule();
      byKey.set(requirement.key, rule);
      addTo(rule, requirement);
    }
    this.#byKey = byKey;
    this.#rules = [...byKey];
    this.#presentKeys = this.#rules.flatMap(([key, { present }]) => (present ? [key] : []));
  }

  /** Matches values read by a function, which returns undefined for missing keys. */
  matches(valueOf: (key: string) => string | undefined): boolean {
    for (const [key, rule] of this.#rules) if (!obeys(valueOf(key), rule)) return false;
    return true;
  }

  /** Matches the own properties of an object. */
  matchesMap(values: Readonly<Record<string, string>>): boolean {
    if (this.#rules.length < manyKeys)
      return this.matches((key) => (Object.hasOwn(values, key) ? values[key] : undefined));
    const keys = Object.keys(values);
    if (this.#presentKeys.length > keys.length) return false;
    for (const key of this.#presentKeys) if (!Object.hasOwn(values, key)) return false;
    for (const key of keys) {
      const rule = this.#byKey.get(key);
      if (rule && !obeys(values[key], rule)) return false;
    }
    return true;
  }
}

const noRule = (): KeyRule => ({
  present: false,
  allowed: undefined,
  forbidden: undefined,
  absent: false,
  above: undefined,
  below: undefined,
});

function addTo(rule: KeyRule, { operator, values }: Requirement): void {
  switch (operator) {
    case "in": {
      const { allowed } = rule;
      rule.present = true;
      rule.allowed = new Set(allowed ? values.filter((value) => allowed.has(value)) : values);
      break;
    }
    case "notin":
      rule.forbidden ??= new Set();
      for (const value of values) rule.forbidden.add(value);
      break;
    case "exists":
      rule.present = true;
      break;
    case "!":
      rule.absent = true;
      break;
    case "gt":
    case "lt": {
      const bound = BigInt(values[0]!);
      rule.present = true;
      if (operator === "gt") rule.above = rule.above === undefined || bound > rule.above ? bound : rule.above;
      else rule.below = rule.below === undefined || bound < rule.below ? bound : rule.below;
    }
  }
}

function obeys(value: string | undefined, rule: KeyRule): boolean {
  if (value === undefined) return !rule.present;
  if (rule.absent || rule.forbidden?.has(value)) return false;
  if (rule.allowed && !rule.allowed.has(value)) return false;
  if (rule.above === undefined && rule.below === undefined) return true;
  if (!isInteger64(value)) return false;
  const number = BigInt(value);
  return (
    (rule.above === undefined || number > rule.above) && (rule.below === undefined || number < rule.below)
  );
}

/** Reports whether a string is a 64-bit integer; other values do not match gt and lt. */
export function isInteger64(text: string): boolean {
  return /^[+-]?\d{1,63}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
