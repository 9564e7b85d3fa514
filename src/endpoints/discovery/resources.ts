// The resources of a group version, as listed in discovery.
import { createHash } from "node:crypto";
import type { Endpoint } from "#registry";
import { type GroupVersion, verbsOf } from "../catalog.ts";

export interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
  /** Not part of the output: the resource is defined at run time. */
  custom?: boolean;
}

/**
 * Lists the resources of a version: custom resources follow the built-in ones, each with its subresources.
 */
export function apiResources(version: GroupVersion): ApiResource[] {
  if (version.remote)
    return version.remote
      .resources()
      .map((each) => Object.defineProperty({ ...each }, "custom", { value: true }) as unknown as ApiResource);
  const list: ApiResource[] = [];
  const defined: ApiResource[] = [];
  for (const [name, endpoint] of version.endpoints) {
    if (endpoint.resource.strategy.custom) {
      defined.push(...customResources(name, endpoint));
      continue;
    }
    const { strategy, namespaced, hub, hubVersion } = endpoint.resource;
    list.push({
      name,
      singularName: strategy.singular,
      namespaced,
      kind: endpoint.kind,
      verbs: [...verbsOf(endpoint)].sort(),
      ...(strategy.shortNames && { shortNames: [...strategy.shortNames] }),
      ...(strategy.categories && { categories: [...strategy.categories] }),
      storageVersionHash: storageHash(hubVersion, hub.kind.kind),
    });
    if (strategy.scale)
      list.push({
        name: `${name}/scale`,
        singularName: "",
        namespaced,
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: ["get", "patch", "update"],
      });
    for (const [part, { verbs, kind, kindGroup }] of Object.entries(strategy.subresources ?? {})) {
      list.push({
        name: `${name}/${part}`,
        singularName: "",
        namespaced,
        ...(kindGroup && { group: kindGroup.group, version: kindGroup.version }),
        kind: kind ?? endpoint.kind,
        verbs: [...(verbs ?? ["get", "patch", "update"])].sort(),
      });
    }
  }
  for (const [name, special] of version.virtual) {
    list.push({
      name,
      singularName: special.singular ?? "",
      namespaced: special.namespaced,
      ...(special.kindGroup && { group: special.kindGroup.group, version: special.kindGroup.version }),
      kind: special.kind,
      verbs: [...special.verbs],
      ...(special.shortNames && { shortNames: [...special.shortNames] }),
    });
  }
  return [...list.sort((a, b) => (a.name < b.name ? -1 : 1)), ...defined];
}

function customResources(name: string, endpoint: Endpoint): ApiResource[] {
  const { strategy, namespaced, hubVersion, conversion } = endpoint.resource;
  const { kind } = endpoint;
  const part = { singularName: "", namespaced, verbs: ["get", "patch", "update"] };
  const own: ApiResource = {
    name,
    singularName: strategy.singular,
    namespaced,
    kind,
    verbs: [...verbsOf(endpoint)],
    ...(strategy.shortNames && { shortNames: [...strategy.shortNames] }),
    ...(strategy.categories && { categories: [...strategy.categories] }),
    storageVersionHash: storageHash(conversion?.storedVersion ?? hubVersion, kind),
  };
  const parts: ApiResource[] = [];
  if (strategy.subresources?.["status"]) parts.push({ ...part, name: `${name}/status`, kind });
  if (strategy.scale)
    parts.push({ ...part, name: `${name}/scale`, group: "autoscaling", version: "v1", kind: "Scale" });
  return [own, ...parts].map((each) => Object.defineProperty(each, "custom", { value: true }));
}

/** The hash of group, version and kind; the core group has an empty name. */
function storageHash(apiVersion: string, kind: string): string {
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return createHash("sha256").update(`${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}
