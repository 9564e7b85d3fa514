// Encryption at rest: the encryption providers by key, reloaded when the configuration file changes, and
// health checks of the KMS providers.
import { readFile } from "node:fs/promises";
import type { Clock, Log } from "#base";
import type { Dialect } from "#dialect";
import type { Strategy } from "#registry";
import {
  type DataKeyObserver,
  type EncryptionProvider,
  type KeyServiceObserver,
  type KmsProvider,
  type TransformationObserver,
  identity,
  kmsV1,
  kmsV2,
  measuredProvider,
} from "#store";
import type { HealthCheck } from "../health/health.ts";
import { storageGroup } from "./storage-group.ts";
import type { Reloads } from "../serving/reloads.ts";
import {
  type EncryptionTable,
  type KmsSettings,
  type ResourceId,
  parseEncryptionConfig,
  readEncryptionFile,
} from "./encryption-config.ts";

export interface EncryptionOptions {
  readonly file: string;
  readonly reload: boolean;
  /** False if KMS v2 is disabled. */
  readonly kmsV2?: boolean;
  readonly dialect: Dialect;
  readonly strategies: readonly Pick<Strategy, "resource" | "storagePath" | "hub">[];
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly reloads: Reloads;
  readonly observer?: DataKeyObserver & KeyServiceObserver & TransformationObserver;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

export interface Encryption {
  providersFor(key: string): readonly EncryptionProvider[];
  /** Reports whether nothing below a prefix will be encrypted as long as the server runs. */
  isPlain(prefix: string): boolean;
  readonly checks: readonly HealthCheck[];
}

const plainProviders: readonly EncryptionProvider[] = [identity];
const pollMilliseconds = 1_000;
const retryMilliseconds = 10_000;
/** Grace period in which requests may still use the replaced configuration. */
const lingerMilliseconds = 60_000;

interface Loaded {
  readonly text: string;
  readonly table: EncryptionTable;
  readonly services: readonly KmsProvider[];
}

/** Opens the file. Errors name the file and the invalid field. */
export function openEncryption(options: EncryptionOptions): Encryption {
  const { file, clock, signal } = options;
  const report = options.reloads.of("--encryption-provider-config");
  let loaded = load(readEncryptionFile(file), options);
  /** When to try a file again whose key services were not healthy. */
  let retryAt = Infinity;
  signal.addEventListener("abort", () => loaded.services.forEach((service) => service.close()), {
    once: true,
  });
  if (options.reload) follow();
  const providersFor = byKey(options, () => loaded.table);
  return {
    providersFor,
    isPlain: (prefix) => !options.reload && providersFor(prefix) === plainProviders,
    checks: checksOf(),
  };

  function follow(): void {
    const cancel = clock.after(pollMilliseconds, () => void poll());
    signal.addEventListener("abort", cancel, { once: true });
  }

  async function poll(): Promise<void> {
    try {
      const text = await readFile(file, "utf8");
      if (text !== loaded.text || clock.monotonic() >= retryAt) await replace(text);
    } catch (error) {
      report.refused(error as Error);
    }
    if (!signal.aborted) follow();
  }

  /**
   * An invalid file is reported once, until it changes again. KMS providers must be healthy before the new
   * configuration is used; they may be starting.
   */
  async function replace(text: string): Promise<void> {
    const before = loaded;
    retryAt = Infinity;
    loaded = { ...before, text };
    const next = load(text, options);
    try {
      await Promise.all(next.services.map((service) => service.health()));
    } catch (error) {
      for (const service of next.services) service.close();
      retryAt = clock.monotonic() + retryMilliseconds;
      throw error;
    }
    loaded = next;
    report.changed();
    clock.after(lingerMilliseconds, () => before.services.forEach((service) => service.close()));
  }

  function checksOf(): readonly HealthCheck[] {
    const { services } = loaded;
    const all = async (): Promise<void> => {
      const failures = await Promise.all(
        loaded.services.map((service, at) =>
          service.health().then(
            () => [],
            (error: Error) => [`kms-provider-${at}: ${error.message}`],
          ),
        ),
      );
      const texts = failures.flat();
      if (texts.length > 0) throw new Error(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`);
    };
    if (options.reload || (services.length > 0 && services.every(({ version }) => version === "v2")))
      return [{ name: "kms-providers", check: all }];
    return services.map((service, at) => ({ name: `kms-provider-${at}`, check: () => service.health() }));
  }
}

function load(text: string, options: EncryptionOptions): Loaded {
  const { file, dialect, clock, log, observer, reload } = options;
  const services: KmsProvider[] = [];
  const openKms = (settings: KmsSettings): KmsProvider => {
    if (settings.version === "v2" && options.kmsV2 === false)
      throw new Error(
        `error while building transformers: could not configure KMSv2 plugin ${JSON.stringify(settings.name)}, KMSv2 feature is not enabled`,
      );
    const service =
      settings.version === "v1"
        ? kmsV1({ ...settings, clock, observer })
        : kmsV2({ ...settings, clock, observer, onError: (message, fields) => log.error(message, fields) });
    services.push(service);
    return service;
  };
  const wrap = (provider: EncryptionProvider): EncryptionProvider =>
    observer ? measuredProvider(provider, observer) : provider;
  return { text, table: parseEncryptionConfig(text, { file, dialect, reload, openKms, wrap }), services };
}

/**
 * Returns a lookup of providers by key. Keys have the form `<prefix>/<storage path>/…`, and each path belongs
 * to one resource.
 */
function byKey(
  { dialect, strategies, storePrefix }: EncryptionOptions,
  table: () => EncryptionTable,
): (key: string) => readonly EncryptionProvider[] {
  const places = new Map<string, ResourceId>(
    strategies.map(({ resource, storagePath, hub }) => [
      storagePath ?? resource,
      { resource, group: storageGroup({ hub }, dialect) },
    ]),
  );
  const start = storePrefix.length + 1;
  const lookUp = (first: string, second: string): readonly EncryptionProvider[] => {
    // Custom resources are stored below their group, whose name contains a dot.
    const id =
      places.get(`${first}/${second}`) ??
      places.get(first) ??
      (first.includes(".") && second !== "" ? { group: first, resource: second } : undefined);
    return (id && table()(id)) ?? plainProviders;
  };
  // Storage paths that are no prefix of another one; for these the first segment of the key is decisive.
  const unnested = new Set([...places.keys()].filter((place) => !place.includes("/")));
  for (const place of places.keys()) if (place.includes("/")) unnested.delete(place.split("/", 1)[0]!);
  let known = new Map<string, readonly EncryptionProvider[]>();
  let knownOf = table();
  return (key) => {
    if (knownOf !== table()) {
      known = new Map();
      knownOf = table();
    }
    const end = key.indexOf("/", start);
    const first = end < 0 ? key.slice(start) : key.slice(start, end);
    let providers = known.get(first);
    if (providers) return providers;
    const [, second = ""] = key.slice(start).split("/", 2);
    providers = lookUp(first, second);
    if (unnested.has(first)) known.set(first, providers);
    return providers;
  };
}
