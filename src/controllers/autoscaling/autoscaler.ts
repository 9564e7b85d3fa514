// HorizontalPodAutoscaler: computes desired replicas from metrics, applies bounds and rate limits, and scales
// the target.
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus, MetricSpec, MetricStatus } from "#api";
import { timeOfMillis } from "#base";
import { type AnyObject, type ApiClient, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type ResourceOfKind,
  queueFor,
  recorderFor,
  resourceOfKind,
  writeStatus,
} from "#controllerkit";
import { type SeenPod, keyOf, splitKey } from "../pods.ts";
import { type ErrorKind, type ScaleAction, autoscalerMetrics, scaleAction } from "./autoscaler-metrics.ts";
import { type Limited, type ScaleHistory, limitReplicas } from "./behavior.ts";
import {
  type AutoscalerSettings,
  MetricError,
  type MetricInput,
  defaultAutoscalerSettings,
  externalMetric,
  objectMetric,
  podsMetric,
  resourceMetric,
} from "./metric-sources.ts";
import { metricsClient } from "./metrics-client.ts";
import { TargetSelectors } from "./target-selectors.ts";

type SeenAutoscaler = HorizontalPodAutoscaler & AnyObject;

interface Scale extends AnyObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

interface Computed {
  readonly replicas: number;
  readonly statuses: readonly MetricStatus[];
  readonly metric: string;
  readonly failures: readonly MetricFailure[];
}

/** What a reconciliation did, for the metrics. */
interface Outcome {
  readonly action: ScaleAction;
  readonly error: ErrorKind;
}

interface MetricFailure {
  /** Reason of the event and condition; empty for a metric type that is disabled, which has neither. */
  readonly reason: string;
  readonly message: string;
  /** The message including which metric failed. */
  readonly text: string;
}

const disabledText = "ContainerResource metric type is not supported: disabled by the feature gate";

/** Returns the name of a metric as it precedes the error: `cpu resource metric value`. */
function sourceName({ type, resource, containerResource, external, object }: MetricSpec): string {
  if (resource) return `${resource.name} resource metric value`;
  if (containerResource) return `${containerResource.container} container metric value`;
  if (external) {
    const { name } = external.metric;
    const step = external.target.averageValue ? `${name} external metric` : `external metric ${name}`;
    return `${name} external metric value: failed to get ${step}`;
  }
  return object?.target.averageValue
    ? `object metric value: failed to get ${object.metric.name} object metric`
    : `${type.toLowerCase()} metric value`;
}

