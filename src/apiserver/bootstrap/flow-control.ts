// The default flow schemas and priority levels of a cluster. Mandatory ones are always restored; suggested
// ones only as long as no user has taken them over.
import { isDeepStrictEqual } from "node:util";
import type { FlowSchema, PriorityLevelConfiguration } from "#api";
import { ApiError, deepCopy, selectEverything } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { FlowControl } from "#fairness";
import {
  type ApiObject,
  type Resource,
  applyObject,
  mandatoryFlowSchemas,
  mandatoryLevelsOf,
  remove,
  timestamp,
  update,
  type ServerObjects,
} from "#registry";
import type { CachedObject } from "#watchcache";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";
import { whenChanged } from "./when-changed.ts";

type Level = PriorityLevelConfiguration["spec"];
type Schema = FlowSchema["spec"];
type Rule = NonNullable<Schema["rules"]>[number];
type Subject = NonNullable<Rule["subjects"]>[number];
type ResourceRule = NonNullable<Rule["resourceRules"]>[number];

const limited = (shares: number, lendablePercent: number, queues: number, handSize: number): Level => ({
  type: "Limited",
  limited: {
    nominalConcurrencyShares: shares,
    lendablePercent,
    limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } },
  },
});

export const suggestedPriorityLevels: Readonly<Record<string, Level>> = {
  system: limited(30, 33, 64, 6),
  "node-high": limited(40, 25, 64, 6),
  "leader-election": limited(10, 0, 16, 4),
  "workload-high": limited(40, 50, 128, 6),
  "workload-low": limited(100, 90, 128, 6),
  "global-default": limited(20, 50, 128, 6),
};

