// The definition controller: maintains the status of definitions, serves the established ones, and removes
// the instances of those being deleted.
import type { CustomResourceDefinition } from "#api";
import { ApiError, type Clock, runSteps, selectEverything } from "#base";
import type { Dialect } from "#dialect";
import {
  type Endpoint,
  type Resource,
  type WriteRequest,
  YieldBudget,
  isLarge,
  remove,
  update,
} from "#registry";
import type { CachedObject } from "#watchcache";
import { followResource } from "../follow-resource.ts";
import { type CustomResources, type CustomResourcesOptions, customResources } from "../custom/resources.ts";
import { setCondition } from "./conditions.ts";
import { reconcileStatus } from "./status.ts";
import { hasCondition } from "./validate.ts";

export interface DefinitionControllerOptions {
  /** The resource of the definitions themselves. */
  readonly definitions: Resource;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly resources: Omit<CustomResourcesOptions, "terminating">;
  /** Creates a write request by the server itself. */
  request(endpoint: Endpoint, namespace?: string): WriteRequest;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
  /** Called when the published API documents change because of a served definition. */
  readonly documentsChanged?: (
    definition: CustomResourceDefinition,
    reason: "add" | "update" | "delete",
  ) => void;
}

/** A definition and the resources built from it. */
interface Known {
  readonly object: CustomResourceDefinition;
  readonly cached: CachedObject;
  /** The inputs of the resources; they are rebuilt only if it changes. */
  readonly basis: string;
  resources: CustomResources | undefined;
  /** The resources served before, until the parsing of large schemas is done. */
  previous: CustomResources | undefined;
}

/** Returns the inputs that the resources of a definition depend on. */
const basisOf = ({ metadata, status }: CustomResourceDefinition): string =>
  JSON.stringify([metadata.uid, metadata.generation, status.acceptedNames]);

const retryMilliseconds = 1000;
/** Concurrent deletions of instances: the store combines many of them in one flush. */
const deletionsAtOnce = 64;
/** Waiting for instances with finalizers takes at most one part of this many of the time. */
const waitingShare = 10;

export class DefinitionController {
  readonly #options: DefinitionControllerOptions;
  readonly #known = new Map<string, Known>();
  readonly #queue = new Set<string>();
  /** Resources built for a status that is about to be written. */
  readonly #prepared = new Map<string, { readonly basis: string; readonly resources: CustomResources }>();
  /** Definitions whose instances are being removed; others do not wait for that. */
  readonly #cleanUps = new Map<string, Promise<void>>();
  /** Cancels the next attempt for a definition. */
  readonly #retries = new Map<string, () => void>();
  #wake = (): void => undefined;
  #served: readonly Endpoint[] | undefined;
  #generation = 0;
  #onChange = (): void => undefined;
  #loaded = false;

  constructor(options: DefinitionControllerOptions) {
    this.#options = options;
  }

  /** Returns a number that increases whenever the served endpoints change. */
  generation(): number {
    return this.#generation;
  }

  /** Registers a callback for changes of the served endpoints. */
  onChange(changed: () => void): void {
    this.#onChange = changed;
  }

