// Encodes objects, lists and watch frames in the form a client requested. The common case splices bytes
// without parsing.
import { PartialObjectMetadata, Status, Table, listOf } from "#api";
import { type Caller, deepCopy } from "#base";
import type { Dialect } from "#dialect";
import { lengthOf } from "#http";
import type { ApiObject, Endpoint, KindSchema } from "#registry";
import {
  type Message,
  ProtobufWriter,
  canonical,
  encodeEnvelope,
  encodeJson,
  printYaml,
  protobufCodec,
  stringifyJson,
} from "#schema";
import {
  type CachedObject,
  type FrameEncoder,
  type FrameType,
  copyItem,
  isForOneAnswer,
  itemBytes,
} from "#watchcache";
import { isShortList, longList, splicedLongList, splicedPieces } from "./long-list.ts";
import type { Choice, Media } from "./negotiate.ts";
import { type IncludeObject, columnDefinitions, partialMetadata, rowOf, withoutOwn } from "./table.ts";

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface ListBody {
  readonly parts: readonly Uint8Array[];
  /** The parts are not shared with other responses. */
  readonly unshared: boolean;
}

export interface Representation extends FrameEncoder {
  readonly media: Media;
  object(cached: CachedObject): Uint8Array;
  /** Returns a promise for a long list that has to be encoded item by item. */
  list(items: readonly CachedObject[], metadata: ListMetadata, caller?: Caller): ListBody | Promise<ListBody>;
  /** Encodes a bookmark; `complete` declares that all initial events have been sent before it. */
  bookmark(revision: number, complete?: boolean): Uint8Array;
  /** Encodes an error in a watch stream. */
  error(status: Record<string, unknown>): Uint8Array;
  /** The representation of the frames after the first one, if they differ. */
  readonly afterFirst?: Representation;
}

/**
 * Creates the representation of one endpoint. Callers cache it: watch frames are shared per representation.
 */
export function representation(
  endpoint: Endpoint,
  choice: Choice,
  include: IncludeObject,
  now: () => Date,
): Representation {
  const { dialect } = endpoint.resource;
  if (choice.media === "json" && choice.form === "object" && endpoint.isHub && !choice.pretty)
    return spliced(endpoint);
  if (choice.form === "Table") {
    const first = shaped(table(endpoint, choice, include, now, true), choice, dialect);
    return { ...first, afterFirst: shaped(table(endpoint, choice, include, now, false), choice, dialect) };
  }
  return shaped(choice.form === "object" ? whole(endpoint) : metadataOnly(endpoint, choice), choice, dialect);
}

function shaped(shape: ShapeOf, choice: Choice, dialect: Dialect): Representation {
  const write = writer(choice, dialect);
  return {
    media: choice.media,
    object: (cached) => write.whole(shape.one(cached), shape.schema),
    list: (given, metadata, caller) => {
      const items = shape.sorted?.(given) ?? given;
      if (isShortList(items)) {
        const whole =
          items.length === 0 && shape.emptyList
            ? shape.emptyList(metadata)
            : shape.list(items.map(shape.item), metadata);
        return { parts: [write.whole(whole, shape.listSchema)], unshared: true };
      }
      return longList(
        items,
        {
          empty: shape.list([], metadata),
          listSchema: shape.listSchema,
          itemSchema: shape.schema,
          item: shape.item,
        },
        choice,
        dialect.wire.protobufMagic,
        caller,
      ).then((parts) => ({ parts, unshared: true }));
    },
    encode: (type, item) => write.frame(type, shape.one(item), shape.schema),
    bookmark: (revision, complete) =>
      write.frame("BOOKMARK", shape.bookmark(revision, complete), shape.schema),
    error: (status) => write.frame("ERROR", status, Status),
  };
}

const open = Buffer.from("{");
const next = Buffer.from(",{");
const listTail = Buffer.from("]}\n");

/** JSON in the stored version, spliced from cached bytes. */
function spliced(endpoint: Endpoint): Representation {
  const heads = {
    ADDED: Buffer.from('{"type":"ADDED","object":'),
    MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
    DELETED: Buffer.from('{"type":"DELETED","object":'),
    BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  };
  const tail = Buffer.from("}\n");
  const listHead = `{"kind":"${listKindOf(endpoint)}","apiVersion":"${endpoint.apiVersion}","metadata":`;
  return {
    media: "json",
    object: (cached) => cached.line,
    list: (items, metadata) => {
      const head = Buffer.from(`${listHead}${JSON.stringify(listMetadata(endpoint, metadata))},"items":[`);
      const around = ({ parts, unshared }: ListBody): ListBody => ({
        parts: [head, ...parts, listTail],
        unshared,
      });
      const body = joined(items);
      return body instanceof Promise ? body.then(around) : around(body);
    },
    encode: (type, item) => Buffer.concat([heads[type], item.json, tail]),
    bookmark: (revision, complete) =>
      Buffer.from(
        `{"type":"BOOKMARK","object":${encodeJson(endpoint.schema, marker(endpoint, revision, complete) as never)}}\n`,
      ),
    error: (status) => Buffer.from(`${JSON.stringify({ type: "ERROR", object: status })}\n`),
  };
}

