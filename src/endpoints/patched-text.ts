// What a patch made of an object, as a refusal shows it. Values that the patch touched have their keys in order, those
// that it left are as they were in the object.
import { stringifyJson } from "#schema";

export function patchedText(tree: unknown, served: object): string {
  const untouched = new Set<object>();
  gather(served, untouched);
  // The object as a whole counts as touched.
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
