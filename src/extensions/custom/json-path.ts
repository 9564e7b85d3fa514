// The paths that printer columns use: names, positions, all items, and items by a comparison.
//
//   .spec.replicas    .status.conditions[?(@.type=="Ready")].status    .spec.ports[0].name    .spec['a.b']

type Step =
  | { readonly is: "key"; readonly key: string }
  | { readonly is: "index"; readonly index: number }
  | { readonly is: "all" }
  | {
      readonly is: "where";
      readonly path: readonly Step[];
      readonly operator: string;
      readonly value: unknown;
    };

const mostResults = 1000;

/** A function that finds the values at a path; undefined for a path that cannot be read. */
export function jsonPath(text: string): ((object: unknown) => unknown[]) | undefined {
  const steps = parse(text);
  return steps && ((object) => find(steps, object));
}

const key = /^\.([^.[\]]+)/;
const quoted = /^\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/;
const index = /^\[\s*(-?\d+)\s*\]/;
const all = /^(?:\[\s*\*\s*\]|\.\*)/;
const where =
  /^\[\?\(\s*@([^=!<>\s)]*)\s*(?:(==|!=|<=|>=|<|>)\s*(?:'([^']*)'|"([^"]*)"|(-?\d+(?:\.\d+)?)|(true|false)))?\s*\)\]/;

function parse(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.replace(/^\$/, "");
  if (rest === ".") return steps;
  while (rest !== "") {
    let found: RegExpExecArray | null;
    if ((found = all.exec(rest))) steps.push({ is: "all" });
    else if ((found = key.exec(rest))) steps.push({ is: "key", key: found[1]!.replace(/\\(.)/g, "$1") });
    else if ((found = quoted.exec(rest))) steps.push({ is: "key", key: found[1] ?? found[2] ?? "" });
    else if ((found = index.exec(rest))) steps.push({ is: "index", index: Number(found[1]) });
    else if ((found = where.exec(rest))) {
      const path = parse(found[1] ?? "");
      if (!path) return undefined;
      const value = found[3] ?? found[4] ?? (found[5] === undefined ? found[6] === "true" : Number(found[5]));
      steps.push({ is: "where", path, operator: found[2] ?? "exists", value });
    } else return undefined;
    rest = rest.slice(found[0].length);
  }
  return steps;
}

function find(steps: readonly Step[], object: unknown): unknown[] {
  let values = [object];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (next.length >= mostResults) break;
      next.push(...below(step, value));
    }
    values = next;
  }
  return values;
}

function below(step: Step, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  switch (step.is) {
    case "key":
      return Object.hasOwn(value, step.key) ? [(value as Record<string, unknown>)[step.key]] : [];
    case "index": {
      const found = Array.isArray(value) ? (value.at(step.index) as unknown) : undefined;
      return found === undefined ? [] : [found];
    }
    case "all":
      return Object.values(value).slice(0, mostResults);
    case "where":
      return Object.values(value).filter((item) => matches(step, item));
  }
}

function matches({ path, operator, value }: Extract<Step, { is: "where" }>, item: unknown): boolean {
  const [found] = find(path, item);
  if (found === undefined) return false;
  switch (operator) {
    case "exists":
      return true;
    case "==":
      return found === value;
    case "!=":
      return found !== value;
    case "<":
      return (found as number) < (value as number);
    case ">":
      return (found as number) > (value as number);
    case "<=":
      return (found as number) <= (value as number);
    default:
      return (found as number) >= (value as number);
  }
}
