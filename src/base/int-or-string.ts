// A port given as number or name, or an amount given as number or percentage.

export type IntOrString = number | string;

export const isPercent = (value: IntOrString): value is string =>
  typeof value === "string" && /^[0-9]+%$/.test(value);
