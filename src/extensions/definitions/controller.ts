// Follows the definitions of the cluster: gives each its status, serves what is established, and removes the
// instances of those that are to go.
import type { CustomResourceDefinition } from "#api";
import { ApiError, type Clock, selectEverything } from "#base";
import type { Dialect } from "#dialect";
import { type Endpoint, type Resource, type WriteRequest, remove, update } from "#registry";
import type { CachedObject } from "#watchcache";
import { followResource } from "../follow-resource.ts";
import { type CustomResources, type CustomResourcesOptions, customResources } from "../custom/resources.ts";
import { setCondition } from "./conditions.ts";
import { reconcileStatus } from "./status.ts";
import { hasCondition } from "./validate.ts";

export interface DefinitionControllerOptions {
  /** The definitions themselves. */
  readonly definitions: Resource;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly resources: Omit<CustomResourcesOptions, "terminating">;
  /** A write of the server's own. */
  request(endpoint: Endpoint, namespace?: string): WriteRequest;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

/** A definition, and the resources made from what it says. */
interface Known {
  readonly object: CustomResourceDefinition;
  readonly cached: CachedObject;
  /** What the resources depend on; while it stays the same they stay, too. */
  readonly basis: string;
  resources: CustomResources | undefined;
}

const retryMilliseconds = 1000;

export class DefinitionController {
  readonly #options: DefinitionControllerOptions;
  readonly #known = new Map<string, Known>();
  readonly #queue = new Set<string>();
  #wake = (): void => undefined;
  #served: readonly Endpoint[] | undefined;
  #generation = 0;

  constructor(options: DefinitionControllerOptions) {
    this.#options = options;
  }

  /** Counts up whenever what is served changes. */
  generation(): number {
    return this.#generation;
  }

