// Test fixture of the registry: one resource in a memory store, with the dependencies of a write.
import type { TestContext } from "node:test";
import { type AdmissionPlugin, admissionChain } from "#admission";
import { ApiError, systemClock, virtualClock } from "#base";
import { type DialectName, dialects } from "#dialect";
import { fromJsonValue } from "#schema";
import { MemoryStore, type Outcome, type Write } from "#store";
import { StoreReflector, type CachedObject } from "#watchcache";
import { create } from "./create.ts";
import { defaulted } from "./defaulting.ts";
import { remove } from "./remove.ts";
import type { WriteRequest } from "./request.ts";
import { Resource, type StorageMedia } from "./resource.ts";
import type { ApiObject, Strategy } from "./strategy.ts";
import { type ObjectUpdate, update } from "./update.ts";

export type Sent = { readonly metadata: Partial<ApiObject["metadata"]> & Record<string, unknown> } & Record<
  string,
  unknown
>;

export interface HarnessOptions {
  readonly dialect?: DialectName;
  readonly media?: StorageMedia;
  readonly plugins?: readonly AdmissionPlugin[];
  /** Called before each write to the store, to provoke conflicts. */
  readonly beforeWrite?: (write: Write, count: number) => Promise<void> | void;
}

export interface Harness {
  readonly resource: Resource;
  readonly store: MemoryStore;
  readonly warnings: readonly string[];
  /** Number of writes to the store. */
  writes(): number;
  request(more?: Partial<WriteRequest>): WriteRequest;
  create(sent: Sent, more?: Partial<WriteRequest>): Promise<ApiObject & Record<string, unknown>>;
  update(
    name: string,
    change: Partial<ObjectUpdate> & Pick<ObjectUpdate, "transform">,
    more?: Partial<WriteRequest>,
  ): Promise<ApiObject & Record<string, unknown>>;
  /** Updates the object in place. */
  edit(
    name: string,
    change: (object: ApiObject & Record<string, never>) => void,
    more?: Partial<WriteRequest>,
  ): Promise<ApiObject & Record<string, unknown>>;
  remove(
    name: string,
    options?: Parameters<typeof remove>[2],
    more?: Partial<WriteRequest>,
  ): Promise<{ deleted: boolean; object: ApiObject & Record<string, unknown> }>;
  get(name: string): Promise<(ApiObject & Record<string, unknown>) | undefined>;
}

export const harnessNow = Date.UTC(2030, 0, 1, 12);

class RacingStore extends MemoryStore {
  count = 0;
  readonly #before: NonNullable<HarnessOptions["beforeWrite"]>;
  constructor(before: NonNullable<HarnessOptions["beforeWrite"]>) {
    super({ clock: virtualClock(harnessNow) });
    this.#before = before;
  }
  override async write(write: Write): Promise<Outcome> {
    this.count++;
    await this.#before(write, this.count);
    return await super.write(write);
  }
}

/** Starts a resource for the duration of the test. Objects are in the namespace `default`. */
export async function harness(
  t: TestContext,
  strategy: Strategy,
  options: HarnessOptions = {},
): Promise<Harness> {
  const store = new RacingStore(options.beforeWrite ?? (() => undefined));
  const stop = new AbortController();
  const resource = new Resource(strategy, {
    dialect: dialects[options.dialect ?? "orch"],
    store,
    storePrefix: "/registry",
    media: options.media ?? "json",
  });
  const feed = new StoreReflector({ store, prefix: "/registry/", clock: systemClock, signal: stop.signal });
  resource.source = feed.cache(resource.prefix, resource.reader);
  await feed.start();
  t.after(async () => {
    stop.abort();
    await feed.stopped();
    await store.close();
  });
  const warnings: string[] = [];
  const request = (more: Partial<WriteRequest> = {}): WriteRequest => ({
    endpoint: resource.endpoints[0]!,
    namespace: resource.namespaced ? "default" : "",
    subresource: "",
    user: { name: "tester", groups: [] },
    now: new Date(harnessNow),
    dryRun: false,
    manager: "tester",
    admission: admissionChain(options.plugins ?? []),
    settings: { allowPrivileged: false, eventTtlSeconds: 3600 },
    options: () => ({}),
    warn: (text) => void warnings.push(text),
    annotate: () => undefined,
    ...more,
  });
  const shown = (cached: CachedObject): ApiObject & Record<string, unknown> =>
    JSON.parse(cached.json.toString()) as ApiObject & Record<string, unknown>;
  const change = async (
    name: string,
    how: Partial<ObjectUpdate> & Pick<ObjectUpdate, "transform">,
    more?: Partial<WriteRequest>,
  ) => shown((await update(request(more), name, how)).object);
  return {
    resource,
    store,
    warnings,
    writes: () => store.count,
    request,
    create: async (sent, more) => {
      const made = request(more);
      const { kind, apiVersion, schema } = made.endpoint;
      const decoded = fromJsonValue(schema, { kind, apiVersion, ...structuredClone(sent) })
        .value as unknown as ApiObject;
      return shown(await create(made, defaulted(made, decoded)));
    },
    update: change,
    edit: (name, edit, more) =>
      change(
        name,
        {
          transform: (old) => {
            edit(old as ApiObject & Record<string, never>);
            return old!;
          },
        },
        more,
      ),
    remove: async (name, how = {}, more = {}) => {
      const { deleted, held: cached } = await remove(request(more), name, how);
      return { deleted, object: shown(cached()) };
    },
    get: async (name) => {
      const cached = await resource.source.get(resource.keyOf(request().namespace, name), { at: "latest" });
      return cached && shown(cached);
    },
  };
}

/** For assert.rejects: matches an API error with this code and message. */
export const refusal =
  (code: number, message: RegExp = /./) =>
  (error: unknown): boolean => {
    if (!(error instanceof ApiError)) throw error;
    if (error.code !== code || !message.test(error.message))
      throw new Error(`${error.code} ${error.message}`);
    return true;
  };

/** Returns the causes of an error, such as `Invalid metadata.name`. */
export async function causesOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details?.causes ?? []).map(
      ({ reason, field }) => `${reason?.replace("FieldValue", "")} ${field}`,
    );
  }
}
