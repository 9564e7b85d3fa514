// /openapi/v2 and /openapi/v3: built on first request, then served from memory and identified by their
// hashes.
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Dialect } from "#dialect";
import { type Reply, header, parseAccept } from "#http";
import type { ApiCall } from "../api-call.ts";
import type { Catalog } from "../catalog.ts";
import type { PathHandler } from "../router.ts";
import { pathItems } from "./path-items.ts";
import { type DocumentOptions, documentNames, openApiV2, openApiV3 } from "./document.ts";
import { binaryV2 } from "./binary-v2.ts";
import { binaryV3 } from "./binary-v3.ts";
import { convertedToV3 } from "./convert-to-v3.ts";
import { documentReply } from "./document-reply.ts";
import { type RemotePart, mergedV2 } from "./merge-v2.ts";

interface Made {
  readonly body: Buffer;
  readonly hash: string;
  readonly of: unknown;
  /** The time it was built, formatted for headers. */
  readonly at: string;
}

/** The OpenAPI 2 document also varies by encoding. */
const varyV2 = "Accept-Encoding, Accept";
/** The binary form of a version of OpenAPI: what clients ask for, and how it is returned. */
const binaryTypes = (version: "v2" | "v3"): readonly string[] =>
  ["@", "."].map((mark) => `application/com.github.proto-openapi.spec.${version}${mark}v1.0+protobuf`);
const [binaryTypesV2, binaryTypesV3] = [binaryTypes("v2"), binaryTypes("v3")];

export interface OpenApiOptions extends DocumentOptions {
  /** Called when the OpenAPI 2 document is built for the first time. */
  readonly described?: (seconds: number) => void;
}

