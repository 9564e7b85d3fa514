/** Returns the bounds of histogram buckets, each a multiple of the one before. */
export function exponentialBuckets(first: number, factor: number, count: number): number[] {
  const bounds = [first];
  while (bounds.length < count) bounds.push(bounds.at(-1)! * factor);
  return bounds;
}
