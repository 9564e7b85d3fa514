// Order of ports and subsets of Endpoints: by the MD5 of their text in Go's notation, as in RepackSubsets of
// the original. The order has no meaning, but it is visible when Endpoints are compared or printed.
import { createHash } from "node:crypto";
import type { EndpointSubset } from "#api";

type Port = NonNullable<EndpointSubset["ports"]>[number];
type Address = NonNullable<EndpointSubset["addresses"]>[number];

/** Returns the subsets in order, each with its ports in order. */
export const inOrder = (subsets: readonly EndpointSubset[]): EndpointSubset[] =>
  byHash(
    subsets.map((subset) => ({ ...subset, ...(subset.ports && { ports: byHash(subset.ports, portText) }) })),
    subsetText,
  );

function byHash<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  return items
    .map((item) => ({
      item,
      hash: createHash("md5").update(textOf(item)).digest("hex"),
    }))
    .toSorted((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
    .map(({ item }) => item);
}

const portText = (port: Port): string => `(v1.EndpointPort)${portFields(port)}`;

const portFields = ({ name = "", port, protocol, appProtocol }: Port): string =>
  `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol ?? ""} AppProtocol:(*string)${appProtocol ?? "<nil>"}}`;

const addressFields = ({ ip, hostname = "", nodeName, targetRef }: Address): string =>
  `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${nodeName ?? "<nil>"} TargetRef:(*v1.ObjectReference)${targetRef ? referenceFields(targetRef) : "<nil>"}}`;

const referenceFields = (of: NonNullable<Address["targetRef"]>): string =>
  `{Kind:(string)${of.kind ?? ""} Namespace:(string)${of.namespace ?? ""} Name:(string)${of.name ?? ""} UID:(types.UID)${of.uid ?? ""} APIVersion:(string)${of.apiVersion ?? ""} ResourceVersion:(string)${of.resourceVersion ?? ""} FieldPath:(string)${of.fieldPath ?? ""}}`;

const subsetText = ({ addresses, notReadyAddresses, ports }: EndpointSubset): string =>
  `(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)${listText(addresses, addressFields)} NotReadyAddresses:([]v1.EndpointAddress)${listText(notReadyAddresses, addressFields)} Ports:([]v1.EndpointPort)${listText(ports, portFields)}}`;

const listText = <T>(items: readonly T[] | undefined, fieldsOf: (item: T) => string): string =>
  items?.length ? `[${items.map(fieldsOf).join(" ")}]` : "<nil>";
