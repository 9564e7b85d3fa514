// The server's access to stored objects: typed handles for reading, and a writer that acts as the server.
import type {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  EndpointSlice,
  Endpoints,
  FlowSchema,
  IngressClass,
  Lease,
  LimitRange,
  MutatingWebhookConfiguration,
  Namespace,
  Node,
  PersistentVolume,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  PriorityLevelConfiguration,
  ResourceQuota,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  Service,
  ServiceAccount,
  StorageClass,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
} from "#api";
import { admissionChain } from "#admission";
import { ApiError, type Clock, type Selector, deepFreeze, selectEverything } from "#base";
import type { Dialect } from "#dialect";
import type { CachedObject } from "#watchcache";
import { create } from "./create.ts";
import { defaulted } from "./defaulting.ts";
import type { WriteRequest } from "./request.ts";
import type { Endpoint, Resource } from "./resource.ts";
import type { ApiObject, RegistrySettings } from "./strategy.ts";

/** The kinds that the server itself reads or writes, by the name of their handle. */
interface Kinds {
  readonly clusterRoleBindings: ClusterRoleBinding;
  readonly clusterRoles: ClusterRole;
  readonly configMaps: ConfigMap;
  readonly endpointSlices: EndpointSlice;
  readonly endpoints: Endpoints;
  readonly flowSchemas: FlowSchema;
  readonly ingressClasses: IngressClass;
  readonly leases: Lease;
  readonly limitRanges: LimitRange;
  readonly mutatingWebhookConfigurations: MutatingWebhookConfiguration;
  readonly namespaces: Namespace;
  readonly nodes: Node;
  readonly persistentVolumes: PersistentVolume;
  readonly podDisruptionBudgets: PodDisruptionBudget;
  readonly pods: Pod;
  readonly priorityClasses: PriorityClass;
  readonly priorityLevels: PriorityLevelConfiguration;
  readonly resourceQuotas: ResourceQuota;
  readonly roleBindings: RoleBinding;
  readonly roles: Role;
  readonly runtimeClasses: RuntimeClass;
  readonly secrets: Secret;
  readonly serviceAccounts: ServiceAccount;
  readonly services: Service;
  readonly storageClasses: StorageClass;
  readonly validatingAdmissionPolicies: ValidatingAdmissionPolicy;
  readonly validatingAdmissionPolicyBindings: ValidatingAdmissionPolicyBinding;
  readonly validatingWebhookConfigurations: ValidatingWebhookConfiguration;
  readonly volumeAttachments: VolumeAttachment;
}

/** Neutral group and plural name of each kind. */
const ids: Readonly<Record<keyof Kinds, string>> = {
  clusterRoleBindings: "rbac.authorization/clusterrolebindings",
  clusterRoles: "rbac.authorization/clusterroles",
  configMaps: "/configmaps",
  endpointSlices: "discovery/endpointslices",
  endpoints: "/endpoints",
  flowSchemas: "flowcontrol.apiserver/flowschemas",
  ingressClasses: "networking/ingressclasses",
  leases: "coordination/leases",
  limitRanges: "/limitranges",
  mutatingWebhookConfigurations: "admissionregistration/mutatingwebhookconfigurations",
  namespaces: "/namespaces",
  nodes: "/nodes",
  persistentVolumes: "/persistentvolumes",
  podDisruptionBudgets: "policy/poddisruptionbudgets",
  pods: "/pods",
  priorityClasses: "scheduling/priorityclasses",
  priorityLevels: "flowcontrol.apiserver/prioritylevelconfigurations",
  resourceQuotas: "/resourcequotas",
  roleBindings: "rbac.authorization/rolebindings",
  roles: "rbac.authorization/roles",
  runtimeClasses: "node/runtimeclasses",
  secrets: "/secrets",
  serviceAccounts: "/serviceaccounts",
  services: "/services",
  storageClasses: "storage/storageclasses",
  validatingAdmissionPolicies: "admissionregistration/validatingadmissionpolicies",
  validatingAdmissionPolicyBindings: "admissionregistration/validatingadmissionpolicybindings",
  validatingWebhookConfigurations: "admissionregistration/validatingwebhookconfigurations",
  volumeAttachments: "storage/volumeattachments",
};

