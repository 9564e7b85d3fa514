// Builds the resources of a definition: one for each served version, all over the same stored objects. The
// stored version reads from its cache like any kind; the others convert from it.
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "#api";
import { isDeepStrictEqual } from "node:util";
import type { Steps } from "#base";
import type { Dialect } from "#dialect";
import { compareVersions } from "#endpoints";
import { type ApiObject, type EncodedObject, type Endpoint, Resource, type Served } from "#registry";
import { parseJson } from "#schema";
import type { Store } from "#store";
import type { CachedObject, StoreReflector } from "#watchcache";
import { type Convert, convertNothing } from "./conversion.ts";
import { ConvertedSource } from "./converted-source.ts";
import { customKind } from "./kind.ts";
import { LazySource } from "./lazy-source.ts";
import type { DefinitionGates } from "../definitions/disabled-fields.ts";
import type { RuleObserver } from "../structural/rules.ts";
import { customStrategy } from "./strategy.ts";

export interface CustomResourcesOptions {
  readonly dialect: Dialect;
  readonly store: Store;
  readonly storePrefix: string;
  readonly reflector: StoreReflector;
  readonly uncached: boolean;
  readonly gates: DefinitionGates;
  /** The minor release whose functions are available to rules. */
  readonly expressionRelease: number;
  /** Returns the conversion between versions, for definitions with a webhook. */
  webhook(definition: CustomResourceDefinition): Convert;
  readonly ruleObserver?: RuleObserver | undefined;
  /** Reports whether instances are being removed. */
  terminating(): boolean;
}

export interface CustomResources {
  /** The endpoints of the served versions, in the order of the definition. */
  readonly endpoints: readonly Endpoint[];
  /** The stored version, served or not, through which instances are removed. */
  readonly storage: Endpoint;
  /** Parses the schemas before their first use. */
  prepare(): Steps<void>;
  close(): void;
}

export function customResources(
  definition: CustomResourceDefinition,
  options: CustomResourcesOptions,
): CustomResources {
  const { dialect } = options;
  const versions = definition.spec.versions ?? [];
  const stored = versions.find(({ storage }) => storage) ?? versions[0]!;
  const kinds = new Map(
    versions.map(({ name }) => [name, customKind(definition, name, dialect, options.gates.selectors)]),
  );
  const served = versions.map((version): Served => {
    const warning = warningOf(definition, version);
    return { schema: kinds.get(version.name)!.schema, ...(warning !== undefined && { warning }) };
  });
  const resourceOf = (version: CustomResourceDefinitionVersion): Resource =>
    new Resource(
      customStrategy({
        definition,
        version,
        kind: kinds.get(version.name)!,
        served,
        dialect,
        ruleObserver: options.ruleObserver,
        gates: options.gates,
        expressionRelease: options.expressionRelease,
        terminating: () => options.terminating(),
      }),
      { dialect, store: options.store, storePrefix: options.storePrefix, media: "json" },
    );
  const storage = resourceOf(stored);
  const convert =
    definition.spec.conversion?.strategy === "Webhook" ? options.webhook(definition) : undefined;
  const base = new LazySource({
    reflector: options.reflector,
    store: options.store,
    prefix: storage.prefix,
    reader: convert ? asStored(storage) : storage.reader,
    uncached: options.uncached,
  });
  // A stored object may be in a former storage version, or predate a change of the definition, with fields
  // unknown by now or without defaults: an otherwise unchanged write then rewrites it.
  const needsRewrite =
    (resource: Resource) =>
    async (key: string, encoded: EncodedObject): Promise<boolean> => {
      if (convert && (definition.status.storedVersions ?? []).length < 2) return false;
      const [entry] = (await options.store.read({ key })).entries;
      if (!entry) return false;
      if (versionIn(entry.value) !== storage.hubVersion) return true;
      // The webhook is not called for an object that did not change.
      if (convert) return false;
      const wanted = resource.conversion ? await resource.conversion.toStored(encoded) : encoded.value;
      if (Buffer.compare(entry.value, wanted) === 0) return false;
      return !isDeepStrictEqual(valueOf(Buffer.from(entry.value)), valueOf(Buffer.from(wanted)));
    };
  const closing = new AbortController();
  const sources: ConvertedSource[] = [];
  const connect = (resource: Resource): Resource => {
    resource.needsRewrite = needsRewrite(resource);
    if (resource === storage && !convert) {
      resource.source = base;
      return resource;
    }
    const conversion = convert ?? convertNothing;
    const to = resource.hubVersion;
    const one = (object: CachedObject): Promise<CachedObject> => converted(object, resource, to, conversion);
    const source = new ConvertedSource({
      base,
      convert: one,
      external: convert !== undefined,
      changesLabels:
        convert !== undefined &&
        (resource !== storage || (definition.status.storedVersions ?? []).length > 1),
      prefix: storage.prefix,
      signal: closing.signal,
    });
    sources.push(source);
    resource.source = source;
    resource.conversion = {
      storedVersion: storage.hubVersion,
      toStored: async ({ json }) => {
        const [made] = await conversion([valueOf(json)], storage.hubVersion);
        return storage.encode(made!, { anySize: true, known: false }).value;
      },
      fromStored: (key, value, revision) => one(storage.reader({ key, value, revision, created: revision })),
      ...(convert && { between: async (object, version) => (await convert([object], version))[0]! }),
    };
    return resource;
  };
  connect(storage);
  const endpoints = versions
    .filter((version) => version.served)
    .map((version) => endpointOf(version === stored ? storage : connect(resourceOf(version))));
  // A request for one version makes all of them follow changes.
  for (const source of sources) base.onFirstUse(() => source.follow());
  return {
    endpoints,
    storage: endpointOf(storage),
    prepare: function* () {
      for (const kind of kinds.values()) yield* kind.prepare();
    },
    close: () => {
      closing.abort();
      base.close();
    },
  };
}

