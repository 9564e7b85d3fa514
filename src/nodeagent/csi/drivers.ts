// The CSI drivers of the node: they register through plug-in sockets, provide the node's ID, and are
// published in the CSINode object.
import type { Clock, Log } from "#base";
import { type GrpcCallOptions, type GrpcChannel, GrpcError, type GrpcMethod, grpcChannel } from "#http";
import { codeName } from "../errors.ts";
import type { PluginHandler } from "../plugins/plugin-watcher.ts";
import { type CsiNodeInfo, csiNodeService } from "./messages.ts";
import { highestVersion, versionProblem } from "./versions.ts";

export interface CsiDriver {
  readonly name: string;
  call<Q, R>(method: { readonly call: GrpcMethod<Q, R> }, request: Q, signal?: AbortSignal): Promise<R>;
  /** Reports whether its node service has a capability; queried once per connection. */
  can(capability: number, signal?: AbortSignal): Promise<boolean>;
}

export interface CsiDrivers {
  readonly handler: PluginHandler;
  has(name: string): boolean;
  /** Returns a registered driver; throws if it is not registered. */
  get(name: string): CsiDriver;
  close(): void;
}

/** Publishes the node's drivers in the cluster. */
export interface CsiNodeRegistry {
  install(driver: string, info: CsiNodeInfo): Promise<void>;
  remove(driver: string): Promise<void>;
}

export interface CsiDriversOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Name of the CSI plug-in in error messages. */
  readonly pluginName: string;
  /** Undefined without an API server. */
  readonly registry: CsiNodeRegistry | undefined;
  /** Called with the duration and the gRPC status of each call. */
  readonly onCall?: (call: {
    readonly driver: string;
    readonly method: string;
    readonly status: string;
    readonly milliseconds: number;
  }) => void;
}

interface Registered extends CsiDriver {
  readonly channel: GrpcChannel;
  readonly version: string;
}

const callMilliseconds = 120_000;

export function csiDrivers(options: CsiDriversOptions): CsiDrivers {
  const { clock, log, pluginName, registry } = options;
  const drivers = new Map<string, Registered>();

  function connected(name: string, endpoint: string, version: string): Registered {
    const channel = grpcChannel({
      endpoints: [`unix://${endpoint.replace(/^unix:\/\//, "")}`],
      clock,
      maxMessageBytes: 16 << 20,
      backOff: { firstMilliseconds: 100, maxMilliseconds: 3000 },
    });
    const limits = (signal?: AbortSignal): GrpcCallOptions => ({
      deadlineMilliseconds: callMilliseconds,
      ...(signal && { signal }),
    });
    const measured = async <Q, R>(method: GrpcMethod<Q, R>, request: Q, signal?: AbortSignal): Promise<R> => {
      const begunAt = clock.monotonic();
      let status = "OK";
      try {
        return await channel.unary(method, request, limits(signal));
      } catch (error) {
        status = error instanceof GrpcError ? codeName(error.code) : "unknown-non-grpc";
        throw error;
      } finally {
        const milliseconds = clock.monotonic() - begunAt;
        options.onCall?.({ driver: name, method: method.path, status, milliseconds });
      }
    };
    let capabilities: Promise<ReadonlySet<number>> | undefined;
    const queryCapabilities = async (signal?: AbortSignal): Promise<ReadonlySet<number>> => {
      const response = await measured(csiNodeService.capabilities.call, {}, signal);
      return new Set(response.capabilities.map(({ rpc }) => rpc?.type ?? 0));
    };
    return {
      name,
      version,
      channel,
      call: (method, request, signal) => measured(method.call, request, signal),
      can: async (capability, signal) => {
        capabilities ??= queryCapabilities(signal).catch((error: unknown) => {
          capabilities = undefined;
          throw error;
        });
        return (await capabilities).has(capability);
      },
    };
  }

  const drop = (name: string): void => {
    drivers.get(name)?.channel.close();
    drivers.delete(name);
  };

  return {
    has: (name) => drivers.has(name),
    get: (name) => {
      const driver = drivers.get(name);
      if (!driver) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
      return driver;
    },
    close: () => {
      for (const name of drivers.keys()) drop(name);
    },
    handler: {
      validate: ({ name, endpoint, supportedVersions }) => {
        const problem = versionProblem(supportedVersions, drivers.get(name)?.version);
        if (problem === undefined) return;
        const failed = `${pluginName}: ValidatePlugin for CSI driver ${JSON.stringify(name)} failed`;
        throw new Error(
          `validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${failed}. ${problem}`,
        );
      },
      register: async ({ name, endpoint, supportedVersions }, signal) => {
        const driver = connected(name, endpoint, highestVersion(supportedVersions));
        drop(name);
        try {
          const info = await driver.call(csiNodeService.info, {}, signal);
          await registry?.install(name, info);
        } catch (error) {
          driver.channel.close();
          // The published entry of an earlier driver with this name is no longer valid.
          await registry?.remove(name).catch((cleanupError: unknown) => {
            log.warn("failed to unregister a CSI driver", { name, error: (cleanupError as Error).message });
          });
          throw error;
        }
        drivers.set(name, driver);
      },
      deregister: async ({ name }) => {
        drop(name);
        await registry?.remove(name);
      },
    },
  };
}
