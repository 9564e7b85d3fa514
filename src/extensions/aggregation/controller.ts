// The API service controller: registers the versions of this server, checks the availability of other
// servers, and resolves which server has which version.
import { isDeepStrictEqual } from "node:util";
import type { APIService } from "#api";
import { ApiError, type Clock, own, selectEverything } from "#base";
import type { Dialect } from "#dialect";
import {
  type ApiCall,
  type Priorities,
  type RemoteDescription,
  type RemoteVersion,
  builtInPriorities,
  customPriorities,
} from "#endpoints";
import type { Reply } from "#http";
import {
  type ApiObject,
  type Endpoint,
  type Resource,
  type WriteRequest,
  create,
  defaulted,
  remove,
  timestamp,
  update,
} from "#registry";
import type { CachedObject } from "#watchcache";
import { followResource } from "../follow-resource.ts";
import { type Availability, checkAvailability } from "./availability.ts";
import type { ClientPair } from "./backend.ts";
import { fetchDescription } from "./description.ts";
import type { AggregationObserver } from "./observer.ts";
import { type AggregationProxyOptions, proxyRequest, unavailable } from "./proxy.ts";
import type { ResolveService } from "./resolve-service.ts";
import { LoopTimer } from "./loop-timer.ts";
import { ParallelChecks } from "./parallel-checks.ts";

/** An API version of this server. */
export interface LocalVersion {
  readonly group: string;
  /** The group without the product's suffix, which determines the priority of built-in groups. */
  readonly neutralGroup: string;
  readonly version: string;
  /** Whether the version comes from a definition, and is added and removed with it. */
  readonly custom: boolean;
}

