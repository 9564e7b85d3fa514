// Feature gates: `Name=true,Other=false`, with stages, locked gates, and two gates that set a whole stage.

import { firstRelease } from "#base";
import type { Dialect } from "#dialect";
import { hint } from "./nearest.ts";
import type { Gate } from "./option.ts";
import { type OptionType, kindOf } from "./option-type.ts";
import { splitCommas } from "./list-type.ts";
import { Refusal, Unparsable } from "./refusal.ts";

export type GivenGates = Readonly<Record<string, boolean>>;
export interface Gates {
  enabled(name: string): boolean;
  /** Every gate and whether it is enabled. */
  all(): ReadonlyMap<string, boolean>;
}

/** The gates that set every gate of a stage that was not set explicitly. */
export const stageGates: readonly Gate[] = [
  { name: "AllAlpha", stage: "ALPHA", default: false },
  { name: "AllBeta", stage: "BETA", default: false },
];

/** Returns the gates with the stages and defaults that they have in a minor release. */
export const gatesIn = (known: readonly Gate[], release: number): readonly Gate[] =>
  known.map((gate) => {
    const change = gate.later?.findLast(({ since }) => since <= release);
    return change ? { ...gate, stage: change.stage, default: change.default } : gate;
  });

/** Resolves the gates of a minor release. */
export function resolveGates(known: readonly Gate[], given: GivenGates, release = firstRelease): Gates {
  const all = new Map<string, boolean>();
  for (const gate of gatesIn(known, release)) {
    const stage =
      gate.stage === "ALPHA" ? given["AllAlpha"] : gate.stage === "BETA" ? given["AllBeta"] : undefined;
    const isStageGate = stageGates.some(({ name }) => name === gate.name);
    if (gate.refused !== undefined) all.set(gate.name, false);
    else all.set(gate.name, given[gate.name] ?? (isStageGate ? gate.default : (stage ?? gate.default)));
  }
  return { enabled: (name) => all.get(name) ?? false, all: () => all };
}

/** Parses gates in canonical or dialect spelling; the value uses the canonical spelling. */
export function featureGates(known: readonly Gate[], dialect: Dialect): OptionType<GivenGates> {
  const bySpelling = new Map<string, Gate>();
  for (const gate of known) bySpelling.set(gate.name, gate).set(dialect.spelling.word(gate.name), gate);

  const collect = (
    pairs: readonly (readonly [name: string, value: unknown, on: boolean | undefined])[],
  ): GivenGates => {
    const wrong: string[] = [];
    const gates: Record<string, boolean> = {};
    for (const [name, value, on] of pairs) {
      const gate = bySpelling.get(name);
      if (!gate) wrong.push(`unrecognized feature gate: ${name}${hint(name, bySpelling.keys())}`);
      else if (on === undefined) wrong.push(`${name} must be true or false, not ${kindOf(value)}`);
      else if (gate.locked && on !== gate.default)
        wrong.push(`cannot set feature gate ${name} to ${on}, feature is locked to ${gate.default}`);
      else if (gate.refused !== undefined && on) wrong.push(`${name} is refused: ${gate.refused}`);
      else gates[gate.name] = on;
    }
    if (wrong.length > 0) throw new Unparsable(wrong.join("; "));
    return gates;
  };
  const parse = (given: string): GivenGates =>
    collect(
      splitCommas(given)
        .filter((part) => part.trim() !== "")
        .map((part) => {
          const cut = part.indexOf("=");
          if (cut < 0) throw new Unparsable(`missing bool value for ${part.trim()}`);
          const [name, value] = [part.slice(0, cut).trim(), part.slice(cut + 1).trim()];
          const on = parseBool(value);
          if (on === undefined)
            throw new Unparsable(
              `invalid value of ${name}=${value}, err: ${Unparsable.of("ParseBool", value, "invalid syntax").message}`,
            );
          return [name, value, on];
        }),
    );
  return {
    name: "mapStringBool",
    parse,
    append: (before, given) => ({ ...before, ...parse(given) }),
    read: (value) => {
      if (value === null) return {};
      if (typeof value !== "object" || Array.isArray(value))
        throw new Refusal(`must be a mapping of gate names to true or false, not ${kindOf(value)}`);
      return collect(
        Object.entries(value).map(([name, on]) => [name, on, typeof on === "boolean" ? on : undefined]),
      );
    },
    write: (gates) =>
      Object.fromEntries(Object.entries(gates).map(([name, on]) => [dialect.spelling.word(name), on])),
    format: (gates) =>
      Object.entries(gates)
        .map(([name, on]) => `${dialect.spelling.word(name)}=${on}`)
        .join(","),
    merge: (below, above) => ({ ...below, ...above }),
  };
}

/** Case-insensitive, as canonical and dialect spelling differ in case; also 1, 0, t and f. */
function parseBool(value: string): boolean | undefined {
  const word = value.toLowerCase();
  return ["true", "t", "1"].includes(word) ? true : ["false", "f", "0"].includes(word) ? false : undefined;
}
