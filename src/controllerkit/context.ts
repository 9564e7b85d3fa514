// The context shared by controllers, and the work queue each of them uses.
import { type Clock, type Log, type Metrics, type QueueMetrics, createMetrics, queueMetrics } from "#base";
import { type ApiClient, type EventRecorder, eventRecorder } from "#client";
import type { Dialect } from "#dialect";
import { type Gates, defaultGates } from "#options";
import type { ClusterView } from "./cluster-view.ts";
import { type WorkQueue, type WorkQueueOptions, workQueue } from "./work-queue.ts";

export interface ControllerContext {
  readonly client: ApiClient;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly dialect: Dialect;
  readonly gates: Gates;
  readonly metrics: Metrics;
  readonly queues: QueueMetrics;
  /** Number of workers by queue name, where configured by an operator. */
  readonly workers?: ReadonlyMap<string, number>;
}

/** A started controller. */
export interface Controller {
  readonly stopped: Promise<void>;
}

export interface ContextOptions extends Omit<ControllerContext, "metrics" | "queues" | "gates"> {
  /** A registry that nothing exposes if absent. */
  readonly metrics?: Metrics;
  /** Feature gates; the defaults if absent. */
  readonly gates?: Gates;
}

/** Returns the context that all controllers of a process share; pass it through `contextFor` for each. */
export const sharedContext = ({
  metrics = createMetrics(),
  gates = defaultGates,
  ...rest
}: ContextOptions): ControllerContext => ({
  ...rest,
  gates,
  metrics,
  queues: queueMetrics(metrics, () => rest.clock.now()),
});

/**
 * Returns the context of one controller, whose view waits only for the kinds that this controller follows.
 */
export const contextFor = (shared: ControllerContext, client = shared.client): ControllerContext => ({
  ...shared,
  client,
  view: shared.view.scoped(),
});

export interface QueueOptions {
  readonly workers?: number;
  readonly baseDelayMilliseconds?: number;
  readonly maxDelayMilliseconds?: number;
}

/**
 * Returns a queue whose workers start once the kinds its controller follows are listed; failures are logged.
 */
export function queueFor(
  { clock, signal, log, view, queues, workers }: ControllerContext,
  controller: string,
  work: WorkQueueOptions["work"],
  options: QueueOptions = {},
): WorkQueue {
  const queue = workQueue({
    clock,
    signal,
    ...options,
    ...(workers?.has(controller) && { workers: workers.get(controller)! }),
    metrics: queues(controller),
    work: async (key) => {
      await view.synced();
      return await work(key);
    },
    onFailure: (key, error) =>
      log.warn("sync failed; it will be retried", { controller, key, error: error.message }),
  });
  return queue;
}

/** Returns an event recorder that stops when the signal aborts. */
export function recorderFor(
  { client, clock, log, signal }: Pick<ControllerContext, "client" | "clock" | "log" | "signal">,
  component: string,
  form: "core" | "events" = "core",
): EventRecorder {
  const recorder = eventRecorder({ client, clock, log, component, form });
  signal.addEventListener("abort", () => recorder.stop(), { once: true });
  return recorder;
}
