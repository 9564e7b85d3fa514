// /healthz, /livez and /readyz: named checks, each also available at a separate path.
import {
  type HealthCheck,
  type HealthObserver,
  type Reply,
  checkReply,
  checksReply,
  namesOfCheck,
} from "#http";
import type { ApiCall } from "#endpoints";

export type { HealthCheck, HealthObserver } from "#http";

export interface HealthPaths {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
  /** Notices for the verbose output of /readyz that do not make it fail. */
  notes?(): readonly string[];
}

/** Returns the reply of a health path, or undefined for other paths. */
export async function healthReply(
  paths: HealthPaths,
  { target, query }: ApiCall,
  observer?: HealthObserver,
): Promise<Reply | undefined> {
  const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(target.path);
  if (!match) return undefined;
  const [, endpoint, one] = match as unknown as [string, "healthz" | "livez" | "readyz", string | undefined];
  const checks = paths[endpoint];
  if (one !== undefined) {
    const check = checks.find((each) => namesOfCheck(each).includes(one));
    return check ? await checkReply(check) : undefined;
  }
  const notes = endpoint === "readyz" ? (paths.notes?.() ?? []) : [];
  return await checksReply({ endpoint, checks, query, notes, observer });
}
