// The socket at which device plug-ins register. At start, existing plug-in sockets next to it are removed,
// which makes the plug-ins register again.
import { lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock, Log } from "#base";
import type { Dialect } from "#dialect";
import { GrpcError, type GrpcServer, grpcServer, unaryProcedure } from "#http";
import { isExtendedResource } from "../node/admission.ts";
import { grpcErrorText } from "../errors.ts";
import type { DeviceManager } from "./device-manager.ts";
import { devicePlugin } from "./messages.ts";
import { connectDevicePlugin } from "./plugin-connection.ts";

export interface DeviceRegistrationOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly manager: Pick<DeviceManager, "follow">;
  readonly onRegistration?: (resource: string) => void;
}

export interface DeviceRegistration {
  /** Throws if a plug-in is rejected. */
  validate(resource: string, versions: readonly string[]): void;
  /** Connects to a plug-in's socket. */
  register(resource: string, socketPath: string): Promise<void>;
  deregister(resource: string): void;
  /** Serves the socket until closed. */
  serve(socketPath: string): Promise<GrpcServer>;
}

const supported = "v1beta1";

export function deviceRegistration(
  options: DeviceRegistrationOptions,
  signal: AbortSignal,
): DeviceRegistration {
  const { dialect, clock, log, manager } = options;
  const following = new Map<string, AbortController>();

  async function connect(resource: string, socketPath: string): Promise<void> {
    const plugin = await connectDevicePlugin(socketPath, clock, signal);
    const ended = new AbortController();
    following.set(resource, ended);
    const until = AbortSignal.any([signal, ended.signal]);
    void manager.follow(resource, plugin, until).finally(() => {
      if (following.get(resource) === ended) following.delete(resource);
    });
  }
  const problemOf = (resource: string): string | undefined =>
    isExtendedResource(resource, dialect)
      ? undefined
      : `the ResourceName ${JSON.stringify(resource)} is invalid`;

  return {
    validate: (resource, versions) => {
      if (!versions.includes(supported))
        throw new Error(
          `manager version, ${supported}, is not among plugin supported versions [${versions.join(" ")}]`,
        );
      const problem = problemOf(resource);
      if (problem) throw new Error(`invalid name of device plugin socket: ${problem}`);
    },
    register: connect,
    deregister: (resource) => following.get(resource)?.abort(),
    serve: async (socketPath) => {
      const directory = dirname(socketPath);
      return await grpcServer({
        socketPath,
        // Plug-ins that see the new socket create their own one again.
        prepare: () => removeSockets(directory),
        procedures: [
          unaryProcedure(devicePlugin.register.serve, async ({ version, endpoint, resourceName = "" }) => {
            log.info("device plug-in is registering", { resource: resourceName });
            options.onRegistration?.(resourceName);
            if (version !== supported)
              throw new GrpcError(
                "UNKNOWN",
                `requested API version ${JSON.stringify(version ?? "")} is not supported by ${dialect.cli.agent}. Supported version is ["${supported}"]`,
              );
            const problem = problemOf(resourceName);
            if (problem) throw new GrpcError("UNKNOWN", problem);
            await connect(resourceName, join(directory, endpoint ?? "")).catch((error: unknown) => {
              log.warn("failed to connect to device plug-in", {
                resource: resourceName,
                error: grpcErrorText(error),
              });
              throw new GrpcError("UNKNOWN", `failed to dial device plugin: ${grpcErrorText(error)}`);
            });
            return {};
          }),
        ],
      });
    },
  };
}

async function removeSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isSocket()) await rm(path, { force: true });
  }
}
