// Services. Addresses and node ports are allocated from a pool, if the server has one.
import { type WriteState, slot } from "#admission";
import { Service, type ServiceSpec } from "#api";
import { type FieldError, forbiddenField } from "#base";
import { dns1035Label } from "../names.ts";
import { type RequestContext, type PendingReservations, type Strategy, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { joined, labelsText, orNone } from "./cells/text.ts";
import { statusPart } from "./parts.ts";
import { addressWarnings, blockWarnings } from "./rules/address-warnings.ts";
import { addressChangeErrors } from "./service-addresses.ts";
import { type Family, restoreFamilies, resolveFamilies } from "./service-families.ts";
import {
  alignAddresses,
  dropInsidePolicy,
  dropUnusedAllocations,
  keepAllocated,
  needsHealthCheck,
  serviceDefaults,
} from "./service-fields.ts";
import { balancerStatusErrors, classChangeErrors, serviceErrors } from "./service-rules.ts";

/** Allocation errors, for the validation that follows. */
const unavailable = slot<FieldError[]>("unavailable");
/** The spec as it was requested, before anything was allocated into it. */
const requestedSpec = slot<ServiceSpec>("requestedSpec");

/** Allocates cluster IPs and node ports. Without an allocator, services get only what they request. */
export interface ServiceAllocator {
  readonly families: readonly [Family, ...Family[]];
  /**
   * Assigns available addresses and node ports to the service and returns errors for requested ones that are
   * not available. A dry run checks less, as in kube-apiserver: addresses may be in use, ports out of range.
   */
  allocate(service: Service, old: Service | undefined, state: WriteState, dryRun: boolean): FieldError[];
  /**
   * Reserves what was allocated; "lost" if another writer reserved it first. The caller then allocates again:
   * the pool has recorded what this service cannot have.
   */
  secure?(
    service: Service,
    old: Service | undefined,
    state: WriteState,
  ): Promise<PendingReservations | "lost" | "nothing to secure">;
  /** Waits until all allocations and releases so far are known. */
  refresh?(): Promise<void>;
}

function settle(
  service: Service,
  old: Service | undefined,
  pool: ServiceAllocator | undefined,
  { state, dryRun }: Pick<RequestContext, "state" | "dryRun">,
): FieldError[] {
  if (old) keepAllocated(service.spec, old.spec);
  alignAddresses(service.spec, old?.spec);
  const errors = resolveFamilies(service.spec, old?.spec, pool?.families ?? ["IPv4"]);
  return errors.length > 0 ? errors : (pool?.allocate(service, old, state, dryRun) ?? []);
}

function changeErrors({ spec }: Service, { spec: old }: Service): FieldError[] {
  const errors = [...addressChangeErrors(spec, old), ...classChangeErrors(spec, old)];
  const moved =
    needsHealthCheck(spec) && needsHealthCheck(old) && spec.healthCheckNodePort !== old.healthCheckNodePort;
  return moved ? [...errors, forbiddenField("spec.healthCheckNodePort", "field is immutable")] : errors;
}

function warningsOf({ metadata, spec }: Service, { dialect }: RequestContext): string[] {
  const { topologyHints, topologyMode } = dialect.names.annotations;
  const warnings =
    metadata.annotations?.[topologyHints] === undefined
      ? []
      : [`annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`];
  if (spec.clusterIP !== "None")
    spec.clusterIPs?.forEach((ip, position) =>
      warnings.push(...addressWarnings(ip, `spec.clusterIPs[${position}]`)),
    );
  spec.externalIPs?.forEach((ip, position) =>
    warnings.push(...addressWarnings(ip, `spec.externalIPs[${position}]`)),
  );
  if (spec.loadBalancerIP) warnings.push(...addressWarnings(spec.loadBalancerIP, "spec.loadBalancerIP"));
  spec.loadBalancerSourceRanges?.forEach((range, position) =>
    warnings.push(...blockWarnings(range, `spec.loadBalancerSourceRanges[${position}]`)),
  );
  return warnings;
}

function outsideText({ spec, status }: Service): string {
  const own = spec.externalIPs ?? [];
  switch (spec.type) {
    case "ClusterIP":
    case "NodePort":
      return orNone(joined(own));
    case "LoadBalancer": {
      const ways = [
        ...new Set(
          (status.loadBalancer.ingress ?? [])
            .map(({ ip, hostname }) => ip || hostname || "")
            .filter((way) => way !== ""),
        ),
      ].toSorted();
      return joined([...ways, ...own]) || "<pending>";
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

const portsText = ({ spec }: Service): string =>
  orNone(
    joined(
      (spec.ports ?? []).map(({ port, nodePort, protocol }) =>
        nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
      ),
    ),
  );

/** Returns the strategy of services for a server with the given pool. */
export function serviceWith(pool?: ServiceAllocator): Strategy {
  const provide = (obj: Service, old: Service | undefined, ctx: RequestContext): void => {
    ctx.state.set(unavailable, settle(obj, old, pool, ctx));
    if (old) dropUnusedAllocations(obj, old);
  };
  return strategy<Service>({
    resource: "services",
    singular: "service",
    shortNames: ["svc"],
    categories: ["all"],
    scope: "Namespaced",
    hub: Service,
    metaChecks: { asNew: 1 },
    storagePath: "services/specs",
    createOnUpdate: true,
    status: "cleared",
    returnsDeleted: true,
    validateName: dns1035Label,
    defaults: serviceDefaults,
    restore: ({ spec }) => {
      alignAddresses(spec, undefined);
      restoreFamilies(spec, pool?.families[0] ?? "IPv4");
      if (spec.type === "ExternalName") delete spec.internalTrafficPolicy;
    },
    beforeCreate: async () => await pool?.refresh?.(),
    prepareForCreate: (obj, ctx) => {
      obj.status = { loadBalancer: {} };
      if (obj.spec.type === "ExternalName") dropInsidePolicy(obj.spec);
      if (pool?.secure) ctx.state.set(requestedSpec, structuredClone(obj.spec));
      provide(obj, undefined, ctx);
    },
    prepareForUpdate: (obj, old, ctx) => {
      if (pool?.secure) ctx.state.set(requestedSpec, structuredClone(obj.spec));
      provide(obj, old, ctx);
    },
    reserve: async (obj, old, ctx) => {
      while (pool?.secure && ctx.state.get(unavailable)!.length === 0) {
        const share = await pool.secure(obj, old, ctx.state);
        if (share !== "lost") return share === "nothing to secure" ? undefined : share;
        obj.spec = structuredClone(ctx.state.get(requestedSpec)!);
        provide(obj, old, ctx);
      }
      return undefined;
    },
    // A service is validated as a whole only if its allocation succeeded.
    precheck: (_obj, _old, { state }) => state.get(unavailable) ?? [],
    validate: (obj, { dialect }) => serviceErrors(obj, dialect, pool !== undefined),
    validateUpdate: (obj, old, { dialect }) => [
      ...changeErrors(obj, old),
      ...serviceErrors(obj, dialect, pool !== undefined),
    ],
    warnings: (obj, _old, ctx) => warningsOf(obj, ctx),
    subresources: {
      status: statusPart(({ spec, status: { loadBalancer } }, _old, { settings }) =>
        settings.ownBalancerStatus && spec.type !== "LoadBalancer" && loadBalancer.ingress?.length
          ? [
              forbiddenField(
                "status.loadBalancer.ingress",
                "may only be used when `spec.type` is 'LoadBalancer'",
              ),
            ]
          : balancerStatusErrors(loadBalancer, "status.loadBalancer", settings.balancerModes),
      ),
    },
    columns: [
      nameColumn,
      {
        name: "Type",
        type: "string",
        doc: "Type of the service.",
        cell: ({ spec }: Service) => spec.type ?? "",
      },
      {
        name: "Cluster-IP",
        type: "string",
        doc: "Cluster IP of the service.",
        cell: ({ spec }: Service) => spec.clusterIPs?.[0] ?? "<none>",
      },
      { name: "External-IP", type: "string", doc: "External addresses of the service.", cell: outsideText },
      { name: "Port(s)", type: "string", doc: "Ports of the service.", cell: portsText },
      ageColumn,
      {
        name: "Selector",
        type: "string",
        priority: 1,
        doc: "Label selector of the backing pods.",
        cell: ({ spec }: Service) => orNone(labelsText(spec.selector)),
      },
    ],
  });
}

export const service = serviceWith();
