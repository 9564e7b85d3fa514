// Formatting of figures, and statistics of measurements.

/** `12,345.6` */
export const figure = (value: number, digits = 0): string =>
  value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

/** Prints one figure with its name in aligned columns. */
export const row = (name: string, value: string, width = 56): void =>
  console.log(`${name.padEnd(width)} ${value.padStart(12)}`);

/** Returns the given quantile of the measurements. */
export function percentile(measured: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(measured).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export const median = (measured: Iterable<number>): number => percentile(measured, 0.5);
