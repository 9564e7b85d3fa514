// Registers a plugin with an agent as plugins do: one socket for its own calls, and one in the agent's
// registry.
import { join } from "node:path";
import { type GrpcProcedure, grpcServer, unaryProcedure } from "#http";
import { pluginRegistration as registration } from "#nodeagent";

export interface NodePlugin {
  readonly type: "CSIPlugin" | "DevicePlugin";
  readonly name: string;
  readonly version: string;
  readonly procedures: readonly GrpcProcedure[];
}

export interface AnnouncedPlugin {
  /** The registration status that the agent reports. */
  readonly reported: Promise<{ readonly error?: string | undefined }>;
  /** Closes both sockets, as if the plugin had died. */
  close(): Promise<void>;
}

export async function announcePlugin(
  rootDir: string,
  { type, name, version, procedures }: NodePlugin,
): Promise<AnnouncedPlugin> {
  const endpoint = join(rootDir, "plugins", type, "plugin.sock");
  const plugin = await grpcServer({ socketPath: endpoint, procedures });
  const reported = Promise.withResolvers<{ readonly error?: string | undefined }>();
  const info = { type, name, endpoint, supportedVersions: [version] };
  const registrar = await grpcServer({
    socketPath: join(rootDir, "plugins_registry", `${type}.sock`),
    procedures: [
      unaryProcedure(registration.info.serve, () => info),
      unaryProcedure(registration.notify.serve, (status) => {
        reported.resolve(status);
        return {};
      }),
    ],
  });
  return {
    reported: reported.promise,
    close: async () => {
      await registrar.close();
      await plugin.close();
    },
  };
}
