// Endpoint slices: the addresses of a service, in chunks of limited size.
import { type Endpoint, EndpointSlice, type SliceEndpointPort } from "#api";
import { type FieldError, duplicate, invalidValue, own, required, tooMany } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { firstFew } from "./cells/text.ts";
import { ipv4Errors, ipv6Errors, ordinaryIpErrors } from "./rules/address.ts";
import { formatErrors, labelValueErrors, qualifiedNameErrors } from "./rules/format.ts";
import { oneOf, supported } from "./rules/one-of.ts";
import { same, unchanged } from "./rules/unchanged.ts";

const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxZones = 8;

/** Validates a domain name of at least two labels; a trailing dot is allowed. */
function domainErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const plain = name.replace(/\.$/, "");
  const errors = formatErrors(plain, field, dns1123SubdomainProblems);
  if (errors.length > 0) return errors;
  if (!plain.includes("."))
    return [invalidValue(field, name, "should be a domain with at least two segments separated by dots")];
  return plain.split(".").flatMap((part) => formatErrors(part, field, dns1123LabelProblems));
}

const addressRules: Readonly<Record<string, (text: string, field: string) => FieldError[]>> = {
  IPv4: (text, field) => [...ipv4Errors(text, field), ...ordinaryIpErrors(text, field)],
  IPv6: (text, field) => [...ipv6Errors(text, field), ...ordinaryIpErrors(text, field)],
  FQDN: domainErrors,
};

function endpointErrors(
  { addresses, nodeName, hostname, hints }: Endpoint,
  type: string,
  at: string,
): FieldError[] {
  const count = addresses?.length ?? 0;
  const errors: FieldError[] =
    count === 0
      ? [required(`${at}.addresses`, "must contain at least 1 address")]
      : count > maxAddresses
        ? [tooMany(`${at}.addresses`, count, maxAddresses)]
        : [];
  addresses?.forEach((address, position) =>
    errors.push(...(own(addressRules, type)?.(address, `${at}.addresses[${position}]`) ?? [])),
  );
  if (nodeName !== undefined)
    errors.push(...formatErrors(nodeName, `${at}.nodeName`, dns1123SubdomainProblems));
  if (hostname !== undefined) errors.push(...formatErrors(hostname, `${at}.hostname`, dns1123LabelProblems));
  const zones = hints?.forZones ?? [];
  if (zones.length > maxZones) return [...errors, tooMany(`${at}.hints.forZones`, zones.length, maxZones)];
  const names = zones.map(({ name }) => name);
  names.forEach((name, position) => {
    const field = `${at}.hints.forZones[${position}].name`;
    if (names.indexOf(name) < position) errors.push(duplicate(field, name));
    errors.push(...labelValueErrors(name, field));
  });
  return errors;
}

function slicePortErrors(ports: readonly SliceEndpointPort[]): FieldError[] {
  if (ports.length > maxPorts) return [tooMany("ports", ports.length, maxPorts)];
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol, appProtocol }, position) => {
    const at = `ports[${position}]`;
    const errors = name ? formatErrors(name, `${at}.name`, dns1123LabelProblems) : [];
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    errors.push(
      ...(protocol === undefined
        ? [required(`${at}.protocol`)]
        : supported(protocol, `${at}.protocol`, ["SCTP", "TCP", "UDP"])),
    );
    return appProtocol === undefined
      ? errors
      : [...errors, ...qualifiedNameErrors(appProtocol, `${at}.appProtocol`)];
  });
}

function errorsOf({ addressType, endpoints, ports }: EndpointSlice): FieldError[] {
  const errors = oneOf(addressType, "addressType", ["FQDN", "IPv4", "IPv6"]);
  const count = endpoints?.length ?? 0;
  if (count > maxEndpoints) errors.push(tooMany("endpoints", count, maxEndpoints));
  else
    endpoints?.forEach((endpoint, position) =>
      errors.push(...endpointErrors(endpoint, addressType, `endpoints[${position}]`)),
    );
  return [...errors, ...slicePortErrors(ports ?? [])];
}

function forgetTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

const shown = 3;
const listText = (items: readonly string[]): string =>
  items.length === 0 ? "<unset>" : firstFew(items, shown, (left) => ` + ${left} more...`);

export const endpointSlice = strategy<EndpointSlice>({
  resource: "endpointslices",
  singular: "endpointslice",
  scope: "Namespaced",
  hub: EndpointSlice,
  generation: true,
  metaChecks: { asNew: 1, asChange: 0 },
  prepareForCreate: forgetTopology,
  prepareForUpdate: (obj, old) => {
    const changed = !same(obj.endpoints, old.endpoints);
    if (changed) forgetTopology(obj);
    // Labels name the service of the slice, so a change of them increments the generation; so does a
    // deprecated topology that is dropped.
    if (changed || !same(obj.metadata.labels, old.metadata.labels))
      obj.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate: errorsOf,
  validateUpdate: (obj, old) => [
    ...errorsOf(obj),
    ...unchanged(obj.addressType, old.addressType, "addressType"),
  ],
  warnings: ({ addressType }, old) =>
    !old && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [],
  columns: [
    nameColumn,
    {
      name: "AddressType",
      type: "string",
      doc: "Address type: IPv4, IPv6 or FQDN.",
      cell: ({ addressType }: EndpointSlice) => addressType,
    },
    {
      name: "Ports",
      type: "string",
      doc: "Ports of the endpoints.",
      cell: ({ ports }: EndpointSlice) =>
        listText((ports ?? []).map(({ port, name }) => String(port ?? name ?? "*"))),
    },
    {
      name: "Endpoints",
      type: "string",
      doc: "Addresses of the endpoints.",
      cell: ({ endpoints }: EndpointSlice) =>
        listText((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    },
    ageColumn,
  ],
});
