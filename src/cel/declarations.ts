// What an environment offers: functions with their overloads, and names that stand for types.

import type { CelType } from "./types.ts";
import type { Value } from "./values.ts";

export type Implementation = (...args: Value[]) => Value;

export interface Overload {
  readonly id: string;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Called as a method of its first argument. */
  readonly member: boolean;
  readonly apply: Implementation;
  /** Judges values of unknown type itself: what they turn out to be may fit another overload. */
  readonly judgesTypes?: boolean;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export type Library = readonly FunctionDeclaration[];

export const overload = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  apply: Implementation,
): Overload => ({ id, params, result, member: false, apply });

export const method = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  apply: Implementation,
): Overload => ({ id, params, result, member: true, apply });

export const declare = (name: string, ...overloads: Overload[]): FunctionDeclaration => ({ name, overloads });

/** The functions of several libraries by name; overloads of one name add up. */
export function functionsOf(libraries: readonly Library[]): ReadonlyMap<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>();
  for (const declaration of libraries.flat()) {
    const known = functions.get(declaration.name);
    const overloads = [...(known?.overloads ?? []), ...declaration.overloads];
    functions.set(declaration.name, { name: declaration.name, overloads });
  }
  return functions;
}
