// API discovery, and metadata access to any resource, for controllers that handle all kinds, including ones
// whose schema is unknown here.
import { ApiError } from "#base";
import {
  type AnyObject,
  type ApiClient,
  type DeleteParameters,
  type ListParameters,
  type ListResult,
  type WatchEvent,
  type WatchParameters,
  watchPath,
} from "#client";
import { groupName } from "#dialect";

export interface ServedResource {
  /** `v1` or `apps/v1`. */
  readonly groupVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface Discovered {
  readonly resources: readonly ServedResource[];
  /** Group versions that could not be discovered, each with the error. */
  readonly failed: readonly string[];
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced?: boolean;
    readonly verbs?: readonly string[];
  }[];
}
interface Version {
  readonly groupVersion: string;
}
interface GroupList {
  readonly groups?: readonly {
    readonly preferredVersion?: Version;
    readonly versions?: readonly Version[];
  }[];
}

/**
 * Returns every resource once: in the preferred version of its group, or in the first other version that has it.
 */
export async function discover(client: ApiClient): Promise<Discovered> {
  const { groups = [] } = (await client.request("GET", "/apis")) as GroupList;
  const versions = [
    "v1",
    ...groups.flatMap(({ preferredVersion, versions: all = [] }) => [
      ...new Set([...(preferredVersion ? [preferredVersion] : []), ...all].map((each) => each.groupVersion)),
    ]),
  ];
  const failed: string[] = [];
  const found = await Promise.all(
    versions.map(async (groupVersion) => {
      try {
        const { resources = [] } = (await client.request("GET", rootOf(groupVersion))) as ResourceList;
        return resources
          .filter(({ name }) => !name.includes("/"))
          .map(({ name, kind, namespaced, verbs }): ServedResource => ({
            groupVersion,
            kind,
            plural: name,
            namespaced: namespaced ?? false,
            verbs: verbs ?? [],
          }));
      } catch (error) {
        failed.push(`${groupVersion}: ${(error as Error).message}`);
        return [];
      }
    }),
  );
  const resources = new Map<string, ServedResource>();
  for (const each of found.flat())
    if (!resources.has(resourceText(each))) resources.set(resourceText(each), each);
  return { resources: [...resources.values()], failed };
}

const rootOf = (groupVersion: string): string =>
  groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;

/** Formats a resource as `pods.` or `deployments.apps`. */
export const resourceText = ({ groupVersion, plural }: ServedResource): string =>
  `${plural}.${groupVersion.includes("/") ? groupVersion.split("/")[0] : ""}`;

/** Objects of one resource, reduced to their metadata. */
export interface MetadataClient {
  list(parameters?: ListParameters): Promise<ListResult<AnyObject>>;
  watch(parameters: WatchParameters): AsyncIterable<WatchEvent<AnyObject>>;
  /** Returns undefined if the object does not exist. */
  get(namespace: string | undefined, name: string): Promise<AnyObject | undefined>;
  /** Returns the patched object; undefined if it does not exist. */
  patch(namespace: string | undefined, name: string, patch: unknown): Promise<AnyObject | undefined>;
  delete(
    namespace: string | undefined,
    name: string,
    parameters: Pick<DeleteParameters, "uid" | "resourceVersion" | "propagation" | "graceSeconds">,
  ): Promise<boolean>;
  deleteAll(namespace: string): Promise<void>;
}

export function metadataClient(
  client: ApiClient,
  { groupVersion, plural, namespaced }: ServedResource,
): MetadataClient {
  const form = `g=${groupName(client.dialect, { group: "meta", branded: true })};v=v1`;
  const one = { accept: `application/json;as=PartialObjectMetadata;${form}` };
  const many = { accept: `application/json;as=PartialObjectMetadataList;${form}` };
  const collectionPath = (namespace: string | undefined): string =>
    `${rootOf(groupVersion)}${namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ""}/${plural}`;
  const path = (namespace: string | undefined, name: string): string =>
    `${collectionPath(namespace)}/${encodeURIComponent(name)}`;
  return {
    list: async ({ namespace, ...query } = {}) => {
      const response = (await client.request(
        "GET",
        collectionPath(namespace) + queryOf(query),
        undefined,
        many,
      )) as {
        metadata: { resourceVersion: string; continue?: string };
        items?: AnyObject[] | null;
      };
      return {
        resourceVersion: response.metadata.resourceVersion,
        ...(response.metadata.continue && { continue: response.metadata.continue }),
        items: response.items ?? [],
      };
    },
    watch: ({ namespace, signal, bookmarks, ...query }) =>
      watchPath(
        client.transport,
        collectionPath(namespace) +
          queryOf({ watch: true, ...(bookmarks && { allowWatchBookmarks: true }), ...query }),
        signal,
        one.accept,
      ),
    get: (namespace, name) =>
      unlessNotFound(client.request("GET", path(namespace, name), undefined, one) as Promise<AnyObject>),
    patch: (namespace, name, patch) =>
      unlessNotFound(
        client.request("PATCH", path(namespace, name), patch, {
          ...one,
          "content-type": "application/merge-patch+json",
        }) as Promise<AnyObject>,
      ),
    delete: async (namespace, name, { uid, resourceVersion, propagation, graceSeconds }) => {
      const options = {
        kind: "DeleteOptions",
        apiVersion: "v1",
        preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
        ...(propagation && { propagationPolicy: propagation }),
        ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
      };
      return (
        (await unlessNotFound(client.request("DELETE", path(namespace, name), options, one))) !== undefined
      );
    },
    deleteAll: async (namespace) =>
      void (await client.request("DELETE", collectionPath(namespace), {
        kind: "DeleteOptions",
        apiVersion: "v1",
        propagationPolicy: "Background",
      })),
  };
}

/** A resource that is no longer served in this version is an error: its objects may exist in another one. */
async function unlessNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404 && error.details?.name) return undefined;
    throw error;
  }
}

function queryOf(parameters: object): string {
  const parts = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return parts.length === 0
    ? ""
    : `?${parts.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&")}`;
}
