// Resources of kinds that objects refer to by group and kind.
import type { Clock } from "#base";
import type { ApiClient } from "#client";
import { type Discovered, type ServedResource, discover } from "./discovery.ts";

/** Returns the resource of a kind; rejects if none is served. */
export type ResourceOfKind = (apiVersion: string, kind: string) => Promise<ServedResource>;

const lifeMilliseconds = 30_000;

/** Returns the group of `v1` or `apps/v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";

/** Returns a lookup whose discovery is reused for half a minute: it takes a request per group version. */
export function resourceOfKind(client: ApiClient, clock: Clock): ResourceOfKind {
  let current: { readonly discovered: Promise<Discovered>; readonly until: number } | undefined;
  const discovered = (): Promise<Discovered> => {
    if (!current || clock.monotonic() >= current.until) {
      const fresh = { discovered: discover(client), until: clock.monotonic() + lifeMilliseconds };
      current = fresh;
      fresh.discovered.catch(() => {
        if (current === fresh) current = undefined;
      });
    }
    return current.discovered;
  };
  return async (apiVersion, kind) => {
    const group = groupOf(apiVersion);
    const { resources } = await discovered();
    const served = resources.find((each) => each.kind === kind && groupOf(each.groupVersion) === group);
    if (!served) throw new Error(`no matches for kind "${kind}" in group "${group}"`);
    return served;
  };
}
