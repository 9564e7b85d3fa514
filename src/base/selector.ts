// Label and field selectors: parsed once, then asked per object. Equalities stand apart, so that an index can
// serve them.

import { CompiledRequirements, type Requirement, isInteger64 } from "./selector-match.ts";

export type { Requirement };

/** What a selector looks at. */
export interface Selectable {
  readonly labels: Readonly<Record<string, string>>;
  /** Fields of the kind's own, beside `metadata.name` and `metadata.namespace`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly namespace?: string;
}

/** How selectors read a label; one that is absent is none. */
export const labelOf = ({ labels }: Selectable, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** How selectors read a field; one that is absent is empty. */
export function fieldOf(item: Selectable, key: string): string {
  if (key === "metadata.name") return item.name ?? "";
  if (key === "metadata.namespace") return item.namespace ?? "";
  return (Object.hasOwn(item.fields, key) ? item.fields[key] : undefined) ?? "";
}

/** A text that is not a selector, and why. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text can be a label key: an optional DNS prefix and a name of at most 63 characters. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split("/");
  if (parts.length > 2) return false;
  const last = parts.at(-1)!;
  if (parts.length === 2 && (parts[0]!.length > 253 || !subdomain.test(parts[0]!))) return false;
  return last.length <= 63 && name.test(last);
}

export const isLabelValue = (text: string): boolean => text === "" || (text.length <= 63 && name.test(text));

/** Reads `a=b,c!=d,e in (f,g),!h,i,j>1`. */
export function parseLabelSelector(text: string): readonly Requirement[] {
  const tokens = tokenize(text);
  const requirements: Requirement[] = [];
  let at = 0;
  const peek = (): string | undefined => tokens[at];
  const take = (): string => {
    const token = tokens[at++];
    if (token === undefined)
      throw new SelectorError(`unable to parse requirement: found '', expected: more in "${text}"`);
    return token;
  };
  const isWord = (token: string | undefined): boolean => token !== undefined && !symbols.has(token);
  const word = (): string => {
    const token = take();
    if (!isWord(token))
      throw new SelectorError(`unable to parse requirement: found '${token}', expected: identifier`);
    return token;
  };
  while (at < tokens.length) {
    const negated = peek() === "!" && (take(), true);
    const key = word();
    if (!isQualifiedName(key))
      throw new SelectorError(`unable to parse requirement: "${key}" is not a valid label key`);
    const next = peek();
    if (negated) requirements.push({ key, operator: "!", values: [] });
    else if (next === undefined || next === ",") requirements.push({ key, operator: "exists", values: [] });
    else {
      const operator = take();
      if (operator === "in" || operator === "notin") {
        requirements.push({ key, operator, values: set(take, peek) });
      } else if (operator === "=" || operator === "==" || operator === "!=") {
        const value = peek() === undefined || peek() === "," ? "" : word();
        requirements.push({ key, operator: operator === "!=" ? "notin" : "in", values: [value] });
      } else if (operator === ">" || operator === "<") {
        const value = word();
        if (!isInteger64(value))
          throw new SelectorError(`for 'Gt', 'Lt' operators, the value must be an integer, not "${value}"`);
        requirements.push({ key, operator: operator === ">" ? "gt" : "lt", values: [value] });
      } else
        throw new SelectorError(
          `unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`,
        );
    }
    for (const value of requirements.at(-1)!.values) {
      if (!isLabelValue(value))
        throw new SelectorError(`unable to parse requirement: values[0][${key}]: Invalid value: "${value}"`);
    }
    if (at < tokens.length) {
      const separator = take();
      if (separator !== ",")
        throw new SelectorError(`found '${separator}', expected: ',' or 'end of string'`);
      if (at >= tokens.length) throw new SelectorError("found '', expected: identifier after ','");
    }
  }
  return requirements;
}

const symbols = new Set(["(", ")", ",", "!", "=", "==", "!=", ">", "<"]);

function set(take: () => string, peek: () => string | undefined): string[] {
  const opening = take();
  if (opening !== "(")
    throw new SelectorError(`unable to parse requirement: found '${opening}' expected: '('`);
  const values: string[] = [];
  if (peek() === ")") {
    take();
    return [""];
  }
  for (;;) {
    const token = peek();
    if (token === "," || token === ")") values.push("");
    else {
      const value = take();
      if (symbols.has(value))
        throw new SelectorError(
          `unable to parse requirement: found '${value}', expected: ',', ')' or identifier`,
        );
      values.push(value);
    }
    const end = take();
    if (end === ")") return [...new Set(values)].sort();
    if (end !== ",")
      throw new SelectorError(`unable to parse requirement: found '${end}', expected: ',' or ')'`);
  }
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const pattern = /\s*(?:(==|!=|[(),!=<>])|([^\s(),!=<>]+))\s*/gy;
  let end = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    tokens.push((match[1] ?? match[2])!);
    end = pattern.lastIndex;
  }
  if (end < text.length && text.slice(end).trim() !== "")
    throw new SelectorError(`unable to parse requirement: "${text}"`);
  return tokens;
}

/** Reads `metadata.name=a,reason!=b`; a backslash keeps a comma, an equals sign or a backslash. */
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

/** A label and a field selector together. */
export interface Selector {
  /** True when nothing is asked: everything matches. */
  readonly everything: boolean;
  /** The same for two selectors that ask the same in the same order. */
  readonly id: string;
  readonly labels: readonly Requirement[];
  readonly fields: readonly Requirement[];
  matches(item: Selectable): boolean;
  /** A requirement for one exact value, which an index can serve; undefined when there is none. */
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

/** One equality, which is what most selectors are, is compared without being compiled. */
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

/** The structured form of a label selector, as objects carry it. */
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

/** An empty structured selector matches everything; an unknown operator is refused. */
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

/** The text of a structured selector: `a=b,c in (d,e),!f`. */
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
