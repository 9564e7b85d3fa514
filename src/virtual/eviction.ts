// The eviction subresource: deletes a pod if its disruption budget permits.
import { type DeleteOptions, Eviction, type Pod, type PodDisruptionBudget, Status } from "#api";
import {
  ApiError,
  badRequest,
  conflict,
  forbidden,
  fromLabelSelector,
  notFound,
  selectEverything,
  timeout,
  tooManyRequests,
} from "#base";
import {
  type Resource,
  type WriteRequest,
  remove,
  timestamp,
  update,
  validateDeleteOptions,
  type ServerObjects,
} from "#registry";
import type { CachedObject } from "#watchcache";
import type { VirtualResource } from "#endpoints";
import { setCondition } from "./pod-conditions.ts";
import {
  type VirtualContext,
  admissionOf,
  encodeReply,
  decodeRequest,
  created,
  onlyCreate,
} from "./review-request.ts";

const maxAttempts = 20;
const maxDisruptedPods = 2000;
const pods = { group: "", resource: "pods" };

export function evictionEndpoint(server: ServerObjects, context: VirtualContext): VirtualResource {
  return {
    path: "pods/eviction",
    kind: "Eviction",
    kindGroup: { group: "policy", version: "v1" },
    namespaced: true,
    verbs: ["create"],
    handle: async (call) => {
      onlyCreate(call, { namespaced: true, subresource: true });
      const {
        object: eviction,
        options,
        choice,
      } = await decodeRequest<Eviction>(call, context, Eviction, ["v1", "v1beta1"]);
      const { name, namespace } = call.target;
      const admission = admissionOf(call, context, Eviction, options);
      await admission.mutate(eviction);
      if (eviction.metadata.name !== name)
        throw badRequest("name in URL does not match name in Eviction object");
      // The deletion is a dry run if the request is one; admission webhooks see that in the delete options.
      if (options.dryRun && eviction.deleteOptions && !eviction.deleteOptions.dryRun?.length)
        eviction.deleteOptions.dryRun = [...call.query.all("dryRun")];
      const deletion = { ...eviction.deleteOptions };
      const dryRun = options.dryRun || Boolean(deletion.dryRun?.length);
      await admission.validate(eviction);
      await evict(server, { namespace, name, dryRun }, deletion);
      return encodeReply(201, created(), Status, choice, context);
    },
  };
}

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
}

async function evict(server: ServerObjects, target: Target, options: Partial<DeleteOptions>): Promise<void> {
  const resource = server.resources.pods.resource;
  for (let tries = 1; ; tries++) {
    const cached = await resource.source.get(resource.keyOf(target.namespace, target.name), { at: "latest" });
    if (!cached) throw notFound(pods, target.name);
    const pod = resource.objectOf(cached) as unknown as Pod;
    const asGiven = options.preconditions?.resourceVersion === undefined;
    // The decision is based on this revision of the pod: if it changes meanwhile, it is evaluated again.
    const guarded: Partial<DeleteOptions> = {
      ...options,
      preconditions: { ...options.preconditions, resourceVersion: String(cached.revision) },
    };
    const ignoring = ignoresBudgets(pod);
    const budget = ignoring ? undefined : await budgetOf(server, pod);
    const unhealthy = budget !== undefined && mayEvictUnhealthy(pod, budget);
    if (budget && !unhealthy) await takeDisruption(server, budget, target);
    const mustMatch = asGiven && (unhealthy || (ignoring && !isFinished(pod)));
    try {
      return await markAndDelete(server, resource, target, mustMatch ? guarded : options);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409 && mustMatch)) throw error;
      if (unhealthy) throw stillProcessed(budget.metadata.name ?? "");
      if (tries >= maxAttempts) throw error;
    }
  }
}

const isFinished = ({ metadata, status }: Pod): boolean =>
  status.phase === "Succeeded" || status.phase === "Failed" || Boolean(metadata.deletionTimestamp);
/** Pods that are not running yet or any more do not affect a budget. */
const ignoresBudgets = (pod: Pod): boolean => isFinished(pod) || pod.status.phase === "Pending";
const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

/**
 * Reports whether a pod that is not ready may be evicted without being counted, since enough others are
 * healthy.
 */
function mayEvictUnhealthy(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (isReady(pod)) return false;
  return (
    spec.unhealthyPodEvictionPolicy === "AlwaysAllow" ||
    (status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0)
  );
}

