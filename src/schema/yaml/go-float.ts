// Numbers as kube-apiserver prints them in YAML: 64-bit integers in full, others with the shortest digits
// that identify the value and, from a million on, an exponent of at least two digits.

export function goFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) return BigInt(value).toString();
  const [digits, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value); // JS uses an exponent only below 1e-6
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