export interface AggregationOptions {
  readonly services: Resource;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly resolve: ResolveService;
  readonly pair: ClientPair;
  readonly rejectRedirects: boolean;
  readonly stopping: AbortSignal;
  readonly observer?: AggregationObserver;
  /** Returns the versions that this server currently has. */
  local(): readonly LocalVersion[];
  /** Reports whether local() is complete; false while definitions are still being loaded. */
  localComplete(): boolean;
  /** Returns a number that increases whenever the versions change. */
  localGeneration(): number;
  /** Registers a callback for changes of the versions. */
  onLocalChange(changed: () => void): void;
  request(endpoint: Endpoint): WriteRequest;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

const recheckMilliseconds = 5000;
const retryMilliseconds = 1000;
const describeMilliseconds = 60_000;
/** Delay after a round or check that failed or was incomplete, and the minimum pause of a loop. */
const shortDelayMilliseconds = 500;
/** Maximum number of concurrent checks, as in kube-aggregator. */
const maxChecks = 5;
/** The user name in requests for other servers' API descriptions. */
const descriptionUser = "system:aggregator";

interface Known {
  readonly object: APIService;
  readonly revision: number;
  readonly remote: RemoteVersion | undefined;
}

export class AggregationController {
  readonly #options: AggregationOptions;
  readonly #known = new Map<string, Known>();
  /** Resources from the discovery of other servers, by API service. */
  readonly #resources = new Map<string, readonly Record<string, unknown>[]>();
  readonly #descriptions = new Map<
    string,
    { readonly dueAt: number; readonly found: RemoteDescription | undefined }
  >();
  readonly #checked = new Map<string, { readonly revision: number; readonly at: number }>();
  /** The last check of each API service, if it failed with an error. */
  readonly #failures = new Map<string, { readonly at: number; readonly message: string }>();
  /** Checks of this server's versions must not wait for other servers. */
  readonly #checks = {
    local: new ParallelChecks(maxChecks, () => this.#remote.wake()),
    remote: new ParallelChecks(maxChecks, () => this.#remote.wake()),
  };
  #generation = 0;
  #localSeen = -1;
  #registered = false;
  /** The last error logged; it is not logged again on every retry. */
  #lastError = "";
  /** Pauses between the rounds of the two loops. */
  readonly #local = new LoopTimer();
  readonly #remote = new LoopTimer();

  constructor(options: AggregationOptions) {
    this.#options = options;
  }

  generation(): number {
    return this.#generation;
  }

  /** Reports whether every version that this server had at startup is registered. */
  registered(): boolean {
    return this.#registered;
  }

  /** Returns the versions of other servers, for discovery. */
  remote(): readonly RemoteVersion[] {
    return [...this.#known.values()].flatMap(({ remote }) => remote ?? []);
  }

  /** Returns all API services by name, and whether they are available. */
  availability(): readonly { readonly name: string; readonly available: boolean }[] {
    return [...this.#known].map(([name, { remote }]) => ({ name, available: remote?.available ?? true }));
  }

  /** Proxies a request for another server's version; returns undefined for any other request. */
  handle(call: ApiCall): Promise<Reply> | undefined {
    if (this.#remoteCount === 0) return undefined;
    const known = this.#describedBy(call.target.path) ?? this.#serverOf(call.target.path);
    // A watch path without a resource matches nothing.
    if (!known?.remote || /^\/apis\/[^/]+\/[^/]+\/watch\/?$/.test(call.target.path)) return undefined;
    const { clock, rejectRedirects, resolve, pair, stopping, observer } = this.#options;
    if (!known.remote.available) {
      observer?.rejected?.(call);
      return Promise.resolve(unavailable);
    }
    const options: AggregationProxyOptions = { clock, rejectRedirects, resolve, pair, stopping, observer };
    return proxyRequest(call, known.object, options);
  }

  #remoteCount = 0;

  #serverOf(path: string): Known | undefined {
    const [, root, group, version] = path.split("/", 4);
    return root === "apis" && group && version ? this.#known.get(`${version}.${group}`) : undefined;
  }

  /** Returns the API service that has an OpenAPI v3 document for its version and therefore serves it. */
  #describedBy(path: string): Known | undefined {
    const prefix = "/openapi/v3/";
    if (!path.startsWith(prefix)) return undefined;
    const name = path.slice(prefix.length);
    const known = this.#serverOf(`/${name}`);
    return known?.remote?.description?.()?.v3?.has(name) ? known : undefined;
  }

  /** Loads the API services. A failure does not prevent startup: `run` retries. */
  async start(): Promise<void> {
    await this.#load().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (isExpected(error)) return;
    const { message } = error as Error;
    this.#report(message, this.#lastError);
    this.#lastError = message;
  }

  #checkFailed(name: string, error: unknown): void {
    if (!this.#known.has(name)) return;
    const { message } = error as Error;
    if (!isExpected(error)) this.#report(message, this.#failures.get(name)?.message);
    this.#failures.set(name, { at: this.#options.clock.monotonic(), message });
  }

  #report(message: string, lastReported: string | undefined): void {
    if (message === lastReported) return;
    this.#options.onError("could not reconcile API services; retrying", { error: message });
  }

  async #load(): Promise<void> {
    const { items } = await this.#options.services.source.list({
      below: "",
      selector: selectEverything,
      freshness: { at: "latest" },
    });
    for (const item of items) this.#record(item.name, item.revision, this.#read(item));
    await Promise.all(this.#options.local().map((version) => this.#ensure(version)));
    this.#registered = true;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#options.onLocalChange(() => this.#local.wake());
    await Promise.all([
      this.#follow(signal),
      this.#repeat(this.#local, signal, async () => {
        if (!this.#registered) await this.#load();
        return await this.#syncLocal();
      }),
      this.#repeat(this.#remote, signal, () => this.#startChecks(signal)),
    ]);
    await Promise.all([this.#checks.local.ended(), this.#checks.remote.ended()]);
  }

  /**
   * Runs a loop until aborted. Local versions must not wait for another server's response, so each kind has
   * its own loop. A round returns the milliseconds until the next one if nothing triggers it earlier.
   */
  async #repeat(timer: LoopTimer, signal: AbortSignal, round: () => number | Promise<number>): Promise<void> {
    while (!signal.aborted) {
      timer.reset();
      let due = shortDelayMilliseconds;
      try {
        due = await round();
        this.#lastError = "";
      } catch (error) {
        if (!signal.aborted) this.#failed(error);
      }
      await timer.wait(due, this.#options.clock, signal);
    }
  }

  #read(cached: Parameters<Resource["objectOf"]>[0]): APIService {
    return this.#options.services.objectOf(cached) as unknown as APIService;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { services, clock } = this.#options;
    const follower = {
      upsert: (cached: CachedObject) => this.#record(cached.name, cached.revision, this.#read(cached)),
      remove: (name: string) => this.#remove(name),
      names: () => this.#known.keys(),
      batchDone: () => {
        this.#local.wake();
        this.#remote.wake();
      },
    };
    await followResource(services, follower, clock, signal);
  }