export function autoscalerController(
  context: ControllerContext,
  settings: AutoscalerSettings = defaultAutoscalerSettings,
): Controller {
  const { client, clock, view, gates } = context;
  const events = recorderFor(context, "horizontal-pod-autoscaler");
  const own = autoscalerMetrics(context.metrics);
  const kindResource = resourceOfKind(client, clock);
  const metrics = metricsClient(client, kindResource, clock);
  const resource = client.of(kinds.horizontalPodAutoscalers);
  const histories = new Map<string, ScaleHistory>();
  const targets = new TargetSelectors();
  // A failed sync is repeated after the usual period, neither earlier nor with increasing delays.
  const queue = queueFor(context, "horizontalpodautoscaler", sync, {
    baseDelayMilliseconds: settings.syncMilliseconds,
    maxDelayMilliseconds: settings.syncMilliseconds,
  });
  const autoscalers = view.follow(kinds.horizontalPodAutoscalers, ({ type, object }) => {
    if (type === "deleted") {
      histories.delete(keyOf(object));
      targets.forget(keyOf(object));
    }
    // Delayed, so that an autoscaler that is deleted right after its creation does not act.
    else queue.addAfter(keyOf(object), settings.syncMilliseconds);
  });
  const pods = view.follow(kinds.pods);
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const autoscaler = autoscalers.get(namespace, name);
    if (!autoscaler) return;
    const startedAt = clock.now();
    const state = new AutoscalerStatus(autoscaler, startedAt);
    let outcome: Outcome = { action: "none", error: "internal" };
    try {
      outcome = await reconcile(key, autoscaler, state);
    } finally {
      own.reconciled(outcome.action, outcome.error, (clock.now() - startedAt) / 1000);
      await writeStatus(resource, autoscaler, state.build());
    }
    return { requeueAfterMilliseconds: settings.syncMilliseconds };
  }

  async function reconcile(
    key: string,
    autoscaler: SeenAutoscaler,
    state: AutoscalerStatus,
  ): Promise<Outcome> {
    const { spec, metadata } = autoscaler;
    let found: { readonly scale: Scale; readonly path: string };
    try {
      found = await scaleOf({ client, kindResource }, spec.scaleTargetRef, metadata.namespace!);
    } catch (error) {
      const { message } = error as Error;
      events.event(autoscaler, "Warning", "FailedGetScale", message);
      state.set(
        "AbleToScale",
        "False",
        "FailedGetScale",
        `the HPA controller was unable to get the target's current scale: ${message}`,
      );
      const isMalformed = (spec.scaleTargetRef.apiVersion ?? "").split("/").length > 2;
      return { action: "none", error: isMalformed ? "spec" : "internal" };
    }
    state.set(
      "AbleToScale",
      "True",
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    );
    const { scale, path } = found;
    const current = scale.spec?.replicas ?? 0;
    state.currentReplicas = current;
    const history = histories.get(key) ?? {
      recommendations: [{ at: clock.monotonic(), value: current }],
      added: [],
      removed: [],
    };
    histories.set(key, history);
    const [min, max] = [spec.minReplicas ?? 1, spec.maxReplicas];
    let metrics: readonly MetricStatus[] = [];
    if (current === 0 && min !== 0) {
      [state.desiredReplicas, state.metrics] = [0, []];
      state.set(
        "ScalingActive",
        "False",
        "ScalingDisabled",
        "scaling is disabled since the replica count of the target is zero",
      );
      return { action: "none", error: "none" };
    }
    let desired: number;
    let reason: string;
    let error: ErrorKind = "none";
    if (current > max) [desired, reason] = [max, "Current number of replicas above Spec.MaxReplicas"];
    else if (current < min) [desired, reason] = [min, "Current number of replicas below Spec.MinReplicas"];
    else {
      const computed = await compute(autoscaler, scale, current, state);
      if (!computed) return { action: "none", error: "internal" };
      if (computed.failures.length > 0) error = "internal";
      metrics = computed.statuses;
      const limited = limitReplicas(
        {
          current,
          desired: computed.replicas,
          min,
          max,
          behavior: spec.behavior,
          downscaleWindowSeconds: settings.downscaleWindowSeconds,
          now: clock.monotonic(),
        },
        history,
      );
      desired = limited.replicas;
      reason = desired > current ? `${computed.metric} above target` : "All metrics below target";
      state.set("AbleToScale", "True", ...stabilityOf(limited));
      state.set("ScalingLimited", limited.isLimited ? "True" : "False", limited.reason, limited.message);
    }
    if (desired !== current) await rescale(key, autoscaler, { path, scale, current, desired, reason }, state);
    [state.desiredReplicas, state.metrics] = [desired, metrics];
    return { action: scaleAction(current, desired), error };
  }

  async function rescale(
    key: string,
    autoscaler: SeenAutoscaler,
    { path, scale, current, desired, reason }: Rescaling,
    state: AutoscalerStatus,
  ): Promise<void> {
    try {
      await client.request("PUT", path, { ...scale, spec: { ...scale.spec, replicas: desired } });
    } catch (error) {
      const text = `New size: ${desired}; reason: ${reason}; error: ${(error as Error).message}`;
      events.event(autoscaler, "Warning", "FailedRescale", text);
      state.set(
        "AbleToScale",
        "False",
        "FailedUpdateScale",
        `the HPA controller was unable to update the target scale: ${(error as Error).message}`,
      );
      throw error;
    }
    state.set(
      "AbleToScale",
      "True",
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
    events.event(autoscaler, "Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${reason}`);
    state.lastScaleTime = timeOfMillis(clock.now());
    const history = histories.get(key);
    if (!history) return;
    const at = clock.monotonic();
    const recent = (events_: ScaleHistory["added"]): ScaleHistory["added"] =>
      events_.filter((each) => at - each.at <= 3_600_000);
    if (desired > current) history.added = [...recent(history.added), { at, value: desired - current }];
    else history.removed = [...recent(history.removed), { at, value: current - desired }];
  }

  /** Computes the largest proposal of all metrics; undefined if they are not available. */
  async function compute(
    autoscaler: SeenAutoscaler,
    scale: Scale,
    current: number,
    state: AutoscalerStatus,
  ): Promise<Computed | undefined> {
    const selector = scale.status?.selector ?? "";
    const inNamespace = pods.inNamespace(autoscaler.metadata.namespace!);
    const target = targets.podsOf(keyOf(autoscaler), selector, inNamespace);
    if ("problem" in target) {
      const { event, message, reason, condition } = target.problem;
      events.event(autoscaler, "Warning", event, message);
      state.set("ScalingActive", "False", reason, condition);
      events.event(autoscaler, "Warning", "FailedComputeMetricsReplicas", message);
      return undefined;
    }
    const computed = await computeAll(autoscaler, scale, target.pods);
    for (const { reason, message } of computed.failures)
      if (reason !== "") events.event(autoscaler, "Warning", reason, message);
    const [failure] = computed.failures;
    if (failure) {
      const { reason, message, text } = failure;
      const invalid = `invalid metrics (${computed.failures.length} invalid out of ${autoscaler.spec.metrics?.length ?? 0}), first error is: ${text}`;
      if (computed.replicas < 0 || computed.replicas < current) {
        const unable = `the HPA was unable to compute the replica count: ${message}`;
        if (reason !== "") state.set("ScalingActive", "False", reason, unable);
        events.event(autoscaler, "Warning", "FailedComputeMetricsReplicas", invalid);
        return undefined;
      }
    }
    state.set(
      "ScalingActive",
      "True",
      "ValidMetricFound",
      `the HPA was able to successfully calculate a replica count from ${computed.metric}`,
    );
    return computed;
  }

  async function computeAll(
    autoscaler: SeenAutoscaler,
    scale: Scale,
    targetPods: readonly SeenPod[],
  ): Promise<Computed> {
    const statuses: MetricStatus[] = [];
    let best: { replicas: number; metric: string } = { replicas: -1, metric: "" };
    const failures: MetricFailure[] = [];
    for (const spec of autoscaler.spec.metrics ?? []) {
      if (spec.type === "ContainerResource" && !gates.enabled("HPAContainerMetrics")) {
        failures.push({ reason: "", message: disabledText, text: disabledText });
        statuses.push({ type: "" });
        continue;
      }
      const startedAt = clock.now();
      const record = (action: ScaleAction, error: ErrorKind): void =>
        own.computed(spec.type, action, error, (clock.now() - startedAt) / 1000);
      try {
        const { replicas, status, metric } = await computeOne(autoscaler, spec, scale, targetPods);
        record(scaleAction(autoscaler.status.currentReplicas ?? 0, replicas), "none");
        statuses.push(status);
        if (replicas > best.replicas) best = { replicas, metric };
      } catch (error) {
        const { message } = error as Error;
        const reason = error instanceof MetricError ? error.reason : "FailedGetResourceMetric";
        record("none", reason === "InvalidMetricSourceType" ? "spec" : "internal");
        failures.push({ reason, message, text: `failed to get ${sourceName(spec)}: ${message}` });
        statuses.push({ type: "" });
      }
    }
    return { ...best, statuses, failures };
  }

  async function computeOne(
    autoscaler: SeenAutoscaler,
    spec: MetricSpec,
    scale: Scale,
    mine: readonly SeenPod[],
  ): Promise<{ readonly replicas: number; readonly status: MetricStatus; readonly metric: string }> {
    const input: MetricInput = {
      client: metrics,
      namespace: autoscaler.metadata.namespace!,
      selector: scale.status?.selector ?? "",
      pods: mine,
      current: scale.spec?.replicas ?? 0,
      observed: scale.status?.replicas ?? 0,
      now: clock.now(),
      settings,
    };
    const { type } = spec;
    if (type === "Resource" || type === "ContainerResource") return await resourceMetric(spec, input);
    if (type === "Pods") return await podsMetric(spec, input);
    if (type === "Object") return await objectMetric(spec, input);
    if (type === "External") return await externalMetric(spec, input);
    throw new MetricError("InvalidMetricSourceType", `unknown metric source type "${type}"`);
  }
}

/** Accumulates the status during one sync. */
class AutoscalerStatus {
  readonly #before: HorizontalPodAutoscalerStatus;
  readonly #now: number;
  readonly #conditions: NonNullable<HorizontalPodAutoscalerStatus["conditions"]>;
  currentReplicas: number;
  desiredReplicas: number;
  metrics: readonly MetricStatus[];
  lastScaleTime: string | undefined;

  constructor({ status }: SeenAutoscaler, now: number) {
    this.#before = status;
    this.#now = now;
    this.#conditions = [...(status.conditions ?? [])];
    this.currentReplicas = status.currentReplicas ?? 0;
    this.desiredReplicas = status.desiredReplicas ?? 0;
    this.metrics = status.currentMetrics ?? [];
  }

  set(type: string, status: string, reason: string, message: string): void {
    const at = this.#conditions.findIndex((each) => each.type === type);
    const old = this.#conditions[at];
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timeOfMillis(this.#now);
    const next = { type, status, reason, message, lastTransitionTime };
    if (at < 0) this.#conditions.push(next);
    else this.#conditions[at] = next;
  }

  build(): HorizontalPodAutoscalerStatus {
    const lastScaleTime = this.lastScaleTime ?? this.#before.lastScaleTime;
    return {
      ...(lastScaleTime && { lastScaleTime }),
      ...(this.currentReplicas > 0 && { currentReplicas: this.currentReplicas }),
      desiredReplicas: this.desiredReplicas,
      currentMetrics: (this.metrics.length > 0 ? this.metrics : null) as never,
      ...(this.#conditions.length > 0 && { conditions: this.#conditions }),
    };
  }
}

interface Rescaling {
  readonly path: string;
  readonly scale: Scale;
  readonly current: number;
  readonly desired: number;
  readonly reason: string;
}

/** Returns the scale of the target and its API path. */
async function scaleOf(
  { client, kindResource }: { readonly client: ApiClient; readonly kindResource: ResourceOfKind },
  { apiVersion = "v1", kind, name }: HorizontalPodAutoscaler["spec"]["scaleTargetRef"],
  namespace: string,
): Promise<{ readonly scale: Scale; readonly path: string }> {
  const served = await kindResource(apiVersion, kind);
  const root = served.groupVersion.includes("/")
    ? `/apis/${served.groupVersion}`
    : `/api/${served.groupVersion}`;
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${served.plural}/${encodeURIComponent(name)}/scale`;
  return { scale: (await client.request("GET", path)) as Scale, path };
}

const stabilityOf = ({ stabilized }: Limited): [reason: string, message: string] => {
  const [word, bound] = stabilized === "up" ? ["lower", "lowest"] : ["higher", "highest"];
  return stabilized
    ? [
        stabilized === "up" ? "ScaleUpStabilized" : "ScaleDownStabilized",
        `recent recommendations were ${word} than current one, applying the ${bound} recent recommendation`,
      ]
    : ["ReadyForNewScale", "recommended size matches current size"];
};
