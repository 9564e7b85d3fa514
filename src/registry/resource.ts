// A resource at run time: its strategy, the source and store of its objects, and their encoding.
import { type ResourceName, conflict, flatText, tooLarge } from "#base";
import { type Dialect, apiVersionOf, groupName } from "#dialect";
import { inDialect } from "#api";
import { StoredParser, applyDefaults, canonical } from "#schema";
import { decodeJson, encodeHeld, encodeStoredProtobuf, storedForm } from "./encoding.ts";
import type { ConvertBetween } from "./conversions.ts";
import type { Entry, Outcome, Revision, Store, Write } from "#store";
import {
  type CachedObject,
  type ObjectSource,
  type Reader,
  type Selected,
  fromStored,
  unspliced,
  withRevision,
} from "#watchcache";
import { SharedLabels } from "./shared-labels.ts";
import { StoredHeader } from "./stored-header.ts";
import type { ApiObject, KindSchema, RegistrySettings, Served, Strategy } from "./strategy.ts";

/** A served version of a resource, with the names of the dialect. */
export interface Endpoint {
  readonly resource: Resource;
  readonly served: Served;
  readonly schema: KindSchema;
  /** API group as on the wire. */
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** True when the stored version is this version. */
  readonly isHub: boolean;
  toHub(object: ApiObject): ApiObject;
  fromHub(hub: ApiObject): ApiObject;
}

export type StorageMedia = "json" | "protobuf";

/** Conversion where objects are stored in another version than this resource reads and writes. */
export interface StorageConversion {
  /** The storage version, with its group. */
  readonly storedVersion: string;
  /** Returns the bytes to store. */
  toStored(object: EncodedObject): Promise<Uint8Array>;
  /** Converts stored bytes to the version of this resource. */
  fromStored(key: string, value: Uint8Array, revision: Revision): Promise<CachedObject>;
  /** Set where a webhook converts between versions. */
  readonly between?: ConvertBetween;
}

/** An object encoded once: the bytes to store and the metadata that caches need. */
export interface EncodedObject {
  readonly value: Uint8Array;
  readonly json: Buffer;
  readonly hold: (revision: Revision) => CachedObject;
}

export class Resource {
  readonly strategy: Strategy;
  readonly dialect: Dialect;
  readonly store: Store;
  /** Prefix of this resource's keys in the store. */
  readonly prefix: string;
  readonly hub: KindSchema;
  readonly hubVersion: string;
  readonly endpoints: readonly Endpoint[];
  readonly #media: StorageMedia;
  /**
   * Cached objects of values that this process encoded itself, so that they need not be parsed when they are
   * read back.
   */
  readonly #known = new WeakMap<Uint8Array, (revision: Revision) => CachedObject>();
  readonly #parser = new StoredParser();
  readonly #labels = new SharedLabels();
  /** The namespace of the object read last: objects are loaded in the order of their keys. */
  #namespace = "";
  #selectable: ReadonlySet<string> | undefined;
  readonly #canonical: StoredHeader;
  source!: ObjectSource;
  /** Set where objects are stored in another version. */
  conversion?: StorageConversion;
  /** Reports whether an object is stored in another form than it would be now; set where that can happen. */
  needsRewrite?: ((key: string, encoded: EncodedObject) => Promise<boolean>) | undefined;

  constructor(
    strategy: Strategy,
    options: { dialect: Dialect; store: Store; storePrefix: string; media: StorageMedia },
  ) {
    this.strategy = strategy;
    this.dialect = options.dialect;
    this.store = options.store;
    this.#media = options.media;
    this.prefix = `${options.storePrefix}/${strategy.storagePath ?? strategy.resource}/`;
    this.hub = inDialect(options.dialect, strategy.hub);
    this.hubVersion = flatText(apiVersionOf(options.dialect, strategy.hub.kind));
    // Custom resources depend on their definition, and restored fields are not part of the bytes.
    this.#canonical = new StoredHeader(
      strategy.custom || strategy.restore
        ? undefined
        : { kind: this.hub.kind.kind, apiVersion: this.hubVersion },
    );
    this.endpoints = (strategy.served ?? [{ schema: strategy.hub }]).map((served) => this.#endpoint(served));
  }

