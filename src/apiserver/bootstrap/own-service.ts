// The service through which pods reach this server: the first service IP, with this server's port behind it.
// The same hook keeps the stored allocations of service IPs and node ports in line with the services.
import type { Service } from "#api";
import { type ApiObject, update, type ServerObjects } from "#registry";
import { ensureNamespace } from "./namespaces.ts";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import { rangeAllocations } from "../services/range-allocations.ts";
import { defaultRange } from "../services/service-allocator.ts";

type OwnSettings = Pick<
  ApiserverSettings,
  | "securePort"
  | "orchServiceNodePort"
  | "serviceClusterIpRange"
  | "serviceNodePortRange"
  | "storePrefix"
  | "storageMediaType"
>;

/**
 * Creates the service and its namespace if they are missing. At start it also updates the service to the
 * current port.
 */
export function ownService(server: ServerObjects, settings: OwnSettings, address: string): PostStartHook {
  const writeRanges = rangesOf(server, settings);
  let first = true;
  return postStartHook({
    name: "poststarthook/bootstrap-controller",
    everyMilliseconds: 10_000,
    reconcile: async () => {
      await ensureNamespace(server, "default");
      await ensureService(server, settings, address, first);
      first = false;
      await writeRanges();
    },
    failed: ({ message: error }) =>
      server.onError("the server's own service could not be reconciled; retrying", { error }),
  });
}

function rangesOf({ dialect, resources }: ServerObjects, settings: OwnSettings): () => Promise<void> {
  const { serviceClusterIpRange: ranges } = settings;
  return rangeAllocations({
    services: resources.services.resource,
    dialect,
    storePrefix: settings.storePrefix,
    media: settings.storageMediaType === dialect.wire.protobufMediaType ? "protobuf" : "json",
    ranges: ranges.length > 0 ? ranges : [defaultRange],
    ports: settings.serviceNodePortRange,
  });
}

async function ensureService(
  server: ServerObjects,
  { securePort, orchServiceNodePort: nodePort }: OwnSettings,
  address: string,
  first: boolean,
): Promise<void> {
  const name = server.dialect.data.apiService;
  const resource = server.resources.services.resource;
  const endpoint = resource.endpoints[0]!;
  // With a port chosen by the system the number is not known yet; nothing in the cluster relies on such a
  // server.
  const targetPort = securePort || 443;
  const ports = [
    { name: "https", protocol: "TCP", port: 443, targetPort, ...(nodePort > 0 && { nodePort }) },
  ];
  const type = nodePort > 0 ? "NodePort" : "ClusterIP";
  const cached = await resource.source.get(resource.keyOf("default", name), { at: "latest" });
  if (!cached) {
    const metadata = {
      name,
      namespace: "default",
      creationTimestamp: null,
      labels: { component: "apiserver", provider: server.dialect.cli.product },
    };
    await server.writer.ensure(endpoint, {
      metadata,
      spec: { clusterIP: address, ipFamilyPolicy: "SingleStack", ports, sessionAffinity: "None", type },
    });
    return;
  }
  if (!first) return;
  const { spec } = resource.objectOf(cached) as unknown as Service;
  const [port] = spec.ports ?? [];
  if (
    spec.ports?.length === 1 &&
    port!.targetPort === targetPort &&
    spec.type === type &&
    (port!.nodePort ?? 0) === nodePort
  )
    return;
  await update(server.writer.request(endpoint, "default"), name, {
    transform: (old) =>
      ({ ...old!, spec: { ...(old as unknown as Service).spec, type, ports } }) as ApiObject,
  });
}
