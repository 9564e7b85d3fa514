// Arithmetic on amounts of resources by name.
import {
  type Quantity,
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityOf,
  subtractQuantity,
} from "#base";

export type Amounts = ReadonlyMap<string, Quantity>;

export const amountsOf = (given: Readonly<Record<string, string>> | undefined): Amounts =>
  new Map(Object.entries(given ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
export const written = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));

const zero = quantityOf(0);
export const isZero = (amount: Quantity): boolean => compareQuantity(amount, zero) === 0;
export const isNegative = (amount: Quantity): boolean => compareQuantity(amount, zero) < 0;

export function sumOf(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, sum.has(name) ? addQuantity(sum.get(name)!, amount) : amount);
  return sum;
}

export function largerOf(a: Amounts, b: Amounts): Amounts {
  const larger = new Map(a);
  for (const [name, amount] of b)
    if (!larger.has(name) || compareQuantity(amount, larger.get(name)!) > 0) larger.set(name, amount);
  return larger;
}

/** Returns a minus b for each resource; negative where b is larger. */
export const changeOf = (a: Amounts, b: Amounts): Amounts =>
  new Map(
    [...new Set([...a.keys(), ...b.keys()])].map((name) => [
      name,
      subtractQuantity(a.get(name) ?? zero, b.get(name) ?? zero),
    ]),
  );

/** Returns by how much a exceeds b for each resource, zero where it does not. */
export const excessOf = (a: Amounts, b: Amounts): Amounts =>
  new Map(
    [...a].map(([name, amount]) => {
      const rest = b.has(name) ? subtractQuantity(amount, b.get(name)!) : amount;
      return [name, isNegative(rest) ? zero : rest];
    }),
  );

export const only = (amounts: Amounts, wanted: (name: string) => boolean): Amounts =>
  new Map([...amounts].filter(([name]) => wanted(name)));

export const shown = (amounts: Amounts): string =>
  [...amounts]
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .toSorted()
    .join(",");

/** All operations as one object, for callers that use many of them. */
export const quotaMath = {
  amountsOf,
  changeOf,
  excessOf,
  isNegative,
  isZero,
  largerOf,
  only,
  shown,
  sumOf,
  written,
} as const;
