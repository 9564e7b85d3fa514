// The controller of API services (aggregation), wired to this server.
import { readFileSync, statSync } from "node:fs";
import { APIService } from "#api";
import type { Catalog } from "#endpoints";
import {
  AggregationController,
  type AggregationObserver,
  type ClientPair,
  type DefinitionController,
  type LocalVersion,
  type ResolveService,
} from "#extensions";
import type { Resource, ServerObjects } from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";

export interface AggregationParts {
  readonly settings: ApiserverSettings;
  readonly builtIn: Catalog;
  readonly definitions: DefinitionController;
  readonly resolve: ResolveService;
  readonly observer: AggregationObserver;
  readonly stopping: AbortSignal;
}

export function aggregationController(
  { dialect, clock, writer, onError }: ServerObjects,
  all: readonly Resource[],
  { settings, builtIn, definitions, resolve, observer, stopping }: AggregationParts,
): AggregationController {
  const own = builtIn.versions
    .map(({ group, version, neutral }): LocalVersion => ({
      group,
      neutralGroup: neutral,
      version,
      custom: false,
    }))
    .filter(({ neutralGroup }) => neutralGroup !== APIService.kind.group);
  return new AggregationController({
    services: all.find(({ strategy }) => strategy.hub === APIService)!,
    dialect,
    clock,
    resolve,
    pair: clientPair(settings.proxyClientCertFile, settings.proxyClientKeyFile),
    rejectRedirects: settings.aggregatorRejectForwardingRedirect,
    stopping,
    observer,
    local: () => [...own, ...definedVersions(definitions, builtIn)],
    localComplete: () => definitions.loaded(),
    localGeneration: () => definitions.generation(),
    onLocalChange: (changed) => definitions.onChange(changed),
    request: (endpoint) => writer.request(endpoint),
    onError,
  });
}

/** Returns the group versions that custom resource definitions add to the built-in ones. */
function definedVersions(definitions: DefinitionController, builtIn: Catalog): LocalVersion[] {
  const found = new Map<string, LocalVersion>();
  for (const { group, version } of definitions.served())
    if (!builtIn.find(group, version))
      found.set(`${group}/${version}`, { group, neutralGroup: group, version, custom: true });
  return [...found.values()];
}

/** Returns the client certificate and key, read again when the files change. */
function clientPair(certificate: string, key: string): ClientPair {
  let known:
    | { readonly time: string; readonly pair: { readonly cert: string; readonly key: string } }
    | undefined;
  return () => {
    if (certificate === "" || key === "") return undefined;
    const time = [certificate, key].map((path) => statSync(path).mtimeMs).join();
    if (known?.time !== time)
      known = { time, pair: { cert: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") } };
    return known.pair;
  };
}
