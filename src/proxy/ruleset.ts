// An nftables table as plain data, and transactions that replace it or change it incrementally. Map elements
// and chains change individually, so that a transaction is as small as the change.

export interface NamedSet {
  /** Keyword of the declaration. */
  readonly kind: "set" | "map";
  readonly body: string;
  /** Keys, with their values in maps. */
  readonly elements: ReadonlyMap<string, string>;
}

export interface Chain {
  /** Type, hook and priority of a base chain. */
  readonly hook?: string;
  readonly rules: readonly string[];
}

export interface Ruleset {
  readonly family: "ip" | "ip6";
  readonly table: string;
  readonly sets: ReadonlyMap<string, NamedSet>;
  readonly chains: ReadonlyMap<string, Chain>;
}

/** Maximum elements per command: the parser slows down on much longer lines. */
const elementsPerCommand = 500;

/** Returns a transaction that replaces the table, whatever it contains. */
export function replaceTable(ruleset: Ruleset): string {
  const { family, table } = ruleset;
  const empty: Ruleset = { ...ruleset, sets: new Map(), chains: new Map() };
  return `add table ${family} ${table}\ndelete table ${family} ${table}\nadd table ${family} ${table}\n${changeTable(empty, ruleset)}`;
}

/** Returns the transaction between two states; empty if they are equal. */
export function changeTable(before: Ruleset, after: Ruleset): string {
  const { family, table } = after;
  const lines: string[] = [];
  const addCommand = (verb: string, rest: string): void =>
    void lines.push(`${verb} ${family} ${table} ${rest}`);
  for (const [name, { kind, body }] of after.sets)
    if (!before.sets.has(name)) lines.push(`add ${kind} ${family} ${table} ${name} { ${body} }`);
  for (const [name, { hook }] of after.chains)
    if (!before.chains.has(name)) addCommand("add chain", hook === undefined ? name : `${name} { ${hook}; }`);
  // References to a chain must be removed before the chain.
  for (const [name, set] of before.sets) {
    const now = after.sets.get(name)?.elements;
    const removedKeys = [...set.elements]
      .filter(([key, value]) => now?.get(key) !== value)
      .map(([key]) => key);
    for (const part of batches(removedKeys)) addCommand("delete element", `${name} { ${part.join(", ")} }`);
  }
  const changed = [...after.chains].filter(([name, chain]) => !sameRules(before.chains.get(name), chain));
  for (const [name] of changed) if (before.chains.has(name)) addCommand("flush chain", name);
  const removed = [...before.chains.keys()].filter((name) => !after.chains.has(name));
  for (const name of removed) addCommand("flush chain", name);
  for (const [name, { rules }] of changed)
    for (const rule of rules) addCommand("add rule", `${name} ${rule}`);
  for (const [name, set] of after.sets) {
    const was = before.sets.get(name)?.elements;
    const addedElements = [...set.elements]
      .filter(([key, value]) => was?.get(key) !== value)
      .map(([key, value]) => (value === "" ? key : `${key} : ${value}`));
    for (const part of batches(addedElements)) addCommand("add element", `${name} { ${part.join(", ")} }`);
  }
  for (const name of removed) addCommand("delete chain", name);
  for (const [name, { kind }] of before.sets)
    if (!after.sets.has(name)) lines.push(`delete ${kind} ${family} ${table} ${name}`);
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

const sameRules = (a: Chain | undefined, b: Chain): boolean =>
  a !== undefined &&
  (a.rules === b.rules ||
    (a.rules.length === b.rules.length && a.rules.every((rule, index) => rule === b.rules[index])));

function* batches(elements: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < elements.length; at += elementsPerCommand)
    yield elements.slice(at, at + elementsPerCommand);
}
