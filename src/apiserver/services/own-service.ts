// The service through which pods reach this server: the first of the service addresses, and this server's port behind it.
import type { Service } from "#api";
import { type ApiObject, update } from "#registry";
import { ensure, ownRequest } from "../bootstrap.ts";
import type { Core } from "../server.ts";
import type { ApiserverSettings } from "../settings-of.ts";

type OwnSettings = Pick<ApiserverSettings, "endpointReconcilerType" | "securePort" | "orchServiceNodePort">;

/** Makes the service unless it is there, and points it to the port of today. */
export async function bootstrapOwnService(core: Core, { endpointReconcilerType, securePort, orchServiceNodePort: nodePort }: OwnSettings, address: string): Promise<void> {
  if (endpointReconcilerType === "none") return;
  const name = core.options.dialect.data.apiService;
  const resource = core.resources.get("/services")!;
  const endpoint = resource.endpoints[0]!;
  // A server that takes any free port knows it only later; nothing in the cluster relies on such a server.
  const targetPort = securePort || 443;
  const ports = [{ name: "https", protocol: "TCP", port: 443, targetPort, ...(nodePort > 0 && { nodePort }) }];
  const type = nodePort > 0 ? "NodePort" : "ClusterIP";
  const held = await resource.source.get(resource.keyOf("default", name), { at: "latest" });
  if (!held) {
    const metadata = { name, namespace: "default", creationTimestamp: null, labels: { component: "apiserver", provider: core.options.dialect.cli.product } };
    await ensure(core, endpoint, { metadata, spec: { clusterIP: address, ports, sessionAffinity: "None", type } });
    return;
  }
  const { spec } = resource.objectOf(held) as unknown as Service;
  const [first] = spec.ports ?? [];
  if (spec.ports?.length === 1 && first!.targetPort === targetPort && spec.type === type && (first!.nodePort ?? 0) === nodePort) return;
  await update(ownRequest(core, endpoint, "default"), name, { transform: (old) => ({ ...old!, spec: { ...(old as unknown as Service).spec, type, ports } }) as ApiObject });
}