  /** Returns all served endpoints, computed on first use after a change. */
  served(): readonly Endpoint[] {
    return (this.#served ??= [...this.#known.values()].flatMap((known) => {
      if (!isServed(known.object)) return [];
      if (known.resources || !isLarge(known.cached.json.length)) return this.#resourcesOf(known).endpoints;
      return known.previous?.endpoints ?? [];
    }));
  }

  /** Reports whether every definition that existed at startup has been loaded. */
  loaded(): boolean {
    return this.#loaded;
  }

  /**
   * Loads the existing definitions; established ones are served from then on. A failure does not prevent
   * startup: `run` retries.
   */
  async start(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      this.#options.onError("could not read definitions; retrying", {
        error: (error as Error).message,
      });
    }
  }

  async #load(): Promise<void> {
    const { items } = await this.#options.definitions.source.list({
      below: "",
      selector: selectEverything,
      freshness: { at: "latest" },
    });
    for (const item of items) this.#record(item);
    for (const [name, known] of this.#known) await this.#prepare(name, known, known.object);
    this.#loaded = true;
  }

  /** Follows changes until the signal is aborted. */
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
        if (this.#isDue(name) && !this.#cleanUps.has(name))
          this.#cleanUps.set(name, this.#cleanUp(name, signal));
      } catch (error) {
        this.#failed(name, error, signal);
      }
    }
    for (const cancel of this.#retries.values()) cancel();
    await Promise.all([following, ...this.#cleanUps.values()]);
    for (const name of this.#known.keys()) this.#close(name);
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

  /** Retries later, once per definition, however often it has failed meanwhile. */
  #failed(name: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!isExpected(error))
      this.#options.onError("could not reconcile a definition; retrying", {
        name,
        error: (error as Error).message,
      });
    if (this.#retries.has(name)) return;
    const delay =
      error instanceof InstancesLeft
        ? Math.max(retryMilliseconds, error.milliseconds * (waitingShare - 1))
        : retryMilliseconds;
    const retry = (): void => {
      this.#retries.delete(name);
      this.#enqueue(name);
    };
    this.#retries.set(name, this.#options.clock.after(delay, retry));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { definitions, clock } = this.#options;
    const follower = {
      upsert: (cached: CachedObject) => this.#record(cached),
      remove: (name: string) => this.#remove(name),
      names: () => this.#known.keys(),
      synced: () => void (this.#loaded = true),
    };
    await followResource(definitions, follower, clock, signal);
  }

  #record(cached: CachedObject): void {
    const before = this.#known.get(cached.name);
    if (before && before.cached.revision >= cached.revision) return;
    const object = this.#options.definitions.objectOf(cached) as unknown as CustomResourceDefinition;
    const basis = basisOf(object);
    const same = before?.basis === basis;
    const prepared = this.#prepared.get(cached.name);
    this.#prepared.delete(cached.name);
    const usable = prepared?.basis === basis;
    if (!usable) prepared?.resources.close();
    const resources = (same ? before.resources : undefined) ?? (usable ? prepared.resources : undefined);
    const waits = !resources && isLarge(cached.json.length);
    const previous = waits ? (before?.previous ?? before?.resources) : undefined;
    for (const old of [before?.resources, before?.previous])
      if (old !== resources && old !== previous) old?.close();
    this.#known.set(cached.name, { object, cached, basis, resources, previous });
    const served = isServed(object);
    const wasServed = before !== undefined && isServed(before.object);
    if (served && !(same && wasServed))
      this.#options.documentsChanged?.(object, wasServed ? "update" : "add");
    this.#changed();
    this.#enqueue(cached.name);
  }

  #remove(name: string): void {
    const known = this.#known.get(name);
    if (!known) return;
    this.#close(name);
    this.#known.delete(name);
    if (isServed(known.object)) this.#options.documentsChanged?.(known.object, "delete");
    this.#changed();
    // Names of the deleted definition are free now.
    for (const [other, { object }] of this.#known)
      if (object.spec.group === known.object.spec.group && !hasCondition(object, "NamesAccepted"))
        this.#enqueue(other);
  }

  #close(name: string): void {
    const { resources, previous } = this.#known.get(name) ?? {};
    for (const each of [resources, previous, this.#prepared.get(name)?.resources]) each?.close();
    this.#prepared.delete(name);
  }

  #changed(): void {
    this.#served = undefined;
    this.#generation++;
    this.#onChange();
  }

  /**
   * Parses the schemas of a large definition in steps, before its status says that it is served. Small ones
   * are parsed on first use.
   */
  async #prepare(name: string, known: Known, object: CustomResourceDefinition): Promise<void> {
    const basis = basisOf(object);
    const ready = known.basis === basis && known.resources !== undefined;
    if (ready || !isServed(object) || !isLarge(known.cached.json.length)) return;
    const resources = this.#resourcesFor(object);
    await runSteps(resources.prepare());
    if (this.#known.get(name) !== known) resources.close();
    else if (known.basis !== basis) this.#prepared.set(name, { basis, resources });
    else {
      known.previous?.close();
      known.previous = undefined;
      known.resources = resources;
      this.#changed();
    }
  }

  #resourcesOf(known: Known): CustomResources {
    return (known.resources ??= this.#resourcesFor(known.object));
  }

  #resourcesFor(object: CustomResourceDefinition): CustomResources {
    const name = object.metadata.name ?? "";
    const terminating = (): boolean => {
      const now = this.#known.get(name);
      return now === undefined || hasCondition(now.object, "Terminating");
    };
    return customResources(object, { ...this.#options.resources, terminating });
  }

  async #sync(name: string): Promise<void> {
    const known = this.#known.get(name);
    if (!known) return;
    const { dialect, clock } = this.#options;
    const now = new Date(clock.now());
    const others = [...this.#known.values()].flatMap(({ object }) =>
      object.spec.group === known.object.spec.group && object.metadata.name !== name ? [object] : [],
    );
    const trial = { ...known.object, status: structuredClone(known.object.status) };
    const changed = reconcileStatus(trial, others, dialect, now);
    await this.#prepare(name, known, trial);
    if (changed) {
      await this.#writeStatus(name, (object) => reconcileStatus(object, others, dialect, now));
      // Others may have been waiting for a name that it releases.
      for (const other of others)
        if (!hasCondition(other, "NamesAccepted")) this.#enqueue(other.metadata.name!);
    }
  }

  /** Reports whether the instances of a definition are to be removed. */
  #isDue(name: string): boolean {
    const { deletionTimestamp, finalizers } = this.#known.get(name)?.object.metadata ?? {};
    const finalizer = this.#options.dialect.names.finalizers.customResourceCleanup;
    return Boolean(deletionTimestamp) && finalizers !== undefined && finalizers.includes(finalizer);
  }

  async #writeStatus(name: string, change: (object: CustomResourceDefinition) => unknown): Promise<void> {
    const [endpoint] = this.#options.definitions.endpoints;
    const request = { ...this.#options.request(endpoint!), yieldBudget: new YieldBudget(0) };
    const { object: written } = await update({ ...request, subresource: "status" }, name, {
      transform: (old) => {
        change(old as unknown as CustomResourceDefinition);
        return old!;
      },
    });
    // The kind must be served by the time clients see the status.
    if (this.#known.has(name)) this.#record(written);
  }

  async #cleanUp(name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#removeAll(name, this.#known.get(name)!, signal);
    } catch (error) {
      this.#failed(name, error, signal);
    }
    this.#cleanUps.delete(name);
  }

  /** Removes all instances, then the definition's finalizer. Instances with finalizers are waited for. */
  async #removeAll(name: string, known: Known, signal: AbortSignal): Promise<void> {
    const { clock, dialect } = this.#options;
    if (isServed(known.object)) {
      const began = clock.monotonic();
      const left = await this.#removeInstances(this.#resourcesOf(known).storage, signal);
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
        throw new InstancesLeft(left, clock.monotonic() - began);
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
    // The finalizer is removed even if the definition would not pass validation today.
    await this.#writeStatus(name, ({ metadata }) => {
      const kept = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
      if (kept.length > 0) metadata.finalizers = kept;
      else delete metadata.finalizers;
    });
  }

  /** Removes the instances; returns how many are left. */
  async #removeInstances(endpoint: Endpoint, signal: AbortSignal): Promise<number> {
    const { source } = endpoint.resource;
    const all = async (): Promise<readonly CachedObject[]> =>
      (await source.list({ below: "", selector: selectEverything, freshness: { at: "latest" } })).items;
    const instances = (await all()).values();
    const work = async (): Promise<void> => {
      for (const { namespace, name } of instances) {
        if (signal.aborted) return;
        await remove(this.#options.request(endpoint, namespace), name, {}).catch(ignoreNotFound);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: deletionsAtOnce }, work));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    return (await all()).length;
  }
}

/** Instances remain because of their own finalizers. */
class InstancesLeft extends Error {
  override readonly name = "InstancesLeft";
  readonly milliseconds: number;
  /** `milliseconds` is how long it took to find out. */
  constructor(left: number, milliseconds: number) {
    super(`${left} instances are left`);
    this.milliseconds = milliseconds;
  }
}

const isExpected = (error: unknown): boolean =>
  error instanceof InstancesLeft ||
  (error instanceof ApiError && (error.reason === "NotFound" || error.reason === "Conflict"));

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
}

const isServed = (definition: CustomResourceDefinition): boolean =>
  hasCondition(definition, "Established") || hasCondition(definition, "NamesAccepted");
