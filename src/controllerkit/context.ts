// What every controller gets, and the queue that it works through.
import { type Clock, type Log, type Metrics, type QueueMetrics, queueMetrics } from "#base";
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
  readonly queues?: QueueMetrics;
  /** How many objects are worked on at a time, by the name of the queue, where an operator said so. */
  readonly workers?: ReadonlyMap<string, number>;
}

/** A controller that has been started. */
export interface Controller {
  readonly stopped: Promise<void>;
}

export interface ContextOptions extends Omit<ControllerContext, "queues" | "gates"> {
  readonly metrics?: Metrics;
  /** As they are by default where nothing is said. */
  readonly gates?: Gates;
}

/** The context that all controllers of a process share; each gets `contextFor` it. */
export const sharedContext = ({
  metrics,
  gates = defaultGates,
  ...rest
}: ContextOptions): ControllerContext => ({
  ...rest,
  gates,
  ...(metrics && { queues: queueMetrics(metrics, () => rest.clock.now()) }),
});

/** The context of one controller: it waits only for the kinds that it follows itself. */
export const contextFor = (shared: ControllerContext, client = shared.client): ControllerContext => ({
  ...shared,
  client,
  view: shared.view.scoped(),
});

export interface QueueOptions {
  readonly workers?: number;
  readonly firstPauseMilliseconds?: number;
  readonly longestPauseMilliseconds?: number;
}

/** A queue whose work starts when the kinds that its controller follows are listed; failures are logged. */
export function queueFor(
  { clock, signal, log, view, queues, workers }: ControllerContext,
  controller: string,
  work: WorkQueueOptions["work"],
  options: QueueOptions = {},
): WorkQueue {
  const metrics = queues?.(controller);
  const queue = workQueue({
    clock,
    signal,
    ...options,
    ...(workers?.has(controller) && { workers: workers.get(controller)! }),
    ...(metrics && { metrics }),
    work: async (key) => {
      await view.synced();
      return await work(key);
    },
    onFailure: (key, error) =>
      log.warn("sync failed; it is tried again", { controller, key, error: error.message }),
  });
  return queue;
}

/** Records what a controller does until it is stopped. */
export function recorderFor(
  { client, clock, log, signal }: Pick<ControllerContext, "client" | "clock" | "log" | "signal">,
  component: string,
  form: "core" | "events" = "core",
): EventRecorder {
  const recorder = eventRecorder({ client, clock, log, component, form });
  signal.addEventListener("abort", () => recorder.stop(), { once: true });
  return recorder;
}