async function budgetOf(server: ServerObjects, { metadata }: Pod): Promise<PodDisruptionBudget | undefined> {
  const resource = server.resources.podDisruptionBudgets.resource;
  if (!resource) return undefined;
  const { items } = await resource.source.list({
    below: `${metadata.namespace}/`,
    selector: selectEverything,
    freshness: { at: "latest" },
  });
  const read = (cached: CachedObject): PodDisruptionBudget =>
    resource.objectOf(cached) as unknown as PodDisruptionBudget;
  const found = items
    .map(read)
    .filter(({ spec }) => spec.selector && matches(spec.selector, metadata.labels ?? {}));
  if (found.length > 1)
    throw conflict(
      pods,
      metadata.name ?? "",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  return found[0];
}

function matches(
  selector: NonNullable<PodDisruptionBudget["spec"]["selector"]>,
  labels: Readonly<Record<string, string>>,
): boolean {
  try {
    return fromLabelSelector(selector).matches({ labels, fields: {} });
  } catch {
    return false; // A malformed selector matches nothing.
  }
}

const refusedFor = (why: string, retryAfterSeconds: number): ApiError => {
  const error = tooManyRequests(
    "Cannot evict pod as it would violate the pod's disruption budget.",
    retryAfterSeconds,
  );
  return new ApiError(error.code, error.reason, error.message, {
    ...(retryAfterSeconds && { retryAfterSeconds }),
    causes: [{ reason: "DisruptionBudget", message: why }],
  });
};
const stillProcessed = (name: string): ApiError =>
  refusedFor(`The disruption budget ${name} is still being processed by the server.`, 10);

/** Takes one disruption from the budget, if any is left. Retries if the budget changed meanwhile. */
async function takeDisruption(
  server: ServerObjects,
  budget: PodDisruptionBudget,
  { namespace, name: pod, dryRun }: Target,
): Promise<void> {
  const resource = server.resources.podDisruptionBudgets.resource;
  const name = budget.metadata.name ?? "";
  const now = timestamp(new Date(server.clock.now()));
  const request: WriteRequest = {
    ...server.writer.request(resource.endpoints[0]!, namespace),
    subresource: "status",
    dryRun,
  };
  let tries = 0;
  await update(request, name, {
    transform: (old) => {
      if (!old) throw notFound(resource.nameIn(resource.endpoints[0]!), name);
      if (++tries > maxAttempts)
        throw timeout(`couldn't update PodDisruptionBudget "${name}" due to conflicts`, 10);
      const next = old as unknown as PodDisruptionBudget;
      checkBudget(next);
      const { status } = next;
      status.disruptionsAllowed--;
      if (status.disruptionsAllowed === 0) setExhausted(next, now);
      if (!dryRun) status.disruptedPods = { ...status.disruptedPods, [pod]: now };
      return old;
    },
  });
}

function checkBudget({ metadata, status }: PodDisruptionBudget): void {
  const name = metadata.name ?? "";
  const budgets = { group: "policy", resource: "poddisruptionbudget" };
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw stillProcessed(name);
  if (status.disruptionsAllowed < 0) throw forbidden(budgets, name, "pdb disruptions allowed is negative");
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods)
    throw forbidden(
      budgets,
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  if (status.disruptionsAllowed === 0)
    throw refusedFor(
      `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`,
      0,
    );
}

function setExhausted({ status }: PodDisruptionBudget, now: string): void {
  const old = status.conditions?.find(({ type }) => type === "DisruptionAllowed");
  const next = {
    type: "DisruptionAllowed",
    status: "False",
    observedGeneration: status.observedGeneration,
    lastTransitionTime: old?.status === "False" ? old.lastTransitionTime : now,
    reason: "InsufficientPods",
    message: "",
  };
  status.conditions = old
    ? status.conditions!.map((each) => (each === old ? next : each))
    : [...(status.conditions ?? []), next];
}

/** Records the reason in a condition of the pod, then deletes it. */
async function markAndDelete(
  server: ServerObjects,
  resource: Resource,
  { namespace, name, dryRun }: Target,
  options: Partial<DeleteOptions>,
): Promise<void> {
  const request: WriteRequest = { ...server.writer.request(resource.endpoints[0]!, namespace), dryRun };
  const { dryRun: _dryRun, ...deletion } = options;
  if (dryRun || request.settings.disruptionConditions === false) {
    validateDeleteOptions(request, options);
    await remove(request, name, deletion);
    return;
  }
  const revision = await mark(server, resource, namespace, name, options);
  const { preconditions } = deletion;
  validateDeleteOptions(request, options);
  const moved =
    preconditions?.resourceVersion === undefined
      ? preconditions
      : { ...preconditions, resourceVersion: String(revision) };
  await remove(request, name, { ...deletion, ...(moved && { preconditions: moved }) });
}

/**
 * Writes the condition after checking the preconditions of the deletion, and returns the pod's new revision.
 */
async function mark(
  server: ServerObjects,
  resource: Resource,
  namespace: string,
  name: string,
  { preconditions }: Partial<DeleteOptions>,
): Promise<number> {
  const key = resource.keyOf(namespace, name);
  const kind = { group: "", resource: "Pod" };
  for (;;) {
    const cached = await resource.source.get(key, { at: "latest" });
    if (!cached) throw notFound(pods, name);
    const pod = resource.objectOf(cached) as unknown as Pod;
    const { uid, resourceVersion } = preconditions ?? {};
    if (uid && uid !== pod.metadata.uid)
      throw conflict(
        kind,
        name,
        `the UID in the precondition (${uid}) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
      );
    if (resourceVersion && resourceVersion !== String(cached.revision))
      throw conflict(
        kind,
        name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${cached.revision}). The object might have been modified`,
      );
    setCondition(
      pod,
      {
        type: "DisruptionTarget",
        status: "True",
        reason: "EvictionByEvictionAPI",
        message: "Eviction API: evicting",
      },
      timestamp(new Date(server.clock.now())),
    );
    const outcome = await resource.write({ key, value: resource.encode(pod).value, expect: cached.revision });
    if (outcome.done) return outcome.revision;
  }
}
