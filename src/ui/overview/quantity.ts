// Parses quantities of nodes and their usage: `1930m`, `15Gi`, `250000000n`.

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Parses a quantity; returns NaN if it is invalid. */
export function quantity(text: string | undefined): number {
  const found = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text ?? "");
  return found ? Number(found[1]) * (factors[found[2]!] ?? Number.NaN) : Number.NaN;
}

/** Formats a number of CPU cores, such as `3.2`. */
export const coresText = (cores: number): string => `${cores < 10 ? cores.toFixed(1) : Math.round(cores)}`;
export const bytesText = (bytes: number): string =>
  bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
