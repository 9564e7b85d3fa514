// The downward API: fields of the pod and resource amounts of its containers.
import type { Container, Pod } from "#api";
import { compareQuantity, goQuoted, parseQuantity, quantityMilliValue, quantityValue } from "#base";
import { everyContainerOf, nameOf, namespaceOf, uidOf } from "../pod.ts";

export interface PodAddresses {
  readonly hostIps: readonly string[];
  readonly podIps: readonly string[];
}

/**
 * Returns the value of a field such as metadata.name or metadata.labels['app']; throws for an unsupported
 * path.
 */
export function podField(pod: Pod, path: string, addresses: PodAddresses): string {
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (keyed) return pod.metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2]!] ?? "";
  switch (path) {
    case "metadata.name":
      return nameOf(pod);
    case "metadata.namespace":
      return namespaceOf(pod);
    case "metadata.uid":
      return uidOf(pod);
    case "metadata.labels":
      return mapText(pod.metadata.labels);
    case "metadata.annotations":
      return mapText(pod.metadata.annotations);
    case "spec.nodeName":
      return pod.spec.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec.serviceAccountName ?? "";
    case "status.hostIP":
      return addresses.hostIps[0] ?? "";
    case "status.hostIPs":
      return addresses.hostIps.join(",");
    case "status.podIP":
      return addresses.podIps[0] ?? "";
    case "status.podIPs":
      return addresses.podIps.join(",");
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

/** Formats a map as one `key="value"` pair per line, sorted by key, with values quoted like by Go. */
const mapText = (map: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(map ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${goQuoted(value)}`)
    .join("\n");

/** Resources whose missing limit means the node's allocatable; huge pages are never overcommitted. */
const unlimited: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/**
 * Returns an amount such as limits.cpu in units of the divisor, rounded up. A missing limit defaults to the
 * node's allocatable.
 */
export function resourceField(
  pod: Pod,
  ref: {
    readonly containerName?: string | undefined;
    readonly resource: string;
    readonly divisor?: string | null;
  },
  own: Container | undefined,
  allocatable: Readonly<Record<string, string>>,
): string {
  const container = ref.containerName
    ? everyContainerOf(pod).find(({ name }) => name === ref.containerName)
    : own;
  if (!container) throw new Error(`container ${ref.containerName} not found`);
  const dot = ref.resource.indexOf(".");
  const [kind, name] = [ref.resource.slice(0, dot), ref.resource.slice(dot + 1)];
  if (kind !== "limits" && kind !== "requests")
    throw new Error(`unsupported container resource : ${ref.resource}`);
  const given = container.resources?.[kind]?.[name];
  const isSet = given !== undefined && compareQuantity(parseQuantity(given), parseQuantity("0")) > 0;
  const amount = isSet ? given : kind === "limits" && unlimited.has(name) ? (allocatable[name] ?? "0") : "0";
  const divisor = ref.divisor && ref.divisor !== "0" ? ref.divisor : "1";
  if (name === "cpu")
    return String(
      ceilDivide(quantityMilliValue(parseQuantity(amount)), quantityMilliValue(parseQuantity(divisor))),
    );
  return String(ceilDivide(quantityValue(parseQuantity(amount)), quantityValue(parseQuantity(divisor))));
}

const ceilDivide = (amount: bigint | number, by: bigint | number): bigint => {
  const [a, b] = [BigInt(amount), BigInt(by)];
  return b === 0n ? 0n : (a + b - 1n) / b;
};
