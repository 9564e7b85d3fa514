// All published paths, by the OpenAPI 3 document that describes them. OpenAPI 2 describes all of them in one
// document.
import { APIGroup, APIGroupList, APIResourceList, APIVersions, VersionInfo } from "#api";
import type { Dialect } from "#dialect";
import type { Catalog, GroupVersion } from "../catalog.ts";
import {
  type Operation,
  type PathItem,
  idPart,
  media,
  resourcePaths,
  rootOf,
  shared,
  tagOf,
} from "./operations.ts";
import { specialPaths } from "./special-paths.ts";
import { watchPaths } from "./watch-paths.ts";

interface Made {
  readonly generation: number;
  readonly items: ReadonlyMap<string, readonly PathItem[]>;
}

const known = new WeakMap<Catalog, Made>();
/** Cached by version: versions not affected by a change of definitions are not rebuilt. */
const byVersion = new WeakMap<GroupVersion, readonly PathItem[]>();

/** The documents by name: `apis/apps/v1`, `version`; `logs` if the host's log files are served. */
export function pathItems(
  catalog: Catalog,
  dialect: Dialect,
  hasLogs = false,
): ReadonlyMap<string, readonly PathItem[]> {
  const { generation } = catalog;
  let made = known.get(catalog);
  if (made?.generation !== generation)
    known.set(catalog, (made = { generation, items: madeItems(catalog, dialect, hasLogs) }));
  return made.items;
}

function madeItems(catalog: Catalog, dialect: Dialect, hasLogs: boolean): Map<string, readonly PathItem[]> {
  const documents = new Map<string, readonly PathItem[]>();
  for (const version of catalog.versions) {
    if (version.remote) continue;
    let items = byVersion.get(version);
    if (!items) {
      const builtIn = catalog.isBuiltIn(version.group);
      byVersion.set(version, (items = versionItems(version, dialect, builtIn).map(shared)));
    }
    documents.set(rootOf(version).slice(1), items);
  }
  const addDocument = (
    path: string,
    operation: Pick<Operation, "id" | "tag" | "doc" | "answers"> & Partial<Operation>,
  ): void => {
    const types = media(dialect);
    documents.set(path.slice(1, -1), [
      {
        path,
        parameters: [],
        operations: [{ method: "get", consumes: types, produces: types, parameters: [], ...operation }],
      },
    ]);
  };
  addDocument("/api/", {
    id: "getCoreAPIVersions",
    tag: "core",
    doc: "The versions of the core group.",
    answers: { "200": APIVersions },
  });
  addDocument("/apis/", {
    id: "getAPIVersions",
    tag: "apis",
    doc: "The groups of the API.",
    answers: { "200": APIGroupList },
  });
  for (const { name, versions } of catalog.groups()) {
    if (name === "" || !catalog.isBuiltIn(name)) continue;
    const part = idPart(versions[0]!, dialect).slice(0, -versions[0]!.version.length);
    addDocument(`/apis/${name}/`, {
      id: `get${part}APIGroup`,
      tag: part.charAt(0).toLowerCase() + part.slice(1),
      doc: `The versions of ${name}.`,
      answers: { "200": APIGroup },
    });
  }
  const json = ["application/json"];
  addDocument("/version/", {
    id: "getCodeVersion",
    tag: "version",
    doc: "The version of the server.",
    consumes: json,
    produces: json,
    answers: { "200": VersionInfo },
  });
  documents.set(".well-known/openid-configuration", [
    openIdItem(
      "/.well-known/openid-configuration/",
      "getServiceAccountIssuerOpenIDConfiguration",
      "WellKnown",
      "application/json",
      "Who signs the tokens of service accounts, and how.",
    ),
  ]);
  documents.set("openid/v1/jwks", [
    openIdItem(
      "/openid/v1/jwks/",
      "getServiceAccountIssuerOpenIDKeyset",
      "openid",
      "application/jwk-set+json",
      "The keys that tokens of service accounts are signed with.",
    ),
  ]);
  if (hasLogs) documents.set("logs", logItems);
  return documents;
}

const logItem = (path: string, id: string, parameters: PathItem["parameters"]): PathItem => ({
  path,
  parameters,
  operations: [{ method: "get", id, tag: "logs", parameters: [], answers: {} }],
});
const logItems: readonly PathItem[] = [
  logItem("/logs/", "logFileListHandler", []),
  logItem("/logs/{logpath}", "logFileHandler", [
    { name: "logpath", in: "path", type: "string", required: true, doc: "path to the log" },
  ]),
];

function versionItems(version: GroupVersion, dialect: Dialect, builtIn: boolean): PathItem[] {
  const types = media(dialect);
  const resources: Operation = {
    method: "get",
    id: `get${idPart(version, dialect)}APIResources`,
    tag: tagOf(version, dialect),
    doc: "The resources there are.",
    consumes: types,
    produces: types,
    parameters: [],
    answers: { "200": APIResourceList },
  };
  const endpoints = [...version.endpoints.values()];
  return [
    ...(builtIn ? [{ path: `${rootOf(version)}/`, parameters: [], operations: [resources] }] : []),
    ...endpoints.flatMap((endpoint) => resourcePaths(version, endpoint, dialect)),
    ...[...version.virtual.values()].flatMap((special) => specialPaths(version, special, dialect)),
    ...endpoints.flatMap((endpoint) => watchPaths(version, endpoint, dialect)),
  ];
}

const openIdItem = (path: string, id: string, tag: string, type: string, doc: string): PathItem => ({
  path,
  parameters: [],
  operations: [
    { method: "get", id, tag, doc, produces: [type], parameters: [], answers: { "200": "string" } },
  ],
});
