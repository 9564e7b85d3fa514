// Domain-prefixed paths such as acme.io/foo, which name controllers and keys.
import { type FieldError, invalidValue, required } from "#base";
import { dns1123SubdomainProblems, patternProblem } from "./formats.ts";

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = new RegExp(`^${pathPattern}$`);

export function domainPathErrors(value: string, field: string): FieldError[] {
  if (value === "") return [required(field)];
  const cut = value.indexOf("/");
  const [domain, path] = [value.slice(0, Math.max(cut, 0)), value.slice(cut + 1)];
  if (domain === "" || path === "")
    return [invalidValue(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = dns1123SubdomainProblems(domain).map((detail) => invalidValue(field, domain, detail));
  if (!wholePath.test(path))
    errors.push(invalidValue(field, path, patternProblem("Invalid path", pathPattern)));
  return errors;
}
