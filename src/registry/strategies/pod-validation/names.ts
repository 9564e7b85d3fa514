// How a pod finds names: resolver settings and lines of its hosts file.
import type { HostAlias, PodSpec } from "#api";
import { type FieldError, invalidValue, required } from "#base";
import { dns1123SubdomainProblems, ipProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import { oneOf } from "../rules/one-of.ts";

const policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const mostServers = 3;
const mostSearches = 32;
const longestSearches = 2048;

export const dnsPolicyErrors = ({ dnsPolicy }: PodSpec, path: string): FieldError[] =>
  oneOf(dnsPolicy, `${path}.dnsPolicy`, policies);

export function dnsConfigErrors({ dnsConfig, dnsPolicy }: PodSpec, path: string): FieldError[] {
  const at = `${path}.dnsConfig`;
  if (dnsPolicy === "None" && !dnsConfig)
    return [required(at, "must provide `dnsConfig` when `dnsPolicy` is None")];
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None" && nameservers.length === 0)
    return [
      required(`${at}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"),
    ];
  const errors: FieldError[] = [];
  if (nameservers.length > mostServers)
    errors.push(
      invalidValue(`${at}.nameservers`, nameservers, `must not have more than ${mostServers} nameservers`),
    );
  nameservers.forEach((address, position) =>
    errors.push(...addressErrors(address, `${at}.nameservers[${position}]`)),
  );
  if (searches.length > mostSearches)
    errors.push(
      invalidValue(`${at}.searches`, searches, `must not have more than ${mostSearches} search paths`),
    );
  if (searches.join(" ").length > longestSearches)
    errors.push(
      invalidValue(
        `${at}.searches`,
        searches,
        `must not have more than ${longestSearches} characters (including spaces) in the search list`,
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
