// Test fixture: an in-process API server, controllers running against it, and helpers to wait for their
// effects.
import { eventually } from "#kit";
import { ApiError, type Clock, createMetrics, silentLog, systemClock, virtualClock } from "#base";
import { type RunningServer, startServer } from "#apiserver";
import type { ApiClient } from "#client";
import {
  type Controller,
  type ControllerContext,
  clusterView,
  contextFor,
  sharedContext,
} from "#controllerkit";
import { type GivenGates, knownGates, resolveGates } from "#options";

/** Polls in real time until the condition holds. */
export const until = eventually;

export interface TestCluster {
  readonly server: RunningServer;
  readonly client: ApiClient;
  /** Returns the series of the controllers whose lines match, without those of buckets. */
  readonly series: (pattern: RegExp) => readonly string[];
}

export type StartController = (context: ControllerContext) => Controller;

export async function withController(
  start: StartController | readonly StartController[],
  run: (cluster: TestCluster) => Promise<void>,
  clock: Clock = systemClock,
  gates: GivenGates = {},
): Promise<void> {
  await using server = await startServer({
    store: "memory",
    flags: ["--disable-admission-plugins=ServiceAccount", ...serverGates(gates)],
  });
  const stopping = new AbortController();
  const { client } = server;
  const options = {
    client: server.kit.client(),
    clock,
    signal: stopping.signal,
    log: silentLog,
    dialect: client.dialect,
  };
  const view = clusterView(options);
  const metrics = createMetrics();
  const shared = sharedContext({ ...options, metrics, view, gates: resolveGates(knownGates, gates) });
  const series = (pattern: RegExp): readonly string[] =>
    metrics
      .expose()
      .split("\n")
      .filter((line) => !/^#|_bucket\{/.test(line) && pattern.test(line));
  const running = [start].flat().map((each) => each(contextFor(shared)));
  try {
    await run({ server, client, series });
  } finally {
    stopping.abort();
    await Promise.all(running.map(({ stopped }) => stopped));
    await view.stopped();
  }
}

export interface TimedCluster extends TestCluster {
  /** Polls until the condition holds, advancing the controllers' clock meanwhile. */
  readonly until: <T>(ask: () => Promise<T | undefined | false>) => Promise<T>;
}

/** Runs delay-dependent controllers on a virtual clock that advances as fast as the test polls. */
export function withTimedController(
  start: StartController | readonly StartController[],
  run: (cluster: TimedCluster) => Promise<void>,
  gates?: GivenGates,
): Promise<void> {
  const clock = virtualClock(Date.now());
  const until: TimedCluster["until"] = (ask) => eventually(ask, { clock });
  return withController(start, (cluster) => run({ ...cluster, until }), clock, gates);
}

/** Resolves when the controllers expose all of these series. */
export const exposes = ({ series, until }: TimedCluster, ...wanted: readonly string[]): Promise<unknown> =>
  until(async () => {
    const present = new Set(series(/./));
    return wanted.every((each) => present.has(each));
  }).catch((error: Error) => {
    const names = new RegExp(wanted.map((each) => each.split(/[{ ]/)[0]).join("|"));
    throw new Error(`${error.message}; present:\n${series(names).join("\n")}`);
  });

/**
 * Controllers behind a gate need fields that the server would drop, so enabled gates are enabled on the
 * server, too.
 */
function serverGates(gates: GivenGates): string[] {
  const on = Object.keys(gates).filter((name) => gates[name]);
  return on.length > 0 ? [`--feature-gates=${on.map((name) => `${name}=true`).join(",")}`] : [];
}

/** Resolves with the object, or with undefined if the server does not have it. */
export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NotFound") return undefined;
    throw error;
  }
}
export const isDeleted = async (request: Promise<unknown>): Promise<boolean> =>
  (await orUndefined(request)) === undefined;
