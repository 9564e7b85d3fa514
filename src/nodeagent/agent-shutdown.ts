// Sets up graceful node shutdown from the settings.
import type { Pod } from "#api";
import type { Metrics } from "#base";
import type { AgentDeps } from "./agent-parts.ts";
import type { PodEvictor } from "./interfaces.ts";
import type { NodeagentSettings } from "./options/options.ts";
import { checkpointStore } from "./resources/checkpoint-store.ts";
import { connectDbus } from "./shutdown/dbus.ts";
import { logind } from "./shutdown/logind.ts";
import { type NodeShutdown, nodeShutdown } from "./shutdown/node-shutdown.ts";
import type { PriorityGrace } from "./options/types.ts";
import { shutdownSteps } from "./shutdown/plan.ts";

type Enabled = (gate: string) => boolean;

const byPriorityGate = "GracefulNodeShutdownBasedOnPodPriority";

export function shutdownFrom(
  { settings, dialect, clock, log, events, nodeName }: AgentDeps,
  parts: {
    readonly metrics: Metrics;
    readonly enabled: Enabled;
    readonly pods: () => readonly Pod[];
    readonly evictor: PodEvictor;
    readonly onChange: () => void;
  },
): NodeShutdown {
  const isRecorded = parts.enabled("GracefulNodeShutdown") && parts.enabled(byPriorityGate);
  const agentTitle = dialect.spelling.word("NodeAgent");
  return nodeShutdown({
    clock,
    log,
    events,
    nodeName,
    agentTitle,
    steps: stepsFrom(settings, parts.enabled),
    connect: async () => logind({ bus: await connectDbus(), agent: dialect.cli.agent, agentTitle }),
    pods: parts.pods,
    evictor: parts.evictor,
    store: isRecorded ? checkpointStore(settings.rootDir) : undefined,
    onChange: parts.onChange,
    ...(isRecorded && { onTimes: timeMetrics(parts.metrics, dialect.data.agentMetricPrefix) }),
  });
}

function timeMetrics(metrics: Metrics, prefix: string): (startSeconds: number, endSeconds: number) => void {
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `${prefix}graceful_shutdown_${name}`, help, stability: "ALPHA" }).with();
  const start = gauge(
    "start_time_seconds",
    "Start time of the last graceful shutdown in seconds since the Unix epoch.",
  );
  const end = gauge(
    "end_time_seconds",
    "End time of the last graceful shutdown in seconds since the Unix epoch.",
  );
  return (startSeconds, endSeconds) => {
    start.set(startSeconds);
    end.set(endSeconds);
  };
}

/** Returns the shutdown steps. Each of the two ways to configure them has a separate feature gate. */
export function stepsFrom(
  settings: Pick<
    NodeagentSettings,
    "shutdownGracePeriod" | "shutdownGracePeriodCriticalPods" | "shutdownGracePeriodByPodPriority"
  >,
  enabled: Enabled,
): readonly PriorityGrace[] {
  if (!enabled("GracefulNodeShutdown")) return [];
  return shutdownSteps({
    graceSeconds: settings.shutdownGracePeriod / 1000,
    criticalSeconds: settings.shutdownGracePeriodCriticalPods / 1000,
    byPriority: enabled(byPriorityGate) ? settings.shutdownGracePeriodByPodPriority : [],
  });
}