const group = (name: string): Subject => ({ kind: "Group", group: { name } });
const user = (name: string): Subject => ({ kind: "User", user: { name } });
const inEveryNamespace = (
  verbs: string[],
  apiGroup: string,
  resources: string[],
  clusterScope = false,
): ResourceRule => ({
  verbs,
  apiGroups: [apiGroup],
  resources,
  ...(clusterScope && { clusterScope }),
  namespaces: ["*"],
});
const everything: Pick<Rule, "resourceRules" | "nonResourceRules"> = {
  resourceRules: [inEveryNamespace(["*"], "*", ["*"], true)],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const allUsers = [group("system:unauthenticated"), group("system:authenticated")];
const election = ["get", "create", "update"];

export function suggestedFlowSchemas(dialect: Dialect): Readonly<Record<string, Schema>> {
  const { names, data } = dialect;
  const leases = groupName(dialect, { group: "coordination", branded: true });
  const systemAccounts = (...accounts: string[]): Subject[] =>
    accounts.map((name) => ({
      kind: "ServiceAccount",
      serviceAccount: { namespace: data.systemNamespace, name },
    }));
  const schema = (
    level: string,
    matchingPrecedence: number,
    flowsBy: "ByUser" | "ByNamespace" | undefined,
    rule: Rule,
  ): Schema => ({
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(flowsBy && { distinguisherMethod: { type: flowsBy } }),
    rules: [rule],
  });
  const leaseRule = inEveryNamespace(election, leases, ["leases"]);
  return {
    "system-nodes": schema("system", 500, "ByUser", { subjects: [group("system:nodes")], ...everything }),
    "system-node-high": schema("node-high", 400, "ByUser", {
      subjects: [group("system:nodes")],
      resourceRules: [
        inEveryNamespace(["*"], "", ["nodes", "nodes/status"], true),
        inEveryNamespace(["*"], leases, ["leases"]),
      ],
    }),
    probes: schema("exempt", 2, undefined, {
      subjects: allUsers,
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    }),
    "system-leader-election": schema("leader-election", 100, "ByUser", {
      subjects: [user(names.users.controllerManager), user(names.users.scheduler), ...systemAccounts("*")],
      resourceRules: [leaseRule],
    }),
    "workload-leader-election": schema("leader-election", 200, "ByUser", {
      subjects: systemAccounts("*"),
      resourceRules: [inEveryNamespace(election, "", ["endpoints", "configmaps"]), leaseRule],
    }),
    "endpoint-controller": schema("workload-high", 150, "ByUser", {
      subjects: [
        user(names.users.controllerManager),
        ...systemAccounts("endpoint-controller", "endpointslicemirroring-controller"),
      ],
      resourceRules: [inEveryNamespace(election, "", ["endpoints"])],
    }),
    [`${data.componentPrefix}controller-manager`]: schema("workload-high", 800, "ByNamespace", {
      subjects: [user(names.users.controllerManager)],
      ...everything,
    }),
    [`${data.componentPrefix}scheduler`]: schema("workload-high", 800, "ByNamespace", {
      subjects: [user(names.users.scheduler)],
      ...everything,
    }),
    [`${data.systemNamespace}-service-accounts`]: schema("workload-high", 900, "ByNamespace", {
      subjects: systemAccounts("*"),
      ...everything,
    }),
    "service-accounts": schema("workload-low", 9000, "ByUser", {
      subjects: [group("system:serviceaccounts")],
      ...everything,
    }),
    "global-default": schema("global-default", 9900, "ByUser", { subjects: allUsers, ...everything }),
  };
}

const bothKinds = ({ resources }: ServerObjects) =>
  [resources.flowSchemas, resources.priorityLevels] as const;

/** Maintains the mandatory and suggested objects of a minor release. */
export function flowControlProducer(server: ServerObjects, release: number): PostStartHook {
  return postStartHook({
    name: "poststarthook/priority-and-fairness-config-producer",
    everyMilliseconds: 60_000,
    reconcile: whenChanged(bothKinds(server), () => reconcileAll(server, release)),
    failed: ({ message: error }) =>
      server.onError("flow control objects could not be reconciled; retrying", { error }),
  });
}

/** Maintains the Dangling condition of each flow schema, which reports whether its priority level exists. */
export function flowControlConsumer(server: ServerObjects): PostStartHook {
  return postStartHook({
    name: "poststarthook/priority-and-fairness-config-consumer",
    everyMilliseconds: 60_000,
    follows: bothKinds(server),
    reconcile: whenChanged(bothKinds(server), () => updateDanglingConditions(server)),
    failed: ({ message: error }) =>
      server.onError("the Dangling conditions of flow schemas could not be updated; retrying", {
        error,
      }),
  });
}

/** Applies the flow control configuration whenever its objects change. */
export function flowControlFilter(server: ServerObjects, flowControl: FlowControl): PostStartHook {
  const { priorityLevels, flowSchemas } = server.resources;
  const named = <S>(object: {
    readonly metadata: { readonly name?: string | undefined; readonly uid?: string | undefined };
    readonly spec: S;
  }): { name: string; uid: string; spec: S } => ({
    name: object.metadata.name ?? "",
    uid: object.metadata.uid ?? "",
    spec: object.spec,
  });
  return postStartHook({
    name: "poststarthook/priority-and-fairness-filter",
    everyMilliseconds: 60_000,
    follows: bothKinds(server),
    reconcile: whenChanged(bothKinds(server), async () => {
      const [levels, schemas] = await Promise.all([priorityLevels.list(), flowSchemas.list()]);
      flowControl.configure(levels.map(named), schemas.map(named));
    }),
    failed: ({ message: error }) => server.onError("cannot read flow control objects; retrying", { error }),
  });
}

async function reconcileAll(server: ServerObjects, release: number): Promise<void> {
  const { dialect } = server;
  const kinds: [
    handle: { readonly resource: Resource },
    mandatory: Readonly<Record<string, unknown>>,
    suggested: Readonly<Record<string, unknown>>,
  ][] = [
    [server.resources.priorityLevels, mandatoryLevelsOf(release), suggestedPriorityLevels],
    [server.resources.flowSchemas, mandatoryFlowSchemas, suggestedFlowSchemas(dialect)],
  ];
  for (const [{ resource }, mandatory, suggested] of kinds) {
    await Promise.all([
      ...Object.entries(suggested).map(([each, spec]) =>
        reconcileObject(server, resource, each, spec, false),
      ),
      ...Object.entries(mandatory).map(([each, spec]) => reconcileObject(server, resource, each, spec, true)),
    ]);
    await removeUnknown(server, resource, new Set([...Object.keys(mandatory), ...Object.keys(suggested)]));
  }
}

/**
 * Removes objects that are marked as managed by the server but are not among the defaults of this release.
 */
async function removeUnknown(
  server: ServerObjects,
  resource: Resource,
  known: ReadonlySet<string>,
): Promise<void> {
  const annotation = server.dialect.names.annotations.flowAutoUpdate;
  const request = { ...server.writer.request(resource.endpoints[0]!), manager };
  for (const cached of resource.source.listCached("")) {
    if (known.has(cached.name)) continue;
    const { metadata } = resource.objectOf(cached);
    if (metadata.annotations?.[annotation] !== "true") continue;
    const preconditions = { uid: metadata.uid!, resourceVersion: metadata.resourceVersion! };
    // An object that changed in the meantime is checked again a minute later.
    await remove(request, metadata.name!, { preconditions }).catch(ignoreNotFoundOrConflict);
  }
}

function ignoreNotFoundOrConflict(error: unknown): void {
  if (!(error instanceof ApiError && ["NotFound", "Conflict"].includes(error.reason))) throw error;
}

const consumer = "api-priority-and-fairness-config-consumer-v1";

async function updateDanglingConditions(server: ServerObjects): Promise<void> {
  const schemas = server.resources.flowSchemas.resource;
  const levels = server.resources.priorityLevels.resource;
  const { items } = await schemas.source.list({
    below: "",
    selector: selectEverything,
    freshness: { at: "latest" },
  });
  const mark = async (cached: CachedObject): Promise<void> => {
    const { metadata, spec, status } = schemas.objectOf(cached) as unknown as FlowSchema;
    const level = spec.priorityLevelConfiguration.name;
    const found = (await levels.source.get(level, { at: "latest" })) !== undefined;
    const condition = {
      type: "Dangling",
      status: found ? "False" : "True",
      reason: found ? "Found" : "NotFound",
      message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" ${found ? "and it exists" : "but there is no such object"}`,
      lastTransitionTime: timestamp(new Date(server.clock.now())),
    };
    const before = status?.conditions?.find(({ type }) => type === condition.type);
    if (before?.status === condition.status && before.message === condition.message) return;
    const endpoint = schemas.endpoints[0]!;
    const request = { ...server.writer.request(endpoint), subresource: "status", manager: consumer };
    const patch = {
      apiVersion: endpoint.apiVersion,
      kind: endpoint.kind,
      metadata: { name: metadata.name },
      status: { conditions: [condition] },
    } as unknown as ApiObject;
    const transform = (old: ApiObject | undefined): Promise<ApiObject> =>
      applyObject(request, old, patch, { name: metadata.name!, force: true });
    // A flow schema that was deleted in the meantime needs no condition.
    await update(request, metadata.name!, { transform, tracked: true }).catch(ignoreNotFound);
  };
  await Promise.all(items.map(mark));
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
}

const manager = "api-priority-and-fairness-config-producer-v1";

type FlowObject = ApiObject & { spec: unknown };

/**
 * The annotation says who maintains a suggested object: the server if it is "true", or if it is missing and
 * the object is unchanged since its creation.
 */
async function reconcileObject(
  server: ServerObjects,
  resource: Resource,
  name: string,
  spec: unknown,
  mandatory: boolean,
): Promise<void> {
  const annotation = server.dialect.names.annotations.flowAutoUpdate;
  const endpoint = resource.endpoints[0]!;
  const cached = await resource.source.get(name, { at: "any" });
  if (!cached) {
    const metadata = { name, creationTimestamp: null, annotations: { [annotation]: "true" } };
    await server.writer.ensure(endpoint, { metadata, spec: deepCopy(spec) }, manager);
    return;
  }
  const { metadata, spec: present } = resource.objectOf(cached) as FlowObject;
  const annotated = metadata.annotations?.[annotation];
  const autoUpdate =
    mandatory ||
    (annotated === "true" || annotated === "false" ? annotated === "true" : metadata.generation === 1);
  const expected = String(autoUpdate);
  const isCurrent = !autoUpdate || isDeepStrictEqual(present, withOwnShares(spec, present));
  if (annotated === expected && isCurrent) return;
  const transform = (old: ApiObject | undefined): ApiObject => {
    const object = old as FlowObject;
    object.metadata.annotations = { ...object.metadata.annotations, [annotation]: expected };
    if (!isCurrent) object.spec = deepCopy(spec);
    return object;
  };
  await update({ ...server.writer.request(endpoint), manager }, name, { transform });
}

/** The shares of the exempt level are those that a user has set, if any. */
function withOwnShares(spec: unknown, present: unknown): unknown {
  const [wanted, found] = [spec as Partial<Level>, present as Partial<Level>];
  return wanted.exempt && found.exempt ? { ...wanted, exempt: found.exempt } : spec;
}
