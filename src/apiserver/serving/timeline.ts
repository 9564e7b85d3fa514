// The event timeline of a server: served with the page, or where --runtime-config asks for it.
import type { Authorizer } from "#authz";
import type { Clock } from "#base";
import { timelineGroup } from "#dialect";
import { type PathHandler, versionsSwitchedOn } from "#endpoints";
import type { Resource } from "#registry";
import { timeline } from "#timeline";
import type { ApiserverSettings } from "../options/settings.ts";

export interface TimelineParts {
  readonly settings: Pick<ApiserverSettings, "ui" | "runtimeConfig" | "minRequestTimeout">;
  readonly resources: readonly Resource[];
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The paths of the timeline; none where it is switched off. */
export function timelinePaths({
  settings,
  resources,
  authorizer,
  clock,
  signal,
}: TimelineParts): PathHandler[] {
  if (!settings.ui && !versionsSwitchedOn(settings.runtimeConfig).includes(`${timelineGroup}/v1`)) return [];
  const { minRequestTimeout: minRequestTimeoutSeconds } = settings;
  return [timeline({ resources, authorizer, clock, closing: signal, minRequestTimeoutSeconds })];
}