  #record(name: string, revision: number, object: APIService): void {
    const before = this.#known.get(name);
    if (before && before.revision >= revision) return;
    this.#known.set(name, { object, revision, remote: this.#remoteOf(name, object) });
    if (before && !isSameService(before.object, object)) this.#checkAgain(name);
    this.#changed();
  }

  /** Makes the next check due at once, and the next description with it: they were those of another server. */
  #checkAgain(name: string): void {
    this.#checked.delete(name);
    this.#failures.delete(name);
    const described = this.#descriptions.get(name);
    if (described) this.#descriptions.set(name, { ...described, dueAt: -Infinity });
  }

  #remove(name: string): void {
    this.#known.delete(name);
    this.#resources.delete(name);
    this.#descriptions.delete(name);
    this.#checked.delete(name);
    this.#failures.delete(name);
    // A local version that was deleted is registered again.
    this.#localSeen = -1;
    this.#changed();
  }

  #changed(): void {
    this.#remoteCount = this.remote().length;
    this.#generation++;
  }

  #remoteOf(name: string, { spec, status }: APIService): RemoteVersion | undefined {
    if (!spec.service) return undefined;
    return {
      group: spec.group ?? "",
      version: spec.version ?? "",
      groupPriority: spec.groupPriorityMinimum,
      versionPriority: spec.versionPriority,
      available: (status.conditions ?? []).some(
        ({ type, status: is }) => type === "Available" && is === "True",
      ),
      resources: () => this.#resources.get(name) ?? [],
      discovered: () => this.#resources.has(name),
      description: () => this.#descriptions.get(name)?.found,
    };
  }

  /**
   * Keeps local versions registered. Versions from definitions are added and removed with them; the others
   * are registered once at startup.
   */
  async #syncLocal(): Promise<number> {
    const generation = this.#options.localGeneration();
    if (generation === this.#localSeen) return Infinity;
    const synced = this.#options.localComplete();
    const customVersions = this.#options.local().filter(({ custom }) => custom);
    const names = new Set(customVersions.map(nameOf));
    for (const version of customVersions) await this.#ensure(version);
    // An API service may belong to a version that is not loaded yet.
    if (!synced) return shortDelayMilliseconds;
    const { aggregatedAutoRegister } = this.#options.dialect.names.labels;
    for (const [name, { object }] of this.#known) {
      if (own(object.metadata.labels ?? {}, aggregatedAutoRegister) !== "true" || names.has(name)) continue;
      await remove(this.#options.request(this.#endpoint), name, {}).catch(ignoreNotFound);
    }
    this.#localSeen = generation;
    return Infinity;
  }

  get #endpoint(): Endpoint {
    return this.#options.services.endpoints[0]!;
  }

  async #ensure(version: LocalVersion): Promise<void> {
    const name = nameOf(version);
    const known = this.#known.get(name)?.object;
    const priorities: Priorities = version.custom
      ? customPriorities
      : builtInPriorities(version.neutralGroup, version.version);
    const spec = { ...(version.group && { group: version.group }), version: version.version, ...priorities };
    if (known?.spec.service) return;
    const { groupPriorityMinimum, versionPriority } = known?.spec ?? {};
    if (
      groupPriorityMinimum === priorities.groupPriorityMinimum &&
      versionPriority === priorities.versionPriority
    )
      return;
    const request = this.#options.request(this.#endpoint);
    const label = this.#options.dialect.names.labels.aggregatedAutoRegister;
    const labels = { [label]: version.custom ? "true" : "onstart" };
    if (known)
      await update(request, name, {
        transform: (old) => Object.assign(old!, { spec }),
      });
    else
      await create(
        request,
        defaulted(request, {
          kind: this.#endpoint.kind,
          apiVersion: this.#endpoint.apiVersion,
          metadata: { name, labels, creationTimestamp: null },
          spec,
          status: {},
        } as unknown as ApiObject),
      ).catch(ignoreAlreadyExists);
  }

  /**
   * Starts the checks that are due and not in progress, new API services first. Returns the delay until the
   * next one is due; a check that ends also triggers a round.
   */
  #startChecks(signal: AbortSignal): number {
    const now = this.#options.clock.monotonic();
    const { local, remote } = this.#checks;
    const due: { readonly name: string; readonly known: Known; readonly at: number }[] = [];
    let next = Infinity;
    for (const [name, known] of this.#known) {
      if (local.has(name) || remote.has(name)) continue;
      const at = this.#dueAt(name, known);
      if (at <= now) due.push({ name, known, at });
      else next = Math.min(next, at);
    }
    due.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at));
    // Checks for which there is no place are started when one ends.
    for (const { name, known } of due)
      (known.remote ? remote : local).start(name, async () => {
        try {
          await this.#check(name, known, signal);
          this.#failures.delete(name);
        } catch (error) {
          if (!signal.aborted) this.#checkFailed(name, error);
        }
      });
    return Math.max(shortDelayMilliseconds, next - now);
  }

  /**
   * Returns when the next check is due. Other servers are checked periodically, this server only after
   * changes.
   */
  #dueAt(name: string, known: Known): number {
    const failed = this.#failures.get(name);
    if (failed) return failed.at + shortDelayMilliseconds;
    const last = this.#checked.get(name);
    if (!last) return -Infinity;
    const changed = last.revision !== known.revision;
    if (!known.remote) return changed ? -Infinity : Infinity;
    return changed && !isSettled(known.object) ? -Infinity : last.at + checkInterval(known);
  }

  async #check(name: string, known: Known, signal: AbortSignal): Promise<void> {
    const found = await checkAvailability(known.object, this.#options, signal);
    // An aborted check has no result, and that of a previous API service does not apply to the current one.
    if (signal.aborted || !isSameService(known.object, this.#known.get(name)?.object)) return;
    const before = JSON.stringify(this.#resources.get(name));
    if (found.resources) this.#resources.set(name, found.resources);
    else if (found.status === "True") this.#resources.delete(name);
    if (JSON.stringify(this.#resources.get(name)) !== before) {
      this.#changed();
      const described = this.#descriptions.get(name);
      if (described) this.#descriptions.set(name, { ...described, dueAt: -Infinity });
    }
    await this.#updateStatus(name, found);
    if (known.remote && found.status === "True") await this.#describe(name, known.object, signal);
    const current = this.#known.get(name);
    if (!current || !isSameService(known.object, current.object)) return;
    this.#checked.set(name, { revision: current.revision, at: this.#options.clock.monotonic() });
  }

  /** Periodically fetches a server's API description; after a failure it is retried at the next check. */
  async #describe(name: string, service: APIService, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const last = this.#descriptions.get(name);
    const began = clock.monotonic();
    if (last && began < last.dueAt) return;
    let pause = describeMilliseconds;
    const found = await fetchDescription(service, descriptionUser, this.#options, signal).catch(() => {
      pause = recheckMilliseconds;
      return last?.found;
    });
    if (!isSameService(service, this.#known.get(name)?.object)) return;
    this.#descriptions.set(name, { dueAt: clock.monotonic() + pause, found });
    if (isDeepStrictEqual(found, last?.found)) return;
    this.#changed();
    this.#options.observer?.documentsChanged?.(
      name,
      last?.found ? "update" : "add",
      (clock.monotonic() - began) / 1000,
    );
  }

  async #updateStatus(name: string, found: Availability): Promise<void> {
    const now = this.#known.get(name)?.object.status.conditions?.find(({ type }) => type === "Available");
    if (now?.status === found.status && now.reason === found.reason && now.message === found.message) return;
    if (found.status === "False" && now?.status === "True")
      this.#options.observer?.lost?.(name, found.reason);
    const request = { ...this.#options.request(this.#endpoint), subresource: "status" };
    await update(request, name, {
      transform: (old) => {
        const service = old as unknown as APIService;
        const others = (service.status.conditions ?? []).filter(({ type }) => type !== "Available");
        const before = service.status.conditions?.find(({ type }) => type === "Available");
        const lastTransitionTime =
          before?.status === found.status
            ? before.lastTransitionTime
            : timestamp(new Date(this.#options.clock.now()));
        const { status, reason, message } = found;
        service.status.conditions = [
          ...others,
          { type: "Available", status, lastTransitionTime, reason, message },
        ];
        return old!;
      },
    }).catch(ignoreNotFound);
  }
}

const checkInterval = ({ remote }: Known): number =>
  remote?.available ? recheckMilliseconds : retryMilliseconds;

/**
 * Reports whether the status belongs to the current spec, so that a status update of our own needs no new
 * check.
 */
const isSettled = ({ status }: APIService): boolean =>
  (status.conditions ?? []).some(({ type }) => type === "Available");

const isSameService = (one: APIService, other: APIService | undefined): boolean =>
  one.metadata.uid === other?.metadata.uid && isDeepStrictEqual(one.spec, other?.spec);

const nameOf = ({ group, version }: LocalVersion): string => `${version}.${group}`;

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
}
function ignoreAlreadyExists(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
}
const isExpected = (error: unknown): boolean =>
  error instanceof ApiError && (error.reason === "Conflict" || error.reason === "NotFound");
