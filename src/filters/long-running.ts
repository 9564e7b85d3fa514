// Requests that last as long as their client likes: no deadline, no place among the requests in flight.
import type { Target } from "#endpoints";

const verbs = new Set(["watch", "proxy"]);
const subresources = new Set(["attach", "exec", "proxy", "log", "portforward"]);

export function isLongRunning(target: Target): boolean {
  if (!target.isResource) return target.path.startsWith("/debug/pprof/");
  return verbs.has(target.verb) || (target.subresource !== "" && subresources.has(target.subresource));
}

const reading = new Set(["get", "list", "watch"]);

/** Whether the verb may change something. */
export const isMutating = ({ verb }: Target): boolean => !reading.has(verb);

const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/;

/** Whether somebody asks whether the server is alive or ready. */
export const isHealthCheck = ({ isResource, path }: Target): boolean => !isResource && healthPaths.test(path);
