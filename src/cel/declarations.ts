// Declarations of an environment: functions with their overloads, and names of types.

import type { CelType } from "./types.ts";
import type { Value } from "./values.ts";

export type Implementation = (...args: Value[]) => Value;

export interface Overload {
  readonly id: string;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Whether it is called as a method of its first argument. */
  readonly member: boolean;
  readonly apply: Implementation;
  /**
   * Whether the implementation checks dynamic arguments itself, because their types may match another
   * overload at run time.
   */
  readonly checksTypes?: boolean;
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

/** Returns the functions of several libraries by name; overloads with the same name are combined. */
export function functionsOf(libraries: readonly Library[]): ReadonlyMap<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>();
  for (const declaration of libraries.flat()) {
    const known = functions.get(declaration.name);
    const overloads = [...(known?.overloads ?? []), ...declaration.overloads];
    functions.set(declaration.name, { name: declaration.name, overloads });
  }
  return functions;
}
