// A port or an amount that is a number or a name, and amounts that may be percentages.

export type IntOrString = number | string;

export const isPercent = (value: IntOrString): value is string => typeof value === "string" && /^[0-9]+%$/.test(value);

/** The number, or what a percentage makes of `total`. Undefined when the text is neither. */
export function scaledIntOrPercent(value: IntOrString, total: number, round: "up" | "down"): number | undefined {
  if (typeof value === "number") return value;
  if (!/^[-+]?[0-9]+%$/.test(value)) return undefined;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return round === "up" ? Math.ceil(share) : Math.floor(share);
}

/** A number when the text is one, else the text. */
export function parseIntOrString(text: string): IntOrString {
  const number = Number(text);
  return /^[-+]?[0-9]+$/.test(text) && number >= -2147483648 && number <= 2147483647 ? number : text;
}
