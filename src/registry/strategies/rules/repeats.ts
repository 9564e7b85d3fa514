// Which items of a list repeat an earlier one. A list may be as long as a request, so nobody compares each
// item with each other.

/** To be asked of one item after the other: was there one like it before? */
export function repeats<T>(identityOf: (item: T) => unknown = (item) => item): (item: T) => boolean {
  const seen = new Set<unknown>();
  return (item) => {
    const before = seen.size;
    return seen.add(identityOf(item)).size === before;
  };
}
