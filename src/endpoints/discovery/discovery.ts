// /api, /apis and the paths below: served groups, versions and resources, in the plain and the aggregated
// form.
import { createHash } from "node:crypto";
import {
  APIGroup,
  APIGroupDiscovery,
  APIGroupDiscoveryV2beta1,
  APIGroupList,
  APIResourceList,
  APIVersions,
  listOf,
} from "#api";
import { ApiError, methodNotAllowed, withoutTrailing } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Reply, header } from "#http";
import { type Message, encodeEnvelope, printYaml, protobufCodec } from "#schema";
import type { ApiCall } from "../api-call.ts";
import type { Catalog, GroupVersion } from "../catalog.ts";
import { type Media, contentType, firstAcceptable, justObjects, negotiate } from "../represent/negotiate.ts";
import { checkRoute, objectMedia } from "../represent/route-media.ts";
import { aggregatedGroups } from "./aggregated.ts";
import { type ApiResource, apiResources } from "./resources.ts";

const schemas: Readonly<Record<string, Message>> = { APIVersions, APIGroupList, APIGroup, APIResourceList };

export interface Discovery {
  /** Answers a discovery path; returns undefined for other paths. */
  handle(call: ApiCall): Reply | undefined;
}

export interface DiscoveryOptions {
  readonly serverAddress: () => string;
  /** Called whenever the content of an aggregated document has changed. */
  readonly aggregated?: () => void;
  readonly gates: {
    /** Enables aggregated discovery. */
    readonly aggregated: boolean;
    readonly storageHashes: boolean;
    /** Enables version v2 of aggregated discovery. */
    readonly second: boolean;
  };
}

export function discovery(
  catalog: Catalog,
  dialect: Dialect,
  { serverAddress, aggregated: observe, gates }: DiscoveryOptions,
): Discovery {
  const documents = new Map<string, AggregatedDocument>();
  /** Rebuilt when the served APIs have changed; those of extension API servers may change at any time. */
  const documentOf = (root: "api" | "apis", form: AggregatedForm): AggregatedDocument => {
    const id = `${root} ${form.media} ${form.group}/${form.version}`;
    const known = documents.get(id);
    const { generation } = catalog;
    if (known?.generation === generation && !catalog.versions.some(({ remote }) => remote)) return known;
    const groups = root === "api" ? coreOnly(catalog) : catalog.groups();
    const made = aggregatedDocument(form, groups, generation, dialect);
    if (made.etag !== known?.etag) observe?.();
    documents.set(id, made);
    return made;
  };
  const group = (name: string, versions: readonly GroupVersion[]): Record<string, unknown> => {
    const listed = versions.map(({ groupVersion, version }) => ({ groupVersion, version }));
    return { name, versions: listed, preferredVersion: listed[0] };
  };
  const groupList = (): Record<string, unknown> => ({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: catalog.groups().map(({ name, versions }) => group(name, versions)),
  });
  const versions = (): Record<string, unknown> => ({
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: serverAddress() }],
  });
  const resources = (version: GroupVersion): Record<string, unknown> => ({
    kind: "APIResourceList",
    ...(version.group && { apiVersion: "v1" }),
    groupVersion: version.groupVersion,
    resources: gates.storageHashes ? apiResources(version) : apiResources(version).map(withoutHash),
  });
  /**
   * Answers a read of a version. Groups are returned for any method, whereas the resources of a version can
   * only be read.
   */
  const media = objectMedia(dialect);
  const read = (call: ApiCall, object: Record<string, unknown>): Reply => {
    if (call.method !== "GET") throw methodNotAllowed();
    checkRoute(call.call, { produces: media, consumes: media });
    return plainReply(call, object, dialect);
  };
  return {
    handle: (call) => {
      const { path } = call.target;
      const parts = withoutTrailing(path, "/").split("/");
      const [, root, first, second] = parts;
      if ((root !== "api" && root !== "apis") || parts.length > 4) return undefined;
      if (path.startsWith("/apis//")) return undefined;
      if (parts.length === 2) {
        const aggregated =
          gates.aggregated && path !== "/apis/" && aggregatedForm(call, dialect, gates.second);
        if (aggregated) return aggregatedReply(call, aggregated, documentOf(root, aggregated), dialect);
        return root === "api" ? read(call, versions()) : plainReply(call, groupList(), dialect);
      }
      if (root === "api" && parts.length === 3) {
        const version = catalog.find("", first!);
        return version ? read(call, resources(version)) : throwNotFound();
      }
      if (root === "api") return undefined;
      const found = catalog.groups().find(({ name }) => name === first);
      if (parts.length === 3)
        return found
          ? plainReply(
              call,
              { kind: "APIGroup", apiVersion: "v1", ...group(found.name, found.versions) },
              dialect,
            )
          : undefined;
      const version = catalog.find(first!, second!);
      // For custom groups, any matching media type is accepted.
      if (version && !catalog.isBuiltIn(first!)) return plainReply(call, resources(version), dialect);
      if (version) return read(call, resources(version));
      return catalog.isBuiltIn(first!) ? throwNotFound() : undefined;
    },
  };
}