const maxCachedBytes = 16 * 1024 * 1024;
/** Joined items by list, or a marker for lists that were requested once. */
const joinedCache = new WeakMap<readonly CachedObject[], readonly Uint8Array[] | "asked once">();
const longSplice = 4096;

/**
 * Joins the encoded items without their type headers. The cache returns the same array for equal queries, so
 * its joined bytes are kept from the second request on. Most queries are made once, such as that of an agent
 * for the pods of its node.
 */
function joined(items: readonly CachedObject[]): ListBody | Promise<ListBody> {
  const known = joinedCache.get(items);
  if (known !== undefined && known !== "asked once") return { parts: known, unshared: false };
  // Entries of a WeakMap are only released in a full garbage collection.
  if (known === undefined && !isForOneAnswer(items[0])) joinedCache.set(items, "asked once");
  const keep = (parts: readonly Uint8Array[]): ListBody => {
    const again = known === "asked once" && lengthOf(parts) <= maxCachedBytes;
    if (again) joinedCache.set(items, parts);
    return { parts, unshared: !again };
  };
  return items.length > longSplice
    ? splicedLongList(items, splice).then(keep)
    : keep([...splicedPieces(items, splice)]);
}

function splice(items: readonly CachedObject[]): Uint8Array {
  let size = 0;
  for (const item of items) size += itemBytes(item) + next.length;
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  let separator = open;
  for (const item of items) {
    at += separator.copy(out, at);
    at += copyItem(item, out, at);
    separator = next;
  }
  return out.subarray(0, at);
}

const listKindOf = ({ schema, kind }: Endpoint): string => schema.more.open?.listKind ?? `${kind}List`;

/** Lists of custom kinds always have a continue field. */
const listMetadata = (endpoint: Endpoint, metadata: ListMetadata): ListMetadata =>
  endpoint.resource.strategy.custom ? { continue: "", ...metadata } : metadata;

interface ShapeOf {
  readonly schema: KindSchema;
  readonly listSchema: KindSchema;
  one(cached: CachedObject): unknown;
  /** The object as a list item. */
  item(cached: CachedObject): unknown;
  list(
    items: readonly unknown[],
    metadata: ListMetadata,
  ): { readonly kind: string; readonly apiVersion: string };
  /** Sorts the items of a list, if their order differs from that of the keys. */
  sorted?(items: readonly CachedObject[]): readonly CachedObject[];
  /** An empty list, if it is encoded differently. */
  emptyList?(metadata: ListMetadata): unknown;
  bookmark(revision: number, complete?: boolean): unknown;
}

/** An object of the kind in which only the revision is set. */
const marker = (endpoint: Endpoint, revision: number, complete = false): ApiObject => ({
  kind: endpoint.kind,
  apiVersion: endpoint.apiVersion,
  metadata: {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(complete && {
      annotations: { [endpoint.resource.dialect.names.annotations.initialEventsEnd]: "true" },
    }),
  },
});

function whole(endpoint: Endpoint): ShapeOf {
  const { resource } = endpoint;
  const one = (cached: CachedObject): ApiObject => endpoint.fromHub(resource.objectOf(cached));
  const listSchema = listOf(endpoint.schema) as KindSchema;
  return {
    schema: endpoint.schema,
    listSchema,
    one,
    item: (cached) => {
      if (resource.strategy.custom) return one(cached);
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = one(cached);
      return rest;
    },
    list: (items, metadata) => ({
      kind: listKindOf(endpoint),
      apiVersion: endpoint.apiVersion,
      metadata: listMetadata(endpoint, metadata),
      items,
    }),
    bookmark: (revision, complete) =>
      JSON.parse(encodeJson(endpoint.schema, marker(endpoint, revision, complete) as never)) as unknown,
  };
}

