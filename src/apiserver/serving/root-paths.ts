// Non-resource paths: the list of all paths, and the version.
import type { Reply } from "#http";
import { type ApiCall, type Catalog, type PathHandler, checkRoute } from "#endpoints";
import { methodNotAllowed, versionInfo, withoutTrailing } from "#base";
import type { HealthPaths } from "../health/health.ts";

export interface RootPathOptions {
  readonly health: HealthPaths;
  /** Further paths to include in the list of all paths. */
  readonly more: readonly string[];
  /** The minor release that is served. */
  readonly release: number;
}

export function rootPaths(catalog: () => Catalog, { health, more, release }: RootPathOptions): PathHandler {
  return (call) => {
    const { path } = call.target;
    if (path === "/" || path === "/index.html") return json({ paths: allPaths(catalog(), health, more) });
    if (withoutTrailing(path, "/") === "/version") {
      if (call.method !== "GET") throw methodNotAllowed();
      checkRoute(call.call, { produces: ["application/json"], consumes: ["application/json"] });
      return json(versionInfo(release));
    }
    return undefined;
  };
}

const json = (body: unknown): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(body, undefined, 2)),
});

function allPaths(catalog: Catalog, health: HealthPaths, more: readonly string[]): string[] {
  const groups = catalog
    .groups()
    .flatMap(({ name, versions }) => [
      `/apis/${name}`,
      ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
    ]);
  const checks = (["healthz", "livez", "readyz"] as const).flatMap((endpoint) => [
    `/${endpoint}`,
    ...health[endpoint].map(({ name }) => `/${endpoint}/${name}`),
  ]);
  return [
    "/.well-known/openid-configuration",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    ...groups,
    ...checks,
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/version",
    ...more,
  ].sort();
}

export type { ApiCall };
