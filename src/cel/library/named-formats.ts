// Named formats: format.dns1123Label().validate(text) returns the errors of a string, if any.

import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "#schema";
import { type Library, declare, method, overload } from "../declarations.ts";
import { type CelType, listOf, objectType, optionalType, types } from "../types.ts";
import { Opaque, type Value, noSuchOverload, optionalNone, optionalOf } from "../values.ts";
import { readWhole } from "../walk-limit.ts";
import { parseUrl } from "./url-value.ts";

type Problems = (text: string) => readonly string[];

/**
 * A dash at the end of a prefix will not be at the end of the name, so it and the character before are
 * replaced.
 */
const asPrefix =
  (problems: Problems): Problems =>
  (text) =>
    problems(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text);
const unless =
  (holds: (text: string) => boolean, problem: (text: string) => string): Problems =>
  (text) =>
    holds(text) ? [] : [problem(text)];

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const dateTime =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

function isDate(text: string): boolean {
  const [year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).slice(1).map(Number);
  if (year === undefined) return false;
  const date = new Date(Date.UTC(year, month! - 1, day));
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day;
}

/** The check of each format, and the regex size that its cost is based on. */
const formats: Readonly<Record<string, { readonly problems: Problems; readonly patternSize: number }>> = {
  dns1123Label: { problems: dns1123LabelProblems, patternSize: 30 },
  dns1123Subdomain: { problems: dns1123SubdomainProblems, patternSize: 60 },
  dns1035Label: { problems: dns1035LabelProblems, patternSize: 30 },
  qualifiedName: { problems: qualifiedNameProblems, patternSize: 60 },
  dns1123LabelPrefix: { problems: asPrefix(dns1123LabelProblems), patternSize: 30 },
  dns1123SubdomainPrefix: { problems: asPrefix(dns1123SubdomainProblems), patternSize: 60 },
  dns1035LabelPrefix: { problems: asPrefix(dns1035LabelProblems), patternSize: 30 },
  labelValue: { problems: labelValueProblems, patternSize: 40 },
  uri: {
    problems: unless(
      (text) => parseUrl(text, true) !== undefined,
      (text) => `parse ${JSON.stringify(text)}: invalid URI for request`,
    ),
    patternSize: 1128,
  },
  uuid: {
    problems: unless(
      (text) => uuid.test(text),
      () => "does not match the UUID format",
    ),
    patternSize: 75,
  },
  byte: {
    problems: unless(
      (text) => base64.test(text),
      () => "invalid base64",
    ),
    patternSize: 84,
  },
  date: { problems: unless(isDate, () => "invalid date"), patternSize: 103 },
  datetime: {
    problems: unless(
      (text) => isDate(dateTime.exec(text)?.[1] ?? ""),
      () => "invalid datetime",
    ),
    patternSize: 103,
  },
};

export class FormatValue extends Opaque {
  readonly type: CelType;
  readonly problems: Problems;
  readonly patternSize: number;
  constructor(type: CelType, { problems, patternSize }: (typeof formats)[string]) {
    super();
    this.type = type;
    this.problems = problems;
    this.patternSize = patternSize;
  }
  override equals(other: Opaque): boolean {
    return other instanceof FormatValue && other.problems === this.problems;
  }
}

export function namedFormatsLibrary(typePrefix: string): Library {
  const type = objectType(`${typePrefix}.NamedFormat`);
  const values = new Map(
    Object.entries(formats).map(([name, given]) => [name, new FormatValue(type, given)]),
  );
  const validate = (format: Value, text: Value): Value => {
    if (!(format instanceof FormatValue) || typeof text !== "string") throw noSuchOverload();
    const found = format.problems(readWhole(text));
    return found.length === 0 ? optionalNone : optionalOf([...found]);
  };
  return [
    declare(
      "format.named",
      overload("format-named", [types.string], optionalType(type), (name) =>
        optionalOf(values.get(name as string)),
      ),
    ),
    declare(
      "validate",
      method("format-validate", [type, types.string], optionalType(listOf(types.string)), validate),
    ),
    ...[...values].map(([name, value]) =>
      declare(
        `format.${name}`,
        overload(`format.${name}`, [], type, () => value),
      ),
    ),
  ];
}
