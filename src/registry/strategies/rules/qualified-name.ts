// Names of labels, annotations, finalizers and the like: an optional DNS prefix, then a short name. One finding for each thing wrong.
import { type FieldError, invalidValue, isLabelValue } from "#base";
import { dnsSubdomain } from "../../names.ts";

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const longest = 63;
const shape = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export function qualifiedNameErrors(value: string, field: string): FieldError[] {
  const parts = value.split("/");
  const last = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  const found: string[] = [];
  if (parts.length > 2) found.push(`must have at most one prefix; the name part ${shape}`);
  else {
    const wrong = prefix ? dnsSubdomain(prefix) : undefined;
    if (prefix === "") found.push("prefix part must not be empty");
    else if (wrong) found.push(`prefix part ${wrong}`);
    if (last === "") found.push("name part must not be empty");
    else if (last.length > longest) found.push(`name part must be no more than ${longest} characters`);
    if (!name.test(last)) found.push(`name part ${shape}`);
  }
  return found.map((detail) => invalidValue(field, value, detail));
}

export function labelValueErrors(value: string, field: string): FieldError[] {
  return isLabelValue(value) ? [] : [invalidValue(field, value, `must be empty or at most ${longest} characters that ${shape.replace("must ", "")}`)];
}
