// Detects items of a list that repeat an earlier one. Lists can be as long as a request, so items are not
// compared pairwise.

/** Returns a function that is called for each item in order and reports whether an equal one preceded it. */
export function repeats<T>(identityOf: (item: T) => unknown = (item) => item): (item: T) => boolean {
  const seen = new Set<unknown>();
  return (item) => {
    const before = seen.size;
    return seen.add(identityOf(item)).size === before;
  };
}
