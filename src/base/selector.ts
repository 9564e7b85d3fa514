// Label and field selectors: parsed once, then matched against each object. Equality requirements are exposed
// separately, so that an index can serve them.

import { SelectorError } from "./label-selector-text.ts";
import { CompiledRequirements, type Requirement } from "./selector-match.ts";

export type { Requirement };

/** The properties of an object that selectors can match. */
export interface Selectable {
  readonly labels: Readonly<Record<string, string>>;
  /** Fields specific to the kind, in addition to `metadata.name` and `metadata.namespace`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly namespace?: string;
}

/** Returns the value of a label as selectors see it; undefined if absent. */
export const labelOf = ({ labels }: Selectable, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** Returns the value of a field as selectors see it; empty if absent. */
export function fieldOf(item: Selectable, key: string): string {
  if (key === "metadata.name") return item.name ?? "";
  if (key === "metadata.namespace") return item.namespace ?? "";
  return (Object.hasOwn(item.fields, key) ? item.fields[key] : undefined) ?? "";
}

/** Parses `metadata.name=a,reason!=b`; a backslash escapes a comma, an equals sign or a backslash. */
export function parseFieldSelector(text: string): readonly Requirement[] {
  return splitUnescaped(text)
    .filter((term) => term !== "")
    .map((term) => {
      const match = /^((?:[^=!\\]|\\.)*?)(!=|==|=)(.*)$/s.exec(term);
      if (!match) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
      return {
        key: match[1]!,
        operator: match[2] === "!=" ? ("notin" as const) : ("in" as const),
        values: [unescaped(match[3]!, text)],
      };
    });
}

function splitUnescaped(text: string): string[] {
  const terms: string[] = [];
  let current = "";
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") current += text[at]! + (text[++at] ?? "");
    else if (text[at] === ",") {
      terms.push(current);
      current = "";
    } else current += text[at]!;
  }
  terms.push(current);
  return terms;
}

function unescaped(value: string, whole: string): string {
  if (/(^|[^\\])(\\\\)*[=,]/.test(value))
    throw new SelectorError(`invalid selector: '${whole}'; can't understand '${value}'`);
  if (/(^|[^\\])(\\\\)*\\($|[^\\,=])/.test(value))
    throw new SelectorError(`invalid field selector: invalid escape sequence in '${value}'`);
  return value.replace(/\\(.)/g, "$1");
}

/** A label selector combined with a field selector. */
export interface Selector {
  /** True if there are no requirements: everything matches. */
  readonly everything: boolean;
  /** Equal for two selectors with the same requirements in the same order. */
  readonly id: string;
  readonly labels: readonly Requirement[];
  readonly fields: readonly Requirement[];
  matches(item: Selectable): boolean;
  /** An equality requirement, which an index can serve; undefined if the selector has none. */
  readonly exact:
    | { readonly of: "label" | "field"; readonly key: string; readonly value: string }
    | undefined;
}

export function selector(labels: readonly Requirement[], fields: readonly Requirement[]): Selector {
  if (labels.length === 0 && fields.length === 0) return selectEverything;
  const field = fields.find((item) => isEquality(item) && item.key !== "metadata.namespace");
  const label = labels.find(isEquality);
  const byLabels = matcherOf(labels, labelOf, (rules) => (item) => rules.matchesMap(item.labels));
  const byFields = matcherOf(
    fields,
    fieldOf,
    (rules) => (item) => rules.matches((key) => fieldOf(item, key)),
  );
  return {
    everything: false,
    get id() {
      return JSON.stringify([labels, fields]);
    },
    labels,
    fields,
    matches: (item) => byLabels(item) && byFields(item),
    exact: field
      ? { of: "field", key: field.key, value: field.values[0]! }
      : label
        ? { of: "label", key: label.key, value: label.values[0]! }
        : undefined,
  };
}

export const selectEverything: Selector = {
  everything: true,
  id: "",
  labels: [],
  fields: [],
  matches: () => true,
  exact: undefined,
};

const isEquality = ({ operator, values }: Requirement): boolean => operator === "in" && values.length === 1;

type Matcher = (item: Selectable) => boolean;

const matchesAll: Matcher = () => true;

/** A single equality, the most common selector, is compared directly instead of being compiled. */
function matcherOf(
  requirements: readonly Requirement[],
  valueOf: (item: Selectable, key: string) => string | undefined,
  compiled: (rules: CompiledRequirements) => Matcher,
): Matcher {
  const [first] = requirements;
  if (first === undefined) return matchesAll;
  if (requirements.length > 1 || !isEquality(first)) return compiled(new CompiledRequirements(requirements));
  const [value] = first.values;
  return (item) => valueOf(item, first.key) === value;
}

/** The structured form of a label selector, as used in objects. */
export interface LabelSelectorLike {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

const operators: Readonly<Record<string, Requirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

/** Converts a structured selector. An empty one matches everything; an unknown operator is an error. */
export function fromLabelSelector(given: LabelSelectorLike): Selector {
  const labels: Requirement[] = Object.entries(given.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "in",
    values: [value],
  }));
  for (const { key, operator, values } of given.matchExpressions ?? []) {
    const known = operators[operator];
    if (!known) throw new SelectorError(`"${operator}" is not a valid label selector operator`);
    labels.push({ key, operator: known, values: values ?? [] });
  }
  return selector(labels, []);
}

/** Formats a structured selector: `a=b,c in (d,e),!f`. */
export function labelSelectorText(given: LabelSelectorLike): string {
  const requirements = [
    ...Object.entries(given.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...(given.matchExpressions ?? []).map(({ key, operator, values }) => ({
      key,
      text: expressionText(key, operator, values ?? []),
    })),
  ];
  return requirements
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(",");
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator === "In" ? "in" : "notin"} (${values.toSorted().join(",")})`;
}
