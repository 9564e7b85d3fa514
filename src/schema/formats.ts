// Format checks for names, values and keys, with kube-apiserver's error messages. Each function returns the
// list of problems it found.

import { isIP } from "node:net";

export type Problems = readonly string[];

const noProblems: Problems = [];
export const lengthProblem = (max: number): string => `must be no more than ${max} characters`;
export const rangeProblem = (min: number, max: number): string =>
  `must be between ${min} and ${max}, inclusive`;

/** Returns the error message of a regex check, including examples of valid values. */
export function patternProblem(sentence: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${sentence} (regex used for validation is '${pattern}')`;
  return `${sentence} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;
}

interface Format {
  readonly pattern: string;
  readonly sentence: string;
  readonly examples: readonly string[];
  readonly maxLength?: number;
}

function checker({ pattern, sentence, examples, maxLength }: Format): (value: string) => string[] {
  const whole = new RegExp(`^(?:${pattern})$`);
  const problem = patternProblem(sentence, pattern, ...examples);
  return (value) => {
    const found: string[] = [];
    if (maxLength !== undefined && Buffer.byteLength(value) > maxLength) found.push(lengthProblem(maxLength));
    if (!whole.test(value)) found.push(problem);
    return found;
  };
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const name = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const anyLabel = checker({
  pattern: label,
  sentence:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ["my-name", "123-abc"],
  maxLength: 63,
});
const dotted = new RegExp(`^${subdomain}$`);
export function dns1123LabelProblems(value: string): Problems {
  const found = anyLabel(value);
  return found.map((problem) =>
    problem === lengthProblem(63) || !dotted.test(value) ? problem : "must not contain dots",
  );
}

export const dns1123SubdomainProblems: (value: string) => Problems = checker({
  pattern: subdomain,
  sentence:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ["example.com"],
  maxLength: 253,
});

export const wildcardSubdomainProblems: (value: string) => Problems = checker({
  pattern: `\\*\\.${subdomain}`,
  sentence:
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  examples: ["*.example.com"],
  maxLength: 253,
});

export const dns1035LabelProblems: (value: string) => Problems = checker({
  pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
  sentence:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ["my-name", "abc-123"],
  maxLength: 63,
});

export const labelValueProblems: (value: string) => Problems = checker({
  pattern: `(${name})?`,
  sentence:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ["MyValue", "my_value", "12345"],
  maxLength: 63,
});

const nameProblem = patternProblem(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  name,
  "MyName",
  "my.name",
  "123-abc",
);
const wholeName = new RegExp(`^${name}$`);

/** Checks a name with an optional domain prefix, such as `example.com/MyName`. */
export function qualifiedNameProblems(value: string): Problems {
  const parts = value.split("/");
  if (parts.length > 2)
    return [
      `a qualified name ${nameProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const found: string[] = [];
  const last = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === "") found.push("prefix part must be non-empty");
    else found.push(...dns1123SubdomainProblems(parts[0]!).map((problem) => `prefix part ${problem}`));
  }
  if (last === "") found.push("name part must be non-empty");
  else if (Buffer.byteLength(last) > 63) found.push(`name part ${lengthProblem(63)}`);
  if (!wholeName.test(last)) found.push(`name part ${nameProblem}`);
  return found;
}

export const cIdentifierProblems: (value: string) => Problems = checker({
  pattern: "[A-Za-z_][A-Za-z0-9_]*",
  sentence:
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  examples: ["my_name", "MY_NAME", "MyName"],
});

const parentProblems = (value: string): string[] =>
  value === "." || value === ".."
    ? [`must not be '${value}'`]
    : value.startsWith("..")
      ? ["must not start with '..'"]
      : [];

const environmentName = checker({
  pattern: "[-._a-zA-Z][-._a-zA-Z0-9]*",
  sentence:
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  examples: ["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
});
export const environmentNameProblems = (value: string): Problems => [
  ...environmentName(value),
  ...parentProblems(value),
];

/** The rule of later releases. */
export const relaxedEnvironmentNameProblems = (value: string): Problems =>
  /^[\x20-\x3c\x3e-\x7e]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

const configKey = checker({
  pattern: "[-._a-zA-Z0-9]+",
  sentence: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  examples: ["key.name", "KEY_NAME", "key-name"],
  maxLength: 253,
});
export const configKeyProblems = (value: string): Problems => [...configKey(value), ...parentProblems(value)];

export const percentProblems: (value: string) => Problems = checker({
  pattern: "[0-9]+%",
  sentence: "a valid percent string must be a numeric string followed by an ending '%'",
  examples: ["1%", "93%"],
});

export const headerNameProblems: (value: string) => Problems = checker({
  pattern: "[-A-Za-z0-9]+",
  sentence: "a valid HTTP header must consist of alphanumeric characters or '-'",
  examples: ["X-Header-Name"],
});

export const portNumberProblems = (port: number): Problems =>
  Number.isInteger(port) && port >= 1 && port <= 65535 ? noProblems : [rangeProblem(1, 65535)];

export function portNameProblems(port: string): Problems {
  const found: string[] = [];
  if (port.length > 15) found.push(lengthProblem(15));
  if (!/^[-a-z0-9]+$/.test(port))
    found.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(port)) found.push("must contain at least one letter (a-z)");
  if (port.includes("--")) found.push("must not contain consecutive hyphens");
  if (port.startsWith("-") || port.endsWith("-")) found.push("must not begin or end with a hyphen");
  return found;
}

/** Leading zeros in an IPv4 address are tolerated, as in kube-apiserver. */
export const ipProblems = (value: string): Problems =>
  isIP(value.includes(":") ? value : value.replace(/(^|\.)0+(?=\d)/g, "$1")) && !value.includes("%")
    ? noProblems
    : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
