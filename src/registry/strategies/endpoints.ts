// Endpoints: the addresses of a service, maintained manually or by a controller.
import { type EndpointAddress, type EndpointPort, Endpoints } from "#api";
import { type FieldError, hostAndPort, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { firstFew } from "./cells/text.ts";
import { ipErrors, ordinaryIpErrors } from "./rules/address.ts";
import { formatErrors, portErrors, qualifiedNameErrors } from "./rules/format.ts";
import { oneOf } from "./rules/one-of.ts";

export const protocols = ["SCTP", "TCP", "UDP"] as const;

function errorsOf({ subsets }: Endpoints): FieldError[] {
  return (subsets ?? []).flatMap(({ addresses, notReadyAddresses, ports }, position) => {
    const at = `subsets[${position}]`;
    const errors =
      addresses?.length || notReadyAddresses?.length
        ? []
        : [required(at, "must specify `addresses` or `notReadyAddresses`")];
    addresses?.forEach((address, index) =>
      errors.push(...addressErrors(address, `${at}.addresses[${index}]`)),
    );
    notReadyAddresses?.forEach((address, index) =>
      errors.push(...addressErrors(address, `${at}.notReadyAddresses[${index}]`)),
    );
    ports?.forEach((port, index) =>
      errors.push(...endpointPortErrors(port, ports.length > 1, `${at}.ports[${index}]`)),
    );
    return errors;
  });
}

function addressErrors({ ip, hostname, nodeName }: EndpointAddress, at: string): FieldError[] {
  const errors = ipErrors(ip, `${at}.ip`);
  if (hostname) errors.push(...formatErrors(hostname, `${at}.hostname`, dns1123LabelProblems));
  if (nodeName !== undefined)
    errors.push(...formatErrors(nodeName, `${at}.nodeName`, dns1123SubdomainProblems));
  return [...errors, ...ordinaryIpErrors(ip, `${at}.ip`)];
}

function endpointPortErrors(
  { name, port, protocol, appProtocol }: EndpointPort,
  nameNeeded: boolean,
  at: string,
): FieldError[] {
  const errors = name
    ? formatErrors(name, `${at}.name`, dns1123LabelProblems)
    : nameNeeded
      ? [required(`${at}.name`)]
      : [];
  errors.push(...portErrors(port, `${at}.port`), ...oneOf(protocol, `${at}.protocol`, protocols));
  if (appProtocol !== undefined) errors.push(...qualifiedNameErrors(appProtocol, `${at}.appProtocol`));
  return errors;
}

const shown = 3;

/**
 * Formats ready addresses with their ports: `10.0.0.1:80,10.0.0.2:80 + 1 more...`; addresses without ports
 * are shown alone.
 */
function addressesText({ subsets }: Endpoints): string {
  if (!subsets?.length) return "<none>";
  const items = subsets.flatMap(({ addresses, ports }) => {
    const ips = (addresses ?? []).map(({ ip }) => ip);
    return ports?.length ? ports.flatMap(({ port }) => ips.map((ip) => hostAndPort(ip, port))) : ips;
  });
  return firstFew(items, shown, (left) => ` + ${left} more...`);
}

export const endpoints = strategy<Endpoints>({
  resource: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  scope: "Namespaced",
  hub: Endpoints,
  metaChecks: { asNew: 1 },
  storagePath: "services/endpoints",
  createOnUpdate: true,
  validate: errorsOf,
  columns: [
    nameColumn,
    {
      name: "Endpoints",
      type: "string",
      doc: "Addresses and ports of ready endpoints.",
      cell: addressesText,
    },
    ageColumn,
  ],
});
