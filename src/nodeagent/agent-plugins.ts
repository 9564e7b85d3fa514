// Handlers of plug-ins that register through the agent's plug-in directory: device plug-ins and CSI drivers.
import { join } from "node:path";
import type { AgentDeps } from "./agent-parts.ts";
import type { DeviceRegistration } from "./devices/registration-server.ts";
import { type PluginHandler, watchPlugins } from "./plugins/plugin-watcher.ts";

export const devicePlugins = (registration: DeviceRegistration): PluginHandler => ({
  validate: ({ name, supportedVersions }) => registration.validate(name, supportedVersions),
  register: ({ name, endpoint }) => registration.register(name, endpoint),
  deregister: async ({ name }) => registration.deregister(name),
});

/** Watches the plug-in directory until the signal is aborted. */
export const followPlugins = (
  { settings, clock, log }: AgentDeps,
  handlers: Readonly<Record<string, PluginHandler>>,
  signal: AbortSignal,
): Promise<void> =>
  watchPlugins({ clock, log, directory: join(settings.rootDir, "plugins_registry"), handlers }, signal).catch(
    (error: unknown) => log.error("plug-in registration is unavailable", { error: (error as Error).message }),
  );