  /** Everything that is served, made on first ask after a change. */
  served(): readonly Endpoint[] {
    return (this.#served ??= [...this.#known.values()].flatMap((known) => {
      return isServed(known.object) ? this.#resourcesOf(known).endpoints : [];
    }));
  }

  /** Loads what is there; definitions that are established are served from here on. */
  async start(): Promise<void> {
    const { items } = await this.#options.definitions.source.list({
      below: "",
      selector: selectEverything,
      freshness: { at: "latest" },
    });
    for (const item of items) this.#note(item);
  }

  /** Follows changes until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const following = this.#follow(signal);
    while (!signal.aborted) {
      const [name] = this.#queue;
      if (name === undefined) {
        await this.#rest(signal);
        continue;
      }
      this.#queue.delete(name);
      try {
        await this.#sync(name);
      } catch (error) {
        if (signal.aborted) break;
        if (!isExpected(error))
          this.#options.onError("a definition could not be brought up to date; it is tried again", {
            name,
            error: (error as Error).message,
          });
        this.#again(name, signal);
      }
    }
    await following;
    for (const { resources } of this.#known.values()) resources?.close();
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    if (this.#queue.size === 0 && !signal.aborted) await promise;
    signal.removeEventListener("abort", wake);
  }

  #enqueue(name: string): void {
    this.#queue.add(name);
    this.#wake();
  }

  #again(name: string, signal: AbortSignal): void {
    const cancel = this.#options.clock.after(retryMilliseconds, () => this.#enqueue(name));
    signal.addEventListener("abort", cancel, { once: true });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { definitions, clock } = this.#options;
    const follower = {
      note: (cached: CachedObject) => this.#note(cached),
      forget: (name: string) => this.#forget(name),
      names: () => this.#known.keys(),
    };
    await followResource(definitions, follower, clock, signal);
  }

  #note(cached: CachedObject): void {
    const before = this.#known.get(cached.name);
    if (before && before.cached.revision >= cached.revision) return;
    const object = this.#options.definitions.objectOf(cached) as unknown as CustomResourceDefinition;
    const basis = JSON.stringify([object.metadata.uid, object.spec, object.status.acceptedNames]);
    const same = before?.basis === basis;
    if (before && !same) before.resources?.close();
    this.#known.set(cached.name, { object, cached, basis, resources: same ? before.resources : undefined });
    this.#changed();
    this.#enqueue(cached.name);
  }

  #forget(name: string): void {
    const known = this.#known.get(name);
    if (!known) return;
    known.resources?.close();
    this.#known.delete(name);
    this.#changed();
    // Names that it had are free now.
    for (const [other, { object }] of this.#known)
      if (object.spec.group === known.object.spec.group && !hasCondition(object, "NamesAccepted"))
        this.#enqueue(other);
  }

  #changed(): void {
    this.#served = undefined;
    this.#generation++;
  }

  #resourcesOf(known: Known): CustomResources {
    const name = known.object.metadata.name ?? "";
    const terminating = (): boolean => {
      const now = this.#known.get(name);
      return now === undefined || hasCondition(now.object, "Terminating");
    };
    return (known.resources ??= customResources(known.object, { ...this.#options.resources, terminating }));
  }

  async #sync(name: string): Promise<void> {
    const known = this.#known.get(name);
    if (!known) return;
    const { dialect, clock } = this.#options;
    const now = new Date(clock.now());
    const others = [...this.#known.values()].flatMap(({ object }) =>
      object.spec.group === known.object.spec.group && object.metadata.name !== name ? [object] : [],
    );
    const trial = structuredClone(known.object);
    if (reconcileStatus(trial, others, dialect, now)) {
      await this.#writeStatus(name, (object) => reconcileStatus(object, others, dialect, now));
      // Others may have waited for a name that it gives up.
      for (const other of others)
        if (!hasCondition(other, "NamesAccepted")) this.#enqueue(other.metadata.name!);
    }
    const { deletionTimestamp, finalizers } = known.object.metadata;
    if (deletionTimestamp && finalizers?.includes(dialect.names.finalizers.customResourceCleanup))
      await this.#cleanUp(name, known);
  }

  async #writeStatus(name: string, change: (object: CustomResourceDefinition) => unknown): Promise<void> {
    const [endpoint] = this.#options.definitions.endpoints;
    await update({ ...this.#options.request(endpoint!), subresource: "status" }, name, {
      transform: (old) => {
        change(old as unknown as CustomResourceDefinition);
        return old!;
      },
    });
  }

  /** Removes all instances, then lets the definition go. Instances with finalizers are waited for. */
  async #cleanUp(name: string, known: Known): Promise<void> {
    const { clock, dialect, definitions } = this.#options;
    if (isServed(known.object)) {
      const left = await this.#removeInstances(this.#resourcesOf(known).storage);
      if (left > 0) {
        await this.#writeStatus(name, ({ status }) =>
          setCondition(
            status,
            {
              type: "Terminating",
              status: "True",
              reason: "InstanceDeletionInProgress",
              message: "CustomResource deletion is in progress",
            },
            new Date(clock.now()),
          ),
        );
        throw new InstancesLeft(left);
      }
    }
    await this.#writeStatus(name, ({ status }) =>
      setCondition(
        status,
        {
          type: "Terminating",
          status: "False",
          reason: "InstanceDeletionCompleted",
          message: "removed all instances",
        },
        new Date(clock.now()),
      ),
    );
    const finalizer = dialect.names.finalizers.customResourceCleanup;
    await update(this.#options.request(definitions.endpoints[0]!), name, {
      transform: (old) => {
        const kept = (old!.metadata.finalizers ?? []).filter((each) => each !== finalizer);
        if (kept.length > 0) old!.metadata.finalizers = kept;
        else delete old!.metadata.finalizers;
        return old!;
      },
    });
  }

  /** How many are left afterwards. */
  async #removeInstances(endpoint: Endpoint): Promise<number> {
    const { source } = endpoint.resource;
    const all = async (): Promise<readonly CachedObject[]> =>
      (await source.list({ below: "", selector: selectEverything, freshness: { at: "latest" } })).items;
    for (const { namespace, name } of await all())
      await remove(this.#options.request(endpoint, namespace), name, {}).catch(unlessGone);
    return (await all()).length;
  }
}

/** Instances are still there, held back by their own finalizers. */
class InstancesLeft extends Error {
  override readonly name = "InstancesLeft";
  constructor(left: number) {
    super(`${left} instances are left`);
  }
}

const isExpected = (error: unknown): boolean =>
  error instanceof InstancesLeft ||
  (error instanceof ApiError && (error.reason === "NotFound" || error.reason === "Conflict"));

function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
}

const isServed = (definition: CustomResourceDefinition): boolean =>
  hasCondition(definition, "Established") || hasCondition(definition, "NamesAccepted");