  /** Fields supported by field selectors: those of every object, and those of the strategy. */
  get selectable(): ReadonlySet<string> {
    if (!this.#selectable) {
      const empty = canonical(this.hub, {
        kind: this.hub.kind.kind,
        apiVersion: this.hubVersion,
        metadata: {},
      } as never) as unknown as ApiObject;
      // Kinds without specific fields accept both names, even if they are cluster-scoped.
      const own = this.strategy.fields?.(empty);
      this.#selectable = new Set([
        "metadata.name",
        ...(this.namespaced || !own ? ["metadata.namespace"] : []),
        ...Object.keys(own ?? {}),
      ]);
    }
    return this.#selectable;
  }

  get namespaced(): boolean {
    return this.strategy.scope === "Namespaced";
  }

  /** `configmaps`, `deployments.apps`: the resource as named in spans and metrics. */
  get groupResource(): string {
    const { group } = this.endpoints[0]!;
    return group === "" ? this.strategy.resource : `${this.strategy.resource}.${group}`;
  }

  /** Returns the key below the resource's prefix. */
  keyOf(namespace: string, name: string): string {
    return this.namespaced ? `${namespace}/${name}` : name;
  }

  nameIn(endpoint: Endpoint): ResourceName {
    return { group: endpoint.group, resource: this.strategy.resource };
  }

  /**
   * Turns a stored value into a cached object: from memory when this process wrote it, as it is when it is
   * stored in the cached form, else by decoding it.
   */
  readonly reader: Reader = (entry, use): CachedObject => {
    const remembered = this.#known.get(entry.value);
    if (remembered) {
      this.#known.delete(entry.value);
      return remembered(entry.revision);
    }
    return this.#canonical.matches(entry.value, entry.revision)
      ? this.#asStored(entry, use)
      : this.#decoded(entry);
  };

  /**
   * Declares that values of later revisions are stored in the cached form and can be served without decoding.
   */
  encodedSince(revision: Revision): void {
    this.#canonical.since = revision;
  }

  #decoded({ key, revision, value }: Entry): CachedObject {
    const { known, json } = this.#describe(this.decodeStored(value));
    return withRevision(key, revision, json, known);
  }

  #asStored({ key, revision, value }: Entry, use?: "one answer"): CachedObject {
    const at = this.namespaced ? key.indexOf("/", this.prefix.length) : -1;
    const made = use ? unspliced : fromStored;
    const namespace = at < 0 ? "" : key.slice(this.prefix.length, at);
    if (namespace !== this.#namespace) this.#namespace = namespace;
    return made(key, revision, value, {
      namespace: this.#namespace,
      name: key.slice(at < 0 ? this.prefix.length : at + 1),
      select: this.#select,
    });
  }

  readonly #select = (json: Buffer): Pick<Selected, "labels" | "fields"> => {
    const object = JSON.parse(json.toString()) as ApiObject;
    return {
      labels: object.metadata.labels ? this.#labels.of(object.metadata.labels) : nothing,
      fields: this.strategy.fields?.(object) ?? nothing,
    };
  };

  /** Decodes a stored value to the stored version. Values stored in another served version are converted. */
  decodeStored(value: Uint8Array): ApiObject {
    const { apiVersion, decode } = storedForm(value, this.dialect);
    const other =
      apiVersion === this.hubVersion
        ? undefined
        : this.endpoints.find((endpoint) => endpoint.apiVersion === apiVersion);
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const schema = other?.schema ?? this.hub;
    const decoded = decode(schema, this.strategy.formerVersions?.[version]);
    // Custom resources are defaulted by their conversion.
    if (!this.strategy.custom) applyDefaults(schema, decoded as never);
    const object = other ? other.toHub(decoded) : decoded;
    object.kind = this.hub.kind.kind;
    object.apiVersion = this.hubVersion;
    if (!this.strategy.custom)
      this.strategy.defaults?.(object, { dialect: this.dialect, settings: defaultSettings });
    this.strategy.restore?.(object);
    return object;
  }

  /** Returns a fresh copy of the cached object, for callers that modify it. */
  objectOf(cached: CachedObject): ApiObject {
    return this.copiesOf(cached)();
  }

  /** Returns a function that makes fresh copies, for callers that need several. */
  copiesOf(cached: CachedObject): () => ApiObject {
    const text = cached.json.toString();
    return longNumber.test(text)
      ? () => decodeJson(this.hub, text)
      : () => this.#parser.parse(text) as ApiObject;
  }

  /**
   * Encodes an object once: the bytes to store and the metadata that caches need. Unless `known` is set, the
   * bytes are decoded when they are read back and get the fields that the strategy restores.
   */
  encode(object: ApiObject, { anySize = false, known: isKnown = true } = {}): EncodedObject {
    // Objects that cannot be encoded are refused before anything is written in another form.
    const binary = this.#media === "json" ? undefined : encodeStoredProtobuf(this.hub, object, this.dialect);
    if (binary && !anySize) refuseTooLarge(binary.length);
    const { known, json } = this.#describe(object);
    const value = binary ?? json;
    const key = this.prefix + this.keyOf(known.namespace, known.name);
    let made: CachedObject | undefined;
    const cached = (revision: Revision): CachedObject => {
      if (made?.revision !== revision) made = withRevision(key, revision, json, known);
      return made;
    };
    if (isKnown) this.#known.set(value, cached);
    return { value, json, hold: cached };
  }

  /** Writes an encoded object in its storage version and returns the object that is now stored. */
  async writeObject(
    encoded: EncodedObject,
    write: Omit<Write, "value">,
  ): Promise<{ readonly outcome: Outcome; readonly object?: CachedObject }> {
    const value = this.conversion ? await this.conversion.toStored(encoded) : encoded.value;
    const outcome = await this.write({ ...write, value });
    if (!outcome.done) return { outcome };
    const object = this.conversion
      ? await this.conversion.fromStored(this.prefix + write.key, value, outcome.revision)
      : encoded.hold(outcome.revision);
    return { outcome, object };
  }

  /** Returns the object that a write would store: converts it back and forth without writing. */
  async dryRunObject(encoded: EncodedObject, key: string, revision: Revision): Promise<CachedObject> {
    if (!this.conversion) return encoded.hold(revision);
    const value = await this.conversion.toStored(encoded);
    return await this.conversion.fromStored(this.prefix + key, value, revision);
  }

  async write(write: Omit<Write, "key"> & { readonly key: string }): Promise<Outcome> {
    if (write.value && write.value.length > maxStoredBytes) this.#refuseTooLarge(write.value);
    return await this.store.write({ ...write, key: this.prefix + write.key });
  }

  /** Reports whether the value has to be rewritten although nothing changed. */
  async isStale(key: string, encoded: EncodedObject): Promise<boolean> {
    if (await this.needsRewrite?.(this.prefix + key, encoded)) return true;
    return (await this.store.isStale?.(this.prefix + key)) ?? false;
  }

  /**
   * The size is measured in the binary form, which is smaller, so that the limit does not depend on the media
   * type.
   */
  #refuseTooLarge(value: Uint8Array): void {
    refuseTooLarge(
      this.#media === "json" && !this.strategy.custom
        ? encodeStoredProtobuf(this.hub, this.decodeStored(value), this.dialect).length
        : value.length,
    );
  }

  changedSince(endpoint: Endpoint, name: string): Error {
    return conflict(
      this.nameIn(endpoint),
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  }

  #describe(object: ApiObject): { known: Selected; json: Buffer } {
    const meta = object.metadata;
    const stored =
      meta.resourceVersion === undefined
        ? object
        : { ...object, metadata: { ...meta, resourceVersion: undefined } };
    // A separate allocation: stores keep it, and a slice of a shared slab would keep the whole slab alive.
    const text = encodeHeld(this.hub, stored);
    const json = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    json.write(text);
    return {
      json,
      known: {
        name: meta.name ?? "",
        namespace: meta.namespace ?? "",
        labels: meta.labels ?? nothing,
        fields: this.strategy.fields?.(object) ?? nothing,
        ...(this.strategy.custom && { typedItems: true }),
      },
    };
  }

  #endpoint(served: Served): Endpoint {
    const schema = inDialect(this.dialect, served.schema);
    const apiVersion = flatText(apiVersionOf(this.dialect, schema.kind));
    const stamp = (object: ApiObject, version: string, kind: string): ApiObject => {
      object.apiVersion = version;
      object.kind = kind;
      return object;
    };
    return {
      resource: this,
      served,
      schema,
      group: groupName(this.dialect, schema.kind),
      version: schema.kind.version,
      apiVersion,
      kind: schema.kind.kind,
      isHub: served.schema === this.strategy.hub,
      toHub: (object) =>
        stamp(
          served.toHub ? served.toHub(object, this.dialect) : object,
          this.hubVersion,
          this.hub.kind.kind,
        ),
      fromHub: (object) =>
        stamp(served.fromHub ? served.fromHub(object, this.dialect) : object, apiVersion, schema.kind.kind),
    };
  }
}

/** Maximum size of a value in every store, so that objects can be migrated between stores. */
const maxStoredBytes = 1536 * 1024;

/** Limit of kube-apiserver's etcd client; larger requests are not sent to etcd. */
const maxRequestBytes = 2 * 1024 * 1024;

/** Throws if the size exceeds the limit. The text begins as clients of kube-apiserver expect. */
function refuseTooLarge(size: number): void {
  if (size <= maxStoredBytes) return;
  const cause =
    size > maxRequestBytes
      ? `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${size} vs. ${maxRequestBytes})`
      : "etcdserver: request is too large";
  throw tooLarge(
    `${cause}: the object takes ${size} bytes, and no object may take more than ${maxStoredBytes}`,
  );
}

const nothing: Readonly<Record<string, string>> = {};

/**
 * Of the settings, defaults depend only on gates; defaults that depend on a gate are applied when an object
 * is written.
 */
const defaultSettings: RegistrySettings = { allowPrivileged: true, eventTtlSeconds: 0 };

// JSON.parse would round these numbers.
const longNumber = /[:[,]\s*-?\d{16,}/;
