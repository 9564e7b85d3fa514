// Sets up the device manager from the settings, and the socket at which device plug-ins register.
import { basename, join } from "node:path";
import type { Metrics } from "#base";
import type { AgentDeps } from "./agent-parts.ts";
import { type DeviceManager, deviceManager } from "./devices/device-manager.ts";
import { type DeviceRegistration, deviceRegistration } from "./devices/registration-server.ts";
import type { CheckpointStore } from "./interfaces.ts";
import { readTopology } from "./managers/cpu-topology.ts";
import { checkpointStore } from "./resources/checkpoint-store.ts";

export interface AgentDevices {
  readonly manager: DeviceManager;
  readonly registration: DeviceRegistration;
  /** Serves the registration socket of device plug-ins. A failure is logged and does not stop the agent. */
  serve(): Promise<{ close(): Promise<void> }>;
}

/**
 * Returns the store of device allocations. It is below the agent's root directory, which usually is the plug-ins'
 * directory: agents that share a machine must not restore each other's allocations.
 */
export const deviceCheckpoints = ({
  dialect,
  settings,
}: Pick<AgentDeps, "dialect" | "settings">): CheckpointStore =>
  checkpointStore(join(settings.rootDir, basename(dialect.paths.devicePlugins)));

export async function devicesFrom(
  { dialect, clock, log, machine, settings }: AgentDeps,
  parts: {
    readonly metrics: Metrics;
    readonly isRunning: (podUid: string, container: string) => boolean;
    readonly onChange: () => void;
  },
  signal: AbortSignal,
): Promise<AgentDevices> {
  const { numa } = await readTopology(machine.memoryBytes);
  // Plug-ins expect the socket at one fixed path of the machine, independent of the agent's root directory.
  const directory = dialect.paths.devicePlugins;
  const prefix = `${dialect.data.agentMetricPrefix}device_plugin`;
  const registrations = parts.metrics.counter({
    name: `${prefix}_registration_total`,
    help: "Cumulative number of device plugin registrations, by resource.",
    labels: ["resource_name"],
    stability: "ALPHA",
  });
  const allocations = parts.metrics.histogram({
    name: `${prefix}_alloc_duration_seconds`,
    help: "Duration of device plugin Allocate calls in seconds, by resource.",
    labels: ["resource_name"],
    stability: "ALPHA",
  });
  const manager = await deviceManager({
    clock,
    log,
    store: deviceCheckpoints({ dialect, settings }),
    checkpoint: `${dialect.cli.agent}_internal_checkpoint`,
    numaNodes: numa.map(({ id }) => id),
    isRunning: parts.isRunning,
    onChange: parts.onChange,
    onAllocated: (resource, milliseconds) => allocations.with(resource).observe(milliseconds / 1000),
  });
  const registration = deviceRegistration(
    { dialect, clock, log, manager, onRegistration: (resource) => registrations.with(resource).add() },
    signal,
  );
  return {
    manager,
    registration,
    serve: () =>
      registration.serve(join(directory, `${dialect.cli.agent}.sock`)).catch((error: unknown) => {
        log.warn("device plug-in registration is unavailable", {
          directory,
          error: (error as Error).message,
        });
        return { close: async () => undefined };
      }),
  };
}
