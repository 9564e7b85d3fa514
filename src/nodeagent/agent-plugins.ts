// Handlers of plug-ins that register through the agent's plug-in directory: device plug-ins and CSI drivers.
import { join } from "node:path";
import type { Metrics } from "#base";
import type { AgentDeps } from "./agent-parts.ts";
import type { DeviceRegistration } from "./devices/registration-server.ts";
import { type PluginHandler, watchPlugins } from "./plugins/plugin-watcher.ts";

export const devicePlugins = (registration: DeviceRegistration): PluginHandler => ({
  validate: ({ name, supportedVersions }) => registration.validate(name, supportedVersions),
  register: ({ name, endpoint }) => registration.register(name, endpoint),
  deregister: async ({ name }) => registration.deregister(name),
});

/** Watches the plug-in directory until the signal is aborted. */
export async function followPlugins(
  { settings, clock, log, metrics }: AgentDeps & { readonly metrics: Metrics },
  handlers: Readonly<Record<string, PluginHandler>>,
  signal: AbortSignal,
): Promise<void> {
  const total = metrics.gauge({
    name: "plugin_manager_total_plugins",
    help: "Plug-ins by socket: found in the directory, and registered.",
    labels: ["socket_path", "state"],
    stability: "ALPHA",
  });
  const onScan = (found: readonly string[], registered: readonly string[]): void => {
    total.clear();
    for (const path of found) total.with(path, "desired_state_of_world").set(1);
    for (const path of registered) total.with(path, "actual_state_of_world").set(1);
  };
  const directory = join(settings.rootDir, "plugins_registry");
  await watchPlugins({ clock, log, directory, handlers, onScan }, signal).catch((error: unknown) =>
    log.error("plug-in registration is unavailable", { error: (error as Error).message }),
  );
}
