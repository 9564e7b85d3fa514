// Canonical form of Endpoints subsets, grouping ports shared by the same addresses, like RepackSubsets of the
// original.
import type { EndpointSubset } from "#api";
import { inOrder } from "./subset-order.ts";

type Port = NonNullable<EndpointSubset["ports"]>[number];
type Address = NonNullable<EndpointSubset["addresses"]>[number];

/** An address with one of its ports, or without a port. */
export interface AddressPort {
  readonly address: Address;
  readonly port: Port | undefined;
  readonly ready: boolean;
}

/** Identity of an address; two pods may share an IP. */
const idOf = ({ ip, targetRef }: Address): string => `${ip} ${targetRef?.uid ?? ""}`;

const canonicalPort = ({ name, port, protocol, appProtocol }: Port): Port => ({
  ...(name && { name }),
  port,
  protocol: protocol ?? "TCP",
  ...(appProtocol && { appProtocol }),
});

export function repack(offers: Iterable<AddressPort>): EndpointSubset[] {
  const addresses = new Map<string, Address>();
  const byPort = new Map<string, { readonly port: Port | undefined; readonly ready: Map<string, boolean> }>();
  for (const { address, port: given, ready } of offers) {
    const id = idOf(address);
    if (!addresses.has(id)) addresses.set(id, address);
    const port = given && canonicalPort(given);
    const key = JSON.stringify(port ?? null);
    let entry = byPort.get(key);
    if (!entry) byPort.set(key, (entry = { port, ready: new Map() }));
    // An address listed twice is ready only if it is ready both times.
    entry.ready.set(id, ready && (entry.ready.get(id) ?? true));
  }
  const groups = new Map<
    string,
    { readonly ports: Port[]; readonly listed: [id: string, ready: boolean][] }
  >();
  for (const { port, ready } of byPort.values()) {
    const listed = [...ready].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(listed);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { ports: [], listed }));
    if (port) group.ports.push(port);
  }
  return inOrder(
    [...groups.values()].map(({ ports, listed }) => {
      const addressesWith = (wanted: boolean): Address[] =>
        listed.filter(([, ready]) => ready === wanted).map(([id]) => addresses.get(id)!);
      const [ready, notReady] = [addressesWith(true), addressesWith(false)];
      return {
        ...(ready.length > 0 && { addresses: ready }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady }),
        ...(ports.length > 0 && { ports }),
      };
    }),
  );
}

/** Splits subsets into address and port pairs. */
export const addressPortsOf = (subsets: readonly EndpointSubset[]): AddressPort[] =>
  subsets.flatMap(({ addresses, notReadyAddresses, ports }) =>
    (ports?.length ? ports : [undefined]).flatMap((port) => [
      ...(addresses ?? []).map((address) => ({ address, port, ready: true })),
      ...(notReadyAddresses ?? []).map((address) => ({ address, port, ready: false })),
    ]),
  );
