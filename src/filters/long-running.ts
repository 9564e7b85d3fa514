// Requests whose duration is up to the client: they have no deadline and do not count as in flight.
import type { Target } from "#endpoints";

const verbs = new Set(["watch", "proxy"]);
const subresources = new Set(["attach", "exec", "proxy", "log", "portforward"]);

export function isLongRunning(target: Target): boolean {
  if (!target.isResource) return target.path.startsWith("/debug/pprof/");
  return verbs.has(target.verb) || (target.subresource !== "" && subresources.has(target.subresource));
}

const reading = new Set(["get", "list", "watch"]);

/** Reports whether the verb may modify something. */
export const isMutating = ({ verb }: Target): boolean => !reading.has(verb);

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/;

/** Reports whether the request is a liveness or readiness check. */
export const isHealthCheck = ({ isResource, path }: Target): boolean => !isResource && healthPaths.test(path);