export function openApi(
  catalog: () => Catalog,
  dialect: Dialect,
  { described = () => undefined, ...options }: OpenApiOptions = {},
): PathHandler {
  const forClients: Dialect = {
    ...dialect,
    wire: { ...dialect.wire, extensionPrefix: dialect.wire.clientExtensionPrefix },
  };
  const made = new Map<string, Made>();
  /** `of` is the source of the document: if it has changed, the document is rebuilt. */
  const cachedDocument = (id: string, of: unknown, make: () => Buffer): Made => {
    let known = made.get(id);
    if (!known || known.of !== of) {
      const body = make();
      made.set(
        id,
        (known = {
          body,
          of,
          hash: createHash("sha512").update(body).digest("hex").toUpperCase(),
          at: new Date().toUTCString(),
        }),
      );
    }
    return known;
  };
  let hasDescribed = false;
  /** Builds the OpenAPI 2 document before it is encoded. */
  const documentV2 = (named: Dialect): ReturnType<typeof mergedV2> => {
    const began = performance.now();
    const document = mergedV2(openApiV2(catalog(), named, options), remoteParts());
    if (!hasDescribed) described((performance.now() - began) / 1000);
    hasDescribed = true;
    return document;
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  return (call) => {
    const { path } = call.target;
    if (path === "/openapi/v2") {
      const type = chosen(call, ["application/json", ...binaryTypesV2]);
      if (!type) return { ...notAcceptable, headers: { vary: varyV2 } };
      if (type !== "application/json") {
        return cached(
          call,
          cachedDocument("v2 binary", catalog().generation, () => binaryV2(documentV2(forClients))),
          binaryTypesV2[1]!,
          varyV2,
        );
      }
      return cached(
        call,
        cachedDocument("v2", catalog().generation, () => json(documentV2(dialect))),
        "application/json",
        varyV2,
      );
    }
    if (path === "/openapi/v3") return index(call);
    if (!path.startsWith("/openapi/v3/")) return undefined;
    const name = path.slice("/openapi/v3/".length);
    const foreign = converted().find((part) => part.root === `/${name}`);
    if (!foreign && !documentNames(catalog(), dialect, options.hasLogs).includes(name))
      return { status: 404, headers: {} };
    const type = chosen(call, ["application/json", ...binaryTypesV3]);
    if (!type) return notAcceptable;
    const isBinary = type !== "application/json";
    const found = foreign ? convertedDocument(foreign) : document(name);
    const requestedHash = call.query.get("hash");
    if (requestedHash !== undefined && requestedHash !== found.hash)
      return {
        status: 301,
        headers: {
          location: `${path}?hash=${found.hash}`,
          vary: "Accept",
          "content-type": isBinary ? binaryTypesV3[1]! : type,
        },
      };
    const reply = isBinary
      ? cached(call, binary(name, found), binaryTypesV3[1]!)
      : cached(call, found, "application/json");
    if (requestedHash === undefined) return reply;
    return {
      ...reply,
      headers: {
        ...reply.headers,
        "cache-control": "public, immutable",
        expires: new Date(Date.now() + 365 * 86_400_000).toUTCString(),
      },
    };
  };

  /** The binary form of a document, with the hash of its JSON form. */
  function binary(name: string, { body, hash, at }: Made): Made {
    const encoded = cachedDocument(`v3 binary ${name}`, body, () => binaryV3(JSON.parse(body.toString())));
    return { ...encoded, hash, at };
  }

  /** The OpenAPI 2 documents of the available extension API servers. */
  function remoteParts(): RemotePart[] {
    return catalog().versions.flatMap(({ remote, group, version }) => {
      const document = remote?.available ? remote.description?.()?.v2 : undefined;
      return document ? [{ root: `/apis/${group}/${version}`, document }] : [];
    });
  }

  /** Those of servers that do not publish OpenAPI 3. */
  function converted(): RemotePart[] {
    const newer = new Set<unknown>();
    for (const { remote } of catalog().versions) {
      const description = remote?.description?.();
      if (description?.v3) newer.add(description.v2);
    }
    return remoteParts().filter(({ document }) => !newer.has(document));
  }

  function convertedDocument({ root, document: older }: RemotePart): Made {
    return cachedDocument(`v3 ${root.slice(1)}`, older, () => json(convertedToV3(older, root)));
  }

  /**
   * Lists the hashes of all documents. Missing documents are built one at a time, so that other requests are
   * not delayed for all of them.
   */
  async function index(call: ApiCall): Promise<Reply> {
    const paths: Record<string, { readonly serverRelativeURL: string }> = {};
    for (const name of documentNames(catalog(), dialect, options.hasLogs)) {
      if (!made.has(`v3 ${name}`)) await setImmediate();
      paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${document(name).hash}` };
    }
    for (const part of converted())
      paths[part.root.slice(1)] = {
        serverRelativeURL: `/openapi/v3${part.root}?hash=${convertedDocument(part).hash}`,
      };
    for (const { remote } of catalog().versions)
      for (const [name, serverRelativeURL] of (remote?.available && remote.description?.()?.v3) || [])
        if (!Object.hasOwn(paths, name)) paths[name] = { serverRelativeURL };
    return documentReply(call.call.headers, {
      body: json({ paths: sortedByName(paths) }),
      headers: { "content-type": "text/plain; charset=utf-8", "last-modified": new Date().toUTCString() },
    });
  }

  function document(name: string): Made {
    const of = pathItems(catalog(), dialect, options.hasLogs).get(name);
    const known = made.get(`v3 ${name}`);
    // Removed groups leave documents behind: drop them from time to time.
    const most = 2 * (documentNames(catalog(), dialect, options.hasLogs).length + converted().length + 1);
    if (!known && made.size > most) made.clear();
    return cachedDocument(`v3 ${name}`, of, () => json(openApiV3(name, catalog(), dialect, options)));
  }
}

const sortedByName = <T>(paths: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));

const notAcceptable: Reply = { status: 406, headers: { vary: "Accept" } };

/** Returns the first offered type that the client accepts, by the client's order. */
function chosen(call: ApiCall, offered: readonly string[]): string | undefined {
  const types = offered.map((item) => ({ item, of: item.split("/") }));
  for (const { type, subtype } of parseAccept(header(call.call.headers, "accept") || "*/*")) {
    const found = types.find(
      ({ of: [major, minor] }) => (type === major || type === "*") && (subtype === minor || subtype === "*"),
    );
    if (found) return found.item;
  }
  return undefined;
}

function cached(call: ApiCall, { body, hash, at }: Made, type: string, vary = "Accept"): Reply {
  return documentReply(call.call.headers, {
    body,
    headers: { "content-type": type, etag: `"${hash}"`, vary, "last-modified": at },
  });
}
