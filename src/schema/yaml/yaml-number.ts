// Numbers as kube-apiserver prints them in YAML: 64-bit integers in full, others with the shortest digits
// that identify the value and, from a million on, an exponent of at least two digits.
import { goFloat } from "#base";

export const yamlNumber = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? BigInt(value).toString() : goFloat(value);
