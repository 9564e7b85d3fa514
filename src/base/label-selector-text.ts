// Parses label selectors such as `a=b,c!=d,e in (f,g),!h,i,j>1`, with the grammar and the error texts of
// kube-apiserver.
import { type Requirement, isInteger64 } from "./selector-match.ts";

/** The string is not a valid selector; the message says why. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/** A key or value that is not a valid label key or value. */
export class LabelError extends SelectorError {
  readonly part: "key" | "value";
  readonly path: string;
  readonly given: string;
  constructor(part: "key" | "value", path: string, given: string) {
    super(`unable to parse requirement: ${path}: Invalid value: ${JSON.stringify(given)}`);
    this.part = part;
    this.path = path;
    this.given = given;
  }
}

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Reports whether a string is a valid label key: an optional DNS prefix and a name of at most 63 characters.
 */
export function isQualifiedName(text: string): boolean {
  const parts = text.split("/");
  if (parts.length > 2) return false;
  const last = parts.at(-1)!;
  if (parts.length === 2 && (parts[0]!.length > 253 || !subdomain.test(parts[0]!))) return false;
  return last.length <= 63 && name.test(last);
}

export const isLabelValue = (text: string): boolean => text === "" || (text.length <= 63 && name.test(text));

/** A token stream; the end is represented by an empty token. */
class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;
  constructor(text: string) {
    this.#tokens = tokenize(text);
  }
  peek(): string {
    return this.#tokens[this.#at] ?? "";
  }
  take(): string {
    return this.#tokens[this.#at++] ?? "";
  }
}

const symbols = new Set(["(", ")", ",", "!", "=", "==", "!=", ">", "<", ""]);
const isWord = (token: string): boolean => !symbols.has(token);
const operators: Readonly<Record<string, Requirement["operator"]>> = {
  in: "in",
  notin: "notin",
  "=": "in",
  "==": "in",
  "!=": "notin",
  ">": "gt",
  "<": "lt",
};

const unexpected = (found: string, expected: string): SelectorError =>
  new SelectorError(`found '${found}', expected: ${expected}`);
const invalidRequirement = (found: string, expected: string): SelectorError =>
  new SelectorError(`unable to parse requirement: found '${found}', expected: ${expected}`);

export function parseLabelSelector(text: string): readonly Requirement[] {
  const tokens = new Tokens(text);
  const requirements: Requirement[] = [];
  if (tokens.peek() === "") return requirements;
  if (!isWord(tokens.peek()) && tokens.peek() !== "!")
    throw unexpected(tokens.peek(), "!, identifier, or 'end of string'");
  for (;;) {
    requirements.push(requirementOf(tokens));
    const separator = tokens.take();
    if (separator === "") return requirements;
    if (separator !== ",") throw unexpected(separator, "',' or 'end of string'");
    if (!isWord(tokens.peek()) && tokens.peek() !== "!")
      throw unexpected(tokens.peek(), "identifier after ','");
  }
}

function requirementOf(tokens: Tokens): Requirement {
  const negated = tokens.peek() === "!" && tokens.take() === "!";
  const key = tokens.take();
  if (!isWord(key)) throw invalidRequirement(key, "identifier");
  if (!isQualifiedName(key)) throw new LabelError("key", "<nil>", key);
  if (negated) return { key, operator: "!", values: [] };
  if (tokens.peek() === "" || tokens.peek() === ",") return { key, operator: "exists", values: [] };
  const written = tokens.take();
  const operator = Object.hasOwn(operators, written) ? operators[written] : undefined;
  if (operator === undefined) throw invalidRequirement(written, "in, notin, =, ==, !=, gt, lt");
  const values = isWord(written) ? setOf(tokens) : [valueOf(tokens)];
  if ((operator === "gt" || operator === "lt") && !isInteger64(values[0]!))
    throw new SelectorError(
      `unable to parse requirement: values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  const wrong = values.findIndex((value) => !isLabelValue(value));
  if (wrong >= 0) throw new LabelError("value", `values[${wrong}][${key}]`, values[wrong]!);
  return { key, operator, values };
}

function valueOf(tokens: Tokens): string {
  if (tokens.peek() === "" || tokens.peek() === ",") return "";
  const value = tokens.take();
  if (!isWord(value)) throw invalidRequirement(value, "identifier");
  return value;
}

function setOf(tokens: Tokens): string[] {
  const opening = tokens.take();
  if (opening !== "(")
    throw new SelectorError(`unable to parse requirement: found '${opening}' expected: '('`);
  const first = tokens.peek();
  if (first !== ")" && first !== "," && !isWord(first))
    throw invalidRequirement(first, "',', ')' or identifier");
  const values = new Set<string>(first === ")" ? [""] : []);
  while (tokens.peek() !== ")") {
    const token = tokens.take();
    if (isWord(token)) {
      values.add(token);
      if (tokens.peek() !== "," && tokens.peek() !== ")")
        throw invalidRequirement(tokens.peek(), "',' or ')'");
    } else if (token !== ",") throw invalidRequirement(token, "',', or identifier");
    else {
      if (values.size === 0 || tokens.peek() === ")") values.add("");
      if (tokens.peek() === ",") {
        tokens.take();
        values.add("");
      }
    }
  }
  tokens.take();
  return [...values].sort();
}

function tokenize(text: string): string[] {
  return text.match(/==|!=|[(),!=<>]|[^ \t\r\n(),!=<>]+/g) ?? [];
}
