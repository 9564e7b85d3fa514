// Usage of all nodes, fetched on demand and cached for some seconds: without readers it costs nothing.
import type { Clock, Log } from "#base";
import { type ApiClient, textOf } from "#client";
import { type NodeUsage, type Reading, parseReading, usageBetween } from "./usage.ts";

export interface NodeFiguresOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface NodeFigures {
  /** Returns the usage of these nodes, without those whose agents do not respond. */
  of(nodes: readonly string[]): Promise<ReadonlyMap<string, NodeUsage>>;
}

interface Known {
  readonly reading: Reading;
  readonly takenAt: number;
  readonly usage: NodeUsage;
}

const freshMilliseconds = 10_000;
/**
 * Delay between the two readings of a node that was not read recently; agents cache a reading for two
 * seconds.
 */
const firstPauseMilliseconds = 2500;
/** A rate over a longer window would not reflect current usage. */
const longestWindowMilliseconds = 120_000;
const patienceMilliseconds = 5000;
const mostAtOnce = 16;

export function nodeFigures({ client, clock, signal, log }: NodeFiguresOptions): NodeFigures {
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<void>>();
  const read = async (node: string): Promise<Reading> =>
    parseReading(await resourceMetrics(client, node, signal), clock.now());

  async function ask(node: string): Promise<void> {
    const before = known.get(node);
    const isUseful = before && clock.now() - before.takenAt < longestWindowMilliseconds;
    const earlier = isUseful ? before.reading : await read(node);
    if (!isUseful) await clock.sleep(firstPauseMilliseconds, signal);
    const reading = await read(node);
    known.set(node, { reading, takenAt: clock.now(), usage: usageBetween(earlier, reading) });
  }

  const refresh = async (node: string): Promise<void> => {
    const last = known.get(node);
    if (last && clock.now() - last.takenAt < freshMilliseconds) return;
    let running = asking.get(node);
    if (!running) {
      running = ask(node)
        .catch((error: unknown) => {
          known.delete(node);
          log.verbose(1, "figures of a node are not available", { node, error: (error as Error).message });
        })
        .finally(() => asking.delete(node));
      asking.set(node, running);
    }
    await running;
  };

  return {
    of: async (nodes) => {
      const left = [...nodes];
      const worker = async (): Promise<void> => {
        for (let node = left.pop(); node !== undefined; node = left.pop()) await refresh(node);
      };
      await Promise.all(Array.from({ length: Math.min(mostAtOnce, left.length) }, worker));
      // Drop the state of deleted nodes.
      for (const [node, { takenAt }] of known)
        if (clock.now() - takenAt > longestWindowMilliseconds) known.delete(node);
      return new Map(
        nodes.flatMap((node) => {
          const found = known.get(node);
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
    signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMilliseconds)]),
    timeoutMilliseconds: patienceMilliseconds,
  });
  const text = await textOf(response);
  if (response.status !== 200) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
  return text;
}
