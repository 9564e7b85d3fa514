// The checks behind /healthz, /livez and /readyz.
import type { Clock, Log } from "#base";
import type { Dialect } from "#dialect";
import type { HealthCheck, HealthPaths } from "./health.ts";
import type { Lifecycle } from "#filters";
import { inOrder } from "./started-checks.ts";
import type { ApiserverSettings } from "../options/settings.ts";

/** Timeouts of the health checks. */
export interface HealthTimes {
  readonly healthTimeoutMilliseconds: number;
  readonly readyTimeoutMilliseconds: number;
  /** For this long after the start, /livez treats unfinished start-up work as healthy. */
  readonly liveGraceMilliseconds: number;
}

export const healthTimes = (settings: ApiserverSettings): HealthTimes => ({
  healthTimeoutMilliseconds: settings.storeHealthcheckTimeout,
  readyTimeoutMilliseconds: settings.storeReadycheckTimeout,
  liveGraceMilliseconds: settings.livezGracePeriod,
});

export interface HealthOptions extends HealthTimes {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  /** Checks that the store responds. */
  readonly probe: () => Promise<unknown>;
  /** Start-up work; each check throws until it is done. */
  readonly startUp: readonly HealthCheck[];
  readonly caughtUp: () => boolean;
  /** Checks of the key services of encryption at rest. */
  readonly encryption?: readonly HealthCheck[];
  /** Returns the settings whose changed file was rejected while the last valid version remains in effect. */
  readonly refusedFiles?: () => readonly string[];
}

export function healthChecks(options: HealthOptions): HealthPaths {
  const { dialect, clock, log, lifecycle } = options;
  const store = dialect.wire.storeHealthCheck;
  const alias = dialect.wire.clientStoreHealthCheck;
  const probeStore = shareInFlight(options.probe);
  const caughtUp = (): void => failUnless(options.caughtUp(), "caches are not filled yet");
  const startUp = inOrder(
    [{ name: "poststarthook/generic-apiserver-start-informers", check: caughtUp }, ...options.startUp],
    dialect,
  );
  const graceUntil = clock.monotonic() + options.liveGraceMilliseconds;
  const baseChecks: HealthCheck[] = [
    { name: "ping", check: () => undefined },
    { name: "log", check: () => log.flush() },
    {
      name: store,
      alias,
      check: () => within(probeStore(), options.healthTimeoutMilliseconds, clock),
    },
    ...(options.encryption ?? []),
  ];
  const livezStartUp = startUp.map(({ name, check }) => ({
    name,
    check: () => (clock.monotonic() < graceUntil ? undefined : check()),
  }));
  return {
    notes: () =>
      (options.refusedFiles?.() ?? []).map(
        (setting) =>
          `[+]config-reload ok: the changed file of ${setting} is refused, the last good one serves`,
      ),
    healthz: [...baseChecks, ...startUp],
    livez: [...baseChecks, ...livezStartUp],
    readyz: [
      ...baseChecks,
      {
        name: `${store}-readiness`,
        alias: `${alias}-readiness`,
        check: () => within(probeStore(), options.readyTimeoutMilliseconds, clock),
      },
      { name: "informer-sync", check: caughtUp },
      ...startUp,
      { name: "shutdown", check: () => failUnless(!lifecycle.leaving, "the server is shutting down") },
    ],
  };
}

function failUnless(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

/** Concurrent callers share one probe, so that a slow store does not get more load from health checks. */
function shareInFlight(probe: () => Promise<unknown>): () => Promise<unknown> {
  let inFlight: Promise<unknown> | undefined;
  return () =>
    (inFlight ??= probe().finally(() => {
      inFlight = undefined;
    }));
}

function within(answer: Promise<unknown>, milliseconds: number, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(milliseconds, () =>
      reject(new Error(`the store did not answer within ${milliseconds} ms`)),
    );
    answer.then(
      () => {
        cancel();
        resolve();
      },
      (error: Error) => {
        cancel();
        reject(error);
      },
    );
  });
}