/**
 * Reads objects of one kind. Keys are those below the resource: `name`, or `namespace/name`. Objects are
 * parsed once per version and shared; callers must not modify them.
 */
export interface ResourceHandle<T> {
  readonly resource: Resource;
  /** The version the server writes. */
  readonly endpoint: Endpoint;
  /** Returns the cached object, or the newest one from the store if none is cached. */
  get(key: string): Promise<T | undefined>;
  getCached(key: string): T | undefined;
  /**
   * Returns all objects in a namespace (`default/`), or in all namespaces, that match the selector; reads the
   * newest state.
   */
  list(below?: string, selector?: Selector): Promise<readonly T[]>;
  /**
   * Returns all cached objects in a namespace, or in all namespaces; the same array until one of them
   * changes.
   */
  listCached(below: string): readonly T[];
}

export type Resources = { readonly [K in keyof Kinds]: ResourceHandle<Kinds[K]> };

/** `apps/deployments`, or `/pods` for the core group, in neutral group names. */
export const resourceId = ({ strategy }: Resource): string =>
  `${strategy.hub.kind.group}/${strategy.resource}`;

export function resourceHandles(all: readonly Resource[]): Resources {
  const byId = new Map(all.map((resource) => [resourceId(resource), resource]));
  const handles = Object.entries(ids).map(([name, id]) => {
    const resource = byId.get(id);
    if (!resource) throw new Error(`there is no resource ${id}`);
    return [name, handleOf(resource)];
  });
  return Object.fromEntries(handles) as Resources;
}

function handleOf<T extends object>(resource: Resource): ResourceHandle<T> {
  const parsed = new WeakMap<CachedObject, object>();
  const read = (cached: CachedObject): T =>
    parsed.getOrInsertComputed(cached, () => deepFreeze(resource.objectOf(cached))) as T;
  let all: { readonly changes: number; readonly objects: readonly T[] } | undefined;
  return {
    resource,
    endpoint: resource.endpoints[0]!,
    get: async (key) => {
      const cached = resource.source.getCached(key) ?? (await resource.source.get(key, { at: "latest" }));
      return cached && read(cached);
    },
    getCached: (key) => {
      const cached = resource.source.getCached(key);
      return cached && read(cached);
    },
    list: async (below = "", selector = selectEverything) => {
      const { items } = await resource.source.list({ below, selector, freshness: { at: "latest" } });
      return items.map(read);
    },
    listCached: (below) => {
      if (below !== "") return resource.source.listCached(below).map(read);
      const changes = resource.source.changeCount();
      if (all?.changes !== changes) all = { changes, objects: resource.source.listCached("").map(read) };
      return all.objects;
    },
  };
}

/** Writes objects on behalf of the server itself. */
export interface ServerWriter {
  request(endpoint: Endpoint, namespace?: string): WriteRequest;
  /** Creates an object unless it exists. */
  ensure(
    endpoint: Endpoint,
    object: Omit<ApiObject, "kind" | "apiVersion"> & Record<string, unknown>,
    manager?: string,
  ): Promise<void>;
}

/** What server components need to read and maintain cluster objects. */
export interface ServerObjects {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly resources: Resources;
  readonly writer: ServerWriter;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

interface WriterOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly settings: RegistrySettings;
}

export function serverWriter({ dialect, clock, settings }: WriterOptions): ServerWriter {
  const admission = admissionChain([]);
  const request = (endpoint: Endpoint, namespace = ""): WriteRequest => ({
    endpoint,
    namespace,
    subresource: "",
    user: { name: "system:apiserver", groups: ["system:masters"] },
    now: new Date(clock.now()),
    dryRun: false,
    manager: dialect.cli.apiServer,
    admission,
    settings,
    options: () => ({}),
    warn: () => undefined,
    annotate: () => undefined,
  });
  return {
    request,
    ensure: async (endpoint, object, manager) => {
      const own = request(endpoint, object.metadata.namespace);
      const writing = manager === undefined ? own : { ...own, manager };
      try {
        await create(
          writing,
          defaulted(writing, { kind: endpoint.kind, apiVersion: endpoint.apiVersion, ...object }),
        );
      } catch (error) {
        if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
      }
    },
  };
}