/** Returns the warning sent to clients of a deprecated version. */
function warningOf(
  { spec }: CustomResourceDefinition,
  { name, deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
): string | undefined {
  if (!deprecated) return undefined;
  if (deprecationWarning) return deprecationWarning;
  const { group, names } = spec;
  const [better] = (spec.versions ?? [])
    .filter((other) => other.served && !other.deprecated && compareVersions(other.name, name) < 0)
    .map((other) => other.name)
    .sort(compareVersions);
  const text = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${group}/${better} ${names.kind}`;
}

/** Returns the resource's endpoint for its own version. */
const endpointOf = (resource: Resource): Endpoint => resource.endpoints.find(({ isHub }) => isHub)!;

const versionIn = (value: Uint8Array): string =>
  /"apiVersion":\s*"([^"]*)"/.exec(Buffer.from(value).toString("latin1"))?.[1] ?? "";

/**
 * Returns a reader that keeps objects in the version in which they are stored, since conversion takes time.
 */
function asStored(storage: Resource): Resource["reader"] {
  const readers = new Map<string, Resource["reader"]>();
  return (entry) => {
    const version = versionIn(entry.value);
    let reader = readers.get(version);
    if (!reader) {
      const own = storage.endpoints.find(({ apiVersion }) => apiVersion === version);
      const resource =
        !own || own.isHub
          ? storage
          : new Resource(
              { ...storage.strategy, hub: own.schema },
              { dialect: storage.dialect, store: storage.store, storePrefix: "", media: "json" },
            );
      readers.set(version, (reader = resource.reader));
    }
    return reader(entry);
  };
}

async function converted(
  object: CachedObject,
  resource: Resource,
  to: string,
  convert: Convert,
): Promise<CachedObject> {
  const sent = valueOf(object.json);
  delete sent.metadata.resourceVersion;
  const [made] = await convert([sent], to);
  // Defaults are those of the version in which the object was stored.
  resource.hub.more.open?.dropNulls(made as unknown as Record<string, unknown>);
  return resource.encode(made!, { anySize: true }).hold(object.revision);
}

const valueOf = (json: Buffer): ApiObject => parseJson(json.toString()).value as ApiObject;