function metadataOnly(endpoint: Endpoint, choice: Choice): ShapeOf {
  const { resource } = endpoint;
  const apiVersion = choice.formVersion;
  // Uses the stored version: annotations that a version conversion adds are not part of the object's
  // metadata.
  const toServed = resource.strategy.custom ? endpoint.fromHub : (hub: ApiObject) => hub;
  const one = (cached: CachedObject): unknown =>
    withoutOwn(partialMetadata(toServed(resource.objectOf(cached)), apiVersion), resource.strategy);
  return {
    schema: PartialObjectMetadata,
    listSchema: listOf(PartialObjectMetadata),
    one,
    item: one,
    list: (items, metadata) => ({ kind: "PartialObjectMetadataList", apiVersion, metadata, items }),
    emptyList: (metadata) => ({ kind: "PartialObjectMetadataList", apiVersion, metadata, items: null }),
    bookmark: (revision, complete) => partialMetadata(marker(endpoint, revision, complete), apiVersion),
  };
}

/** Rows with column definitions; in a stream, only the first table has definitions. */
function table(
  endpoint: Endpoint,
  choice: Choice,
  include: IncludeObject,
  now: () => Date,
  titled: boolean,
): ShapeOf {
  const { resource } = endpoint;
  const { strategy } = resource;
  const head = { kind: "Table", apiVersion: choice.formVersion };
  const row = (cached: CachedObject): unknown => {
    const hub = resource.objectOf(cached);
    return rowOf(
      strategy,
      hub,
      include === "Object" ? endpoint.fromHub(resource.objectOf(cached)) : hub,
      include,
      choice.formVersion,
      now(),
    );
  };
  const { rowOrder } = strategy;
  const sorted = (items: readonly CachedObject[]): readonly CachedObject[] =>
    items
      .map((cached) => ({ held: cached, hub: resource.objectOf(cached) }))
      .sort((one, other) => rowOrder!(one.hub, other.hub))
      .map(({ held: cached }) => cached);
  const columns = titled ? columnDefinitions(strategy) : null;
  const many = (rows: readonly unknown[] | null, metadata: Partial<ListMetadata>): typeof head =>
    Object.assign({ ...head }, { metadata, columnDefinitions: columns, rows });
  return {
    schema: Table,
    listSchema: Table,
    one: (cached) =>
      many([row(cached)], cached.revision > 0 ? { resourceVersion: String(cached.revision) } : {}),
    item: row,
    ...(rowOrder && { sorted }),
    list: many,
    // For kinds without columns of their own, the rows of an empty list are null.
    ...(!strategy.columns && { emptyList: (metadata) => many(null, metadata) }),
    bookmark: (revision, complete) => {
      const served = canonical(
        endpoint.schema,
        marker(endpoint, revision, complete) as never,
      ) as unknown as ApiObject;
      const hub = canonical(resource.hub, endpoint.toHub(deepCopy(served)) as never) as unknown as ApiObject;
      return many(
        [rowOf(strategy, hub, include === "Object" ? served : hub, include, choice.formVersion, now())],
        { resourceVersion: String(revision) },
      );
    },
  };
}

interface Writer {
  whole(object: unknown, schema: Message): Uint8Array;
  frame(type: FrameType | "ERROR", object: unknown, schema: Message): Uint8Array;
}

function writer({ media, pretty }: Choice, dialect: Dialect): Writer {
  if (media === "protobuf") return protobufWriter(dialect);
  if (media === "yaml") {
    return {
      whole: (object) => Buffer.from(printYaml(object)),
      frame: (type, object) => Buffer.from(`${printYaml({ type, object })}---\n`),
    };
  }
  return {
    whole: (object) => Buffer.from(pretty ? stringifyJson(object, 2) : `${stringifyJson(object)}\n`),
    frame: (type, object) => Buffer.from(`${stringifyJson({ type, object })}\n`),
  };
}

function protobufWriter(dialect: Dialect): Writer {
  const magic = dialect.wire.protobufMagic;
  const whole = (object: unknown, schema: Message): Uint8Array =>
    encodeEnvelope(object as ApiObject, protobufCodec(schema).encode(object as never), magic);
  return { whole, frame: (type, object, schema) => binaryFrame(type, whole(object, schema)) };
}

const bytes = new ProtobufWriter();

/**
 * Encodes the length of a frame, then the event: its type (1), and the object (2) as raw bytes (1). Written
 * back to front.
 */
function binaryFrame(type: string, object: Uint8Array): Buffer {
  bytes.bytes(object);
  bytes.uint32(0x0a);
  bytes.uint32(bytes.mark());
  bytes.uint32(0x12);
  bytes.string(type);
  bytes.uint32(0x0a);
  const event = bytes.finish();
  const framed = Buffer.allocUnsafe(4 + event.length);
  framed.writeUInt32BE(event.length);
  framed.set(event, 4);
  return framed;
}
