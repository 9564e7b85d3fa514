// Comparisons of numbers of different types, which later releases allow without dyn().

import { type FunctionDeclaration, type Library, declare, overload } from "../declarations.ts";
import { compare } from "../operations.ts";
import { types } from "../types.ts";

const numbers = { int64: types.int, uint64: types.uint, double: types.double };
const pairs = Object.entries(numbers).flatMap(([left, leftType]) =>
  Object.entries(numbers)
    .filter(([right]) => right !== left)
    .map(([right, rightType]) => ({ id: `${left}_${right}`, params: [leftType, rightType] })),
);

const relation = (name: string, word: string, holds: (order: number) => boolean): FunctionDeclaration =>
  declare(
    name,
    ...pairs.map(({ id, params }) => ({
      ...overload(`${word}_${id}`, params, types.bool, (left, right) => holds(compare(left, right))),
      checksTypes: true,
    })),
  );

export const mixedComparisons: Library = [
  relation("_<_", "less", (order) => order < 0),
  relation("_<=_", "less_equals", (order) => order <= 0),
  relation("_>_", "greater", (order) => order > 0),
  relation("_>=_", "greater_equals", (order) => order >= 0),
];
