// Resources of kinds that objects refer to by group and kind.
import type { Clock } from "#base";
import type { ApiClient } from "#client";
import { type ServedResource, discover } from "./discovery.ts";
import { reused } from "./reused.ts";

/** Returns the resource of a kind; rejects if none is served. */
export type ResourceOfKind = (apiVersion: string, kind: string) => Promise<ServedResource>;

const lifeMilliseconds = 30_000;

/** Returns the group of `v1` or `apps/v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";

/** Returns a lookup whose discovery is reused for half a minute: it takes a request per group version. */
export function resourceOfKind(client: ApiClient, clock: Clock): ResourceOfKind {
  const discovered = reused(clock, lifeMilliseconds, () => discover(client));
  return async (apiVersion, kind) => {
    const group = groupOf(apiVersion);
    const { resources } = await discovered();
    const served = resources.find((each) => each.kind === kind && groupOf(each.groupVersion) === group);
    if (!served) throw new Error(`no matches for kind "${kind}" in group "${group}"`);
    return served;
  };
}
