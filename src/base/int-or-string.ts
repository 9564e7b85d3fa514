// A port that is a number or a name; an amount that is a number or a percentage.

export type IntOrString = number | string;

export const isPercent = (value: IntOrString): value is string =>
  typeof value === "string" && /^[0-9]+%$/.test(value);
