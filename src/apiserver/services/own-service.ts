// The service through which pods reach this server: the first of the service addresses, and this server's
// port behind it.
import type { Service } from "#api";
import { type ApiObject, update } from "#registry";
import { ensure, ensureNamespace, ownRequest } from "../bootstrap.ts";
import { type PostStartHook, postStartHook } from "../lifecycle/upkeep.ts";
import type { Core } from "../server.ts";
import type { ApiserverSettings } from "../settings-of.ts";

type OwnSettings = Pick<ApiserverSettings, "securePort" | "orchServiceNodePort">;

/**
 * Makes the service, and the namespace it is in, whenever they are not there. A start points it to the port
 * of today, too.
 */
export function ownService(core: Core, settings: OwnSettings, address: string): PostStartHook {
  let first = true;
  return postStartHook({
    name: "poststarthook/bootstrap-controller",
    everyMilliseconds: 10_000,
    look: async () => {
      await ensureNamespace(core, "default");
      await ensureService(core, settings, address, first);
      first = false;
    },
    failed: ({ message: error }) =>
      core.options.onError("the server's own service could not be made; it is tried again", { error }),
  });
}

async function ensureService(
  core: Core,
  { securePort, orchServiceNodePort: nodePort }: OwnSettings,
  address: string,
  first: boolean,
): Promise<void> {
  const name = core.options.dialect.data.apiService;
  const resource = core.resources.get("/services")!;
  const endpoint = resource.endpoints[0]!;
  // A server that takes any free port knows it only later; nothing in the cluster relies on such a server.
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
      labels: { component: "apiserver", provider: core.options.dialect.cli.product },
    };
    await ensure(core, endpoint, {
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
  await update(ownRequest(core, endpoint, "default"), name, {
    transform: (old) =>
      ({ ...old!, spec: { ...(old as unknown as Service).spec, type, ports } }) as ApiObject,
  });
}
