// Parses and validates queries for the host's logs. Pure except for checking whether a file exists.
import { goTime } from "#base";
import { compilePattern } from "#cel";

/** Characters not allowed in service names, which are passed to journalctl. */
const unsafe = /[^a-zA-Z\-_0-9@]/;
const maxServiceLength = 256;
const maxServices = 4;
const maxLines = 100_000;

export interface SystemLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly sinceTime?: Date;
  readonly untilTime?: Date;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

export type ParsedQuery = { readonly query?: SystemLogQuery } | { readonly error: string };

/** Parses a query string; pairs that contain a semicolon are dropped, as in Go. */
export function queryOf(search: string): URLSearchParams {
  const pairs = search.replace(/^\?/, "").split("&");
  return new URLSearchParams(pairs.filter((pair) => !pair.includes(";")).join("&"));
}

/** Returns no query if no option is set. */
export function parseLogQuery(given: URLSearchParams): ParsedQuery {
  const errors: string[] = [];
  const wanted = given.getAll("query");
  const files = wanted.filter((name) => /[/\\]/.test(name));
  const services = wanted.filter((name) => !/[/\\]/.test(name) && name.trim() !== "");
  if (given.has("query") && files.length === 0 && services.length === 0)
    errors.push(`query: Invalid value: ${goStrings(wanted)}: query cannot be empty`);
  const read = <T>(name: string, parse: (text: string) => T): T | undefined => {
    const text = given.get(name) ?? "";
    if (text === "") return undefined;
    try {
      return parse(text);
    } catch (error) {
      errors.push(`${name}: Invalid value: ${JSON.stringify(text)}: ${(error as Error).message}`);
      return undefined;
    }
  };
  const sinceTime = read("sinceTime", parseTime);
  const untilTime = read("untilTime", parseTime);
  const boot = read("boot", parseNumber);
  const tailLines = read("tailLines", parseNumber);
  const pattern = given.get("pattern") || undefined;
  if (errors.length > 0) return { error: aggregate(errors) };
  const options = {
    ...(sinceTime && { sinceTime }),
    ...(untilTime && { untilTime }),
    ...(boot !== undefined && { boot }),
    ...(tailLines !== undefined && { tailLines }),
    ...(pattern && { pattern }),
  };
  const isEmpty = files.length + services.length + Object.keys(options).length === 0;
  return isEmpty ? {} : { query: { services, files, ...options } };
}

export const hasOptions = (query: SystemLogQuery): boolean =>
  Object.keys(query).some((field) => field !== "services" && field !== "files");

/** Validates a query; `fileProblem` returns why a file is not available. */
export async function logQueryProblem(
  query: SystemLogQuery,
  fileProblem: (name: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const { services, files, sinceTime, untilTime, boot, tailLines, pattern } = query;
  const errors = services.flatMap((name) =>
    name.length > maxServiceLength
      ? [`query: Invalid value: ${JSON.stringify(name)}: length must be less than 100`]
      : unsafe.test(name)
        ? [`query: Invalid value: ${JSON.stringify(name)}: input contains unsupported characters`]
        : [],
  );
  if (services.length > maxServices)
    errors.push(`query: Too many: ${services.length}: must have at most ${maxServices} items`);
  if (files.length === 0 && services.length === 0)
    errors.push("query: Required value: cannot be empty with options");
  else if (files.length > 0 && services.length > 0)
    errors.push(
      `query: Invalid value: ${JSON.stringify(`[${files.join(" ")}], [${services.join(" ")}]`)}: cannot specify a file and service`,
    );
  else if (files.length > 1)
    errors.push(`query: Invalid value: ${goStrings(files)}: cannot specify more than one file`);
  else if (files.length === 1 && hasOptions(query))
    errors.push(`query: Invalid value: ${goStrings(files)}: cannot specify file with options`);
  else if (files.length === 1) {
    const problem = await fileProblem(files[0]!);
    if (problem) errors.push(`query: Invalid value: ${goStrings(files)}: ${problem}`);
  }
  if (sinceTime && untilTime && sinceTime > untilTime)
    errors.push(`untilTime: Invalid value: ${goTime(untilTime)}: must be after \`sinceTime\``);
  if (boot !== undefined && boot > 0) errors.push(`boot: Invalid value: ${boot}: must be less than 1`);
  if (tailLines !== undefined && (tailLines < 0 || tailLines > maxLines))
    errors.push(`tailLines: Invalid value: ${tailLines}: must be between 0 and ${maxLines}, inclusive`);
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern);
    if ("error" in compiled)
      errors.push(`pattern: Invalid value: ${JSON.stringify(pattern)}: ${compiled.error}`);
  }
  return errors.length > 0 ? aggregate(errors) : undefined;
}

/** Returns the arguments for journalctl. */
export function journalArguments(query: SystemLogQuery, services: readonly string[]): readonly string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = query;
  return [
    "--utc",
    "--no-pager",
    "--output=short-precise",
    ...(sinceTime ? [`--since=${journalTime(sinceTime)}`] : []),
    ...(untilTime ? [`--until=${journalTime(untilTime)}`] : []),
    ...(tailLines !== undefined ? ["--pager-end", `--lines=${tailLines}`] : []),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern ? [`--grep=${pattern}`] : []),
    ...(boot !== undefined ? ["--boot", String(boot)] : []),
  ];
}

function parseTime(text: string): Date {
  const isWellFormed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(isWellFormed ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new Error("invalid time format");
  return time;
}

function parseNumber(text: string): number {
  const parseError = (what: string): Error =>
    new Error(`strconv.Atoi: parsing ${JSON.stringify(text)}: ${what}`);
  if (!/^[+-]?\d+$/.test(text)) throw parseError("invalid syntax");
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) throw parseError("value out of range");
  return Number(text);
}

/** Joins errors without duplicates, in brackets if there are several. */
const aggregate = (errors: readonly string[]): string => {
  const each = [...new Set(errors)];
  return each.length === 1 ? each[0]! : `[${each.join(", ")}]`;
};
const goStrings = (texts: readonly string[]): string =>
  `[]string{${texts.map((text) => JSON.stringify(text)).join(", ")}}`;
const journalTime = (time: Date): string => time.toISOString().slice(0, 19).replace("T", " ");
