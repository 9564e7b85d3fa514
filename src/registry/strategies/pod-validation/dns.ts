// Validation of DNS settings and host aliases.
import type { HostAlias, PodSpec } from "#api";
import { type FieldError, invalidValue, required } from "#base";
import { dns1123SubdomainProblems, ipProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import { oneOf } from "../rules/one-of.ts";
import { same } from "../rules/unchanged.ts";
import type { PodRules } from "./rules.ts";

const policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const maxNameservers = 3;
/** Maximum number of DNS search paths, and their maximum total length. */
const searchLimits = { most: 32, longest: 2048 };
const formerLimits = { most: 6, longest: 256 };

/** Reports whether the search paths exceed the limits of earlier releases. */
export const isExpanded = (searches: readonly string[]): boolean =>
  searches.length > formerLimits.most || searches.join(" ").length > formerLimits.longest;

export const dnsPolicyErrors = ({ dnsPolicy }: PodSpec, path: string): FieldError[] =>
  oneOf(dnsPolicy, `${path}.dnsPolicy`, policies);

export function dnsConfigErrors(
  { dnsConfig, dnsPolicy }: PodSpec,
  { expandedDns, keptSearches }: Pick<PodRules, "expandedDns" | "keptSearches">,
  path: string,
): FieldError[] {
  const at = `${path}.dnsConfig`;
  if (dnsPolicy === "None" && !dnsConfig)
    return [required(at, "must provide `dnsConfig` when `dnsPolicy` is None")];
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None" && nameservers.length === 0)
    return [
      required(`${at}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"),
    ];
  const errors: FieldError[] = [];
  if (nameservers.length > maxNameservers)
    errors.push(
      invalidValue(`${at}.nameservers`, nameservers, `must not have more than ${maxNameservers} nameservers`),
    );
  nameservers.forEach((address, position) =>
    errors.push(...addressErrors(address, `${at}.nameservers[${position}]`)),
  );
  const limits = expandedDns || same(searches, keptSearches) ? searchLimits : formerLimits;
  if (searches.length > limits.most)
    errors.push(
      invalidValue(`${at}.searches`, searches, `must not have more than ${limits.most} search paths`),
    );
  if (searches.join(" ").length > limits.longest)
    errors.push(
      invalidValue(
        `${at}.searches`,
        searches,
        `must not have more than ${limits.longest} characters (including spaces) in the search list`,
      ),
    );
  searches.forEach((search, position) =>
    errors.push(
      ...formatErrors(search.replace(/\.$/, ""), `${at}.searches[${position}]`, dns1123SubdomainProblems),
    ),
  );
  options.forEach(({ name }, position) => {
    if (!name) errors.push(required(`${at}.options[${position}]`, "must not be empty"));
  });
  return errors;
}

const addressErrors = (address: string, field: string): FieldError[] =>
  ipProblems(address).length ? [invalidValue(field, address, "must be valid IP address")] : [];

export const hostAliasErrors = (aliases: readonly HostAlias[] | undefined, path: string): FieldError[] =>
  (aliases ?? []).flatMap(({ ip, hostnames }) => [
    ...addressErrors(ip ?? "", `${path}.ip`),
    ...(hostnames ?? []).flatMap((name) => formatErrors(name, `${path}.hostnames`, dns1123SubdomainProblems)),
  ]);