function withoutHash(resource: ApiResource): ApiResource {
  const { storageVersionHash: _, ...rest } = resource;
  return rest;
}

function throwNotFound(): never {
  throw new ApiError(404, "NotFound", "the server could not find the requested resource", {});
}

const coreOnly = (catalog: Catalog): { name: string; versions: readonly GroupVersion[] }[] => [
  { name: "", versions: catalog.versions.filter(({ group }) => group === "") },
];

/** Returns the version of aggregated discovery the client accepts, even if it prefers the plain form. */
function aggregatedForm(call: ApiCall, dialect: Dialect, second: boolean): AggregatedForm | undefined {
  const own = groupName(dialect, { group: "apidiscovery", branded: true });
  const accept = header(call.call.headers, "accept") ?? "";
  return firstAcceptable(accept, dialect, (media, { as, g: group, v: version, sv }) => {
    if (as !== "APIGroupDiscoveryList" || sv) return undefined;
    if (group === undefined || (group !== dialect.wire.discoveryGroup && group !== own)) return undefined;
    // Earlier releases serve v2 only to clients with the group's original name built in, if that is not the
    // dialect's own.
    return version === "v2beta1" ||
      (version === "v2" && (second || (group === dialect.wire.discoveryGroup && group !== own)))
      ? { media, group, version }
      : undefined;
  });
}

interface AggregatedForm {
  readonly media: Media;
  readonly group: string;
  readonly version: "v2" | "v2beta1";
}

interface AggregatedDocument {
  readonly generation: number;
  readonly body: Buffer;
  readonly etag: string;
}

function aggregatedDocument(
  { media, group, version }: AggregatedForm,
  groups: readonly { name: string; versions: readonly GroupVersion[] }[],
  generation: number,
  dialect: Dialect,
): AggregatedDocument {
  const items = aggregatedGroups(groups, version === "v2");
  const type = { kind: "APIGroupDiscoveryList", apiVersion: `${group}/${version}` };
  const list = { ...type, metadata: {}, items };
  const json = Buffer.from(`${JSON.stringify(list)}\n`);
  // All forms share one ETag: it is computed from the content.
  const etag = `"${createHash("sha512").update(json).digest("hex").toUpperCase()}"`;
  if (media === "json") return { generation, body: json, etag };
  if (media === "yaml") return { generation, body: Buffer.from(printYaml(list)), etag };
  const schema = listOf(version === "v2" ? APIGroupDiscovery : APIGroupDiscoveryV2beta1);
  const bytes = protobufCodec(schema).encode(list as never);
  return { generation, body: Buffer.from(encodeEnvelope(type, bytes, dialect.wire.protobufMagic)), etag };
}

function aggregatedReply(
  call: ApiCall,
  { media, group, version }: AggregatedForm,
  { etag, body }: AggregatedDocument,
  dialect: Dialect,
): Reply {
  const headers = {
    etag,
    vary: "Accept",
    "cache-control": "public",
    "content-type": `${contentType(media, dialect)};g=${group};v=${version};as=APIGroupDiscoveryList`,
  };
  if (header(call.call.headers, "if-none-match") === etag) return { status: 304, headers };
  return { status: 200, headers, body };
}

function plainReply(call: ApiCall, object: Record<string, unknown>, dialect: Dialect): Reply {
  const choice = negotiate(call.call, call.query, dialect, justObjects);
  const headers = { "content-type": contentType(choice.media, dialect) };
  if (choice.media === "yaml") return { status: 200, headers, body: Buffer.from(printYaml(object)) };
  if (choice.media === "protobuf") {
    const kind = object["kind"] as string;
    const bytes = protobufCodec(schemas[kind]!).encode(object);
    return {
      status: 200,
      headers,
      body: encodeEnvelope(
        { apiVersion: (object["apiVersion"] as string | undefined) ?? "", kind },
        bytes,
        dialect.wire.protobufMagic,
      ),
    };
  }
  return {
    status: 200,
    headers,
    body: Buffer.from(choice.pretty ? JSON.stringify(object, undefined, 2) : `${JSON.stringify(object)}\n`),
  };
}
