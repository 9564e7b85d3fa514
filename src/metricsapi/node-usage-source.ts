// Usage of all nodes, fetched on demand and cached for some seconds: without readers it costs nothing.
import type { Clock, Log } from "#base";
import { type ApiClient, textOf } from "#client";
import { type NodeUsage, type Reading, parseReading, usageBetween } from "./usage.ts";

export interface NodeUsageOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface NodeUsageSource {
  /** Returns the usage of these nodes, without those whose agents do not respond. */
  of(nodes: readonly string[]): Promise<ReadonlyMap<string, NodeUsage>>;
}

interface CachedUsage {
  readonly reading: Reading;
  readonly takenAt: number;
  readonly usage: NodeUsage;
}

const freshMilliseconds = 10_000;
/**
 * Delay between the two readings of a node that was not read recently; agents cache a reading for two
 * seconds.
 */
const initialWindowMilliseconds = 2500;
/** A rate over a longer window would not reflect current usage. */
const maxWindowMilliseconds = 120_000;
const timeoutMilliseconds = 5000;
const maxConcurrent = 16;

export function nodeUsageSource({ client, clock, signal, log }: NodeUsageOptions): NodeUsageSource {
  const cached = new Map<string, CachedUsage>();
  const pending = new Map<string, Promise<void>>();
  const read = async (node: string): Promise<Reading> =>
    parseReading(await resourceMetrics(client, node, signal), clock.now());

  async function fetchUsage(node: string): Promise<void> {
    const before = cached.get(node);
    const isUseful = before && clock.now() - before.takenAt < maxWindowMilliseconds;
    const earlier = isUseful ? before.reading : await read(node);
    if (!isUseful) await clock.sleep(initialWindowMilliseconds, signal);
    const reading = await read(node);
    cached.set(node, { reading, takenAt: clock.now(), usage: usageBetween(earlier, reading) });
  }

  const refresh = async (node: string): Promise<void> => {
    const last = cached.get(node);
    if (last && clock.now() - last.takenAt < freshMilliseconds) return;
    let running = pending.get(node);
    if (!running) {
      running = fetchUsage(node)
        .catch((error: unknown) => {
          cached.delete(node);
          log.verbose(1, "node usage is not available", { node, error: (error as Error).message });
        })
        .finally(() => pending.delete(node));
      pending.set(node, running);
    }
    await running;
  };

  return {
    of: async (nodes) => {
      const remaining = [...nodes];
      const worker = async (): Promise<void> => {
        for (let node = remaining.pop(); node !== undefined; node = remaining.pop()) await refresh(node);
      };
      await Promise.all(Array.from({ length: Math.min(maxConcurrent, remaining.length) }, worker));
      // Drop the state of deleted nodes.
      for (const [node, { takenAt }] of cached)
        if (clock.now() - takenAt > maxWindowMilliseconds) cached.delete(node);
      return new Map(
        nodes.flatMap((node) => {
          const found = cached.get(node);
          return found ? [[node, found.usage] as const] : [];
        }),
      );
    },
  };
}

/** Fetches through the API server, which can reach every agent and has credentials for it. */
async function resourceMetrics(client: ApiClient, node: string, signal: AbortSignal): Promise<string> {
  const response = await client.transport.send({
    method: "GET",
    path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy/metrics/resource`,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]),
    timeoutMilliseconds: timeoutMilliseconds,
  });
  const text = await textOf(response);
  if (response.status !== 200) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
  return text;
}
