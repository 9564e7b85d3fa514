// Formats the result of a patch for errors. The keys of values that the patch modified are sorted, other
// values are unchanged from the object.
import { stringifyJson } from "#schema";

export function patchedText(tree: unknown, served: object): string {
  const untouched = new Set<object>();
  gather(served, untouched);
  // The object as a whole counts as modified.
  untouched.delete(served);
  return stringifyJson(inOrder(tree, untouched));
}

function gather(value: unknown, into: Set<object>): void {
  if (typeof value !== "object" || value === null) return;
  into.add(value);
  for (const inner of Object.values(value)) gather(inner, into);
}

function inOrder(value: unknown, untouched: ReadonlySet<object>): unknown {
  if (typeof value !== "object" || value === null || untouched.has(value)) return value;
  if (Array.isArray(value)) return value.map((item) => inOrder(item, untouched));
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, inOrder(inner, untouched)]),
  );
}
