// The connection to one device plug-in: its options, its stream of devices, and its calls.
import type { Clock } from "#base";
import { GrpcError, grpcChannel } from "#http";
import {
  type ContainerAllocateResponse,
  type PluginDevice,
  type PluginOptions,
  devicePlugin,
} from "./messages.ts";

export interface DevicePluginConnection {
  readonly options: PluginOptions;
  /** Yields all devices at every change, until the plug-in ends the stream or the signal is aborted. */
  devices(signal: AbortSignal): AsyncIterable<readonly PluginDevice[]>;
  allocate(devices: readonly string[], signal?: AbortSignal): Promise<ContainerAllocateResponse | undefined>;
  preferred(
    request: { readonly available: readonly string[]; readonly mustInclude: readonly string[] },
    size: number,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;
  preStart(devices: readonly string[], signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Slightly longer than the ten seconds after which plug-ins give up registering: they time out first. */
const connectMilliseconds = 10_100;
const preStartMilliseconds = 30_000;
/** Timeout of an allocation, so that an unresponsive plug-in does not block a pod forever. */
const allocateMilliseconds = 60_000;

/** Connects to a plug-in and reads its options; rejects if it is unreachable for ten seconds. */
export async function connectDevicePlugin(
  socketPath: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<DevicePluginConnection> {
  const channel = grpcChannel({
    endpoints: [`unix://${socketPath}`],
    clock,
    maxMessageBytes: 16 << 20,
    backOff: { firstMilliseconds: 100, maxMilliseconds: 1000 },
  });
  const within = (deadlineMilliseconds: number, by = signal) => ({
    deadlineMilliseconds,
    ...(by && { signal: by }),
  });
  try {
    const options = await channel.unary(
      devicePlugin.options.call,
      {},
      { ...within(connectMilliseconds), waitForReady: true },
    );
    return {
      options,
      devices: async function* (until) {
        for await (const { devices } of channel.serverStream(
          devicePlugin.listAndWatch.call,
          {},
          { signal: until },
        ))
          yield devices;
      },
      allocate: async (devicesIds, until) => {
        const { containerResponses } = await channel.unary(
          devicePlugin.allocate.call,
          { containerRequests: [{ devicesIds: [...devicesIds] }] },
          within(allocateMilliseconds, until),
        );
        return containerResponses[0];
      },
      preferred: async ({ available, mustInclude }, allocationSize, until) => {
        const { containerResponses } = await channel.unary(
          devicePlugin.preferred.call,
          {
            containerRequests: [
              { availableIds: [...available], mustIncludeIds: [...mustInclude], allocationSize },
            ],
          },
          within(allocateMilliseconds, until),
        );
        return containerResponses[0]?.deviceIds ?? [];
      },
      preStart: async (devicesIds, until) => {
        await channel.unary(
          devicePlugin.preStart.call,
          { devicesIds: [...devicesIds] },
          within(preStartMilliseconds, until),
        );
      },
      close: () => channel.close(),
    };
  } catch (error) {
    channel.close();
    if (error instanceof GrpcError && error.code === "DEADLINE_EXCEEDED")
      throw new Error("context deadline exceeded", { cause: error });
    throw error;
  }
}
