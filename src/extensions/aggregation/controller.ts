// Follows API services: keeps those of this server, looks whether the others can be reached, and says who has what.
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
import { type AggregationProxyOptions, passOn, unavailable } from "./proxy.ts";
import type { ResolveService } from "./resolve-service.ts";
import { Rest } from "./rest.ts";

/** A version that this server has. */
export interface LocalVersion {
  readonly group: string;
  /** Without the product's suffix, by which built-in groups are ranked. */
  readonly neutralGroup: string;
  readonly version: string;
  /** Comes and goes with definitions. */
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
  /** What this server has itself, at any time. */
  local(): readonly LocalVersion[];
  /** Whether that is all: definitions may still have to be read. */
  localComplete(): boolean;
  /** Counts up whenever that changes. */
  localGeneration(): number;
  /** Calls whenever it has. */
  onLocalChange(changed: () => void): void;
  request(endpoint: Endpoint): WriteRequest;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

const recheckMilliseconds = 5000;
const retryMilliseconds = 1000;
const describeMilliseconds = 60_000;
/** After a round that failed, or found that not all is known yet; and the least between two checks. */
const soonMilliseconds = 500;
/** Who asks other servers for what they say of their APIs. */
const descriptionUser = "system:aggregator";

interface Known {
  readonly object: APIService;
  readonly revision: number;
  readonly remote: RemoteVersion | undefined;
}

export class AggregationController {
  readonly #options: AggregationOptions;
  readonly #known = new Map<string, Known>();
  /** What discovery of other servers said, by name of the service. */
  readonly #resources = new Map<string, readonly Record<string, unknown>[]>();
  readonly #descriptions = new Map<
    string,
    { readonly dueAt: number; readonly found: RemoteDescription | undefined }
  >();
  readonly #checked = new Map<string, { readonly revision: number; readonly at: number }>();
  #generation = 0;
  #localSeen = -1;
  #registered = false;
  /** What was told last: it is not told with each attempt. */
  #lastError = "";
  /** The two loops, where they rest. */
  readonly #local = new Rest();
  readonly #remote = new Rest();

  constructor(options: AggregationOptions) {
    this.#options = options;
  }

  generation(): number {
    return this.#generation;
  }

  /** Whether every version that this server had at its start is registered. */
  registered(): boolean {
    return this.#registered;
  }

  /** Versions that other servers have, for discovery. */
  remote(): readonly RemoteVersion[] {
    return [...this.#known.values()].flatMap(({ remote }) => remote ?? []);
  }

  /** All API services by name, and whether they can be reached. */
  availability(): readonly { readonly name: string; readonly available: boolean }[] {
    return [...this.#known].map(([name, { remote }]) => ({ name, available: remote?.available ?? true }));
  }

  /** Answers a request for what another server has; undefined for everything else. */
  handle(call: ApiCall): Promise<Reply> | undefined {
    if (this.#remoteCount === 0) return undefined;
    const known = this.#describedBy(call.target.path) ?? this.#serverOf(call.target.path);
    // What is to be watched is not said: that is nobody's path.
    if (!known?.remote || /^\/apis\/[^/]+\/[^/]+\/watch\/?$/.test(call.target.path)) return undefined;
    const { rejectRedirects, resolve, pair, stopping, observer } = this.#options;
    if (!known.remote.available) {
      observer?.turnedAway?.(call);
      return Promise.resolve(unavailable);
    }
    const options: AggregationProxyOptions = { rejectRedirects, resolve, pair, stopping, observer };
    return passOn(call, known.object, options);
  }

  #remoteCount = 0;

  #serverOf(path: string): Known | undefined {
    const [, root, group, version] = path.split("/", 4);
    return root === "apis" && group && version ? this.#known.get(`${version}.${group}`) : undefined;
  }

  /** Whoever has a document of OpenAPI 3 for a version of its own serves it. */
  #describedBy(path: string): Known | undefined {
    const prefix = "/openapi/v3/";
    if (!path.startsWith(prefix)) return undefined;
    const name = path.slice(prefix.length);
    const known = this.#serverOf(`/${name}`);
    return known?.remote?.description?.()?.v3?.has(name) ? known : undefined;
  }

  /** A service that cannot be read does not keep the server from starting: `run` goes on trying. */
  async start(): Promise<void> {
    await this.#load().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    const { message } = error as Error;
    if (message === this.#lastError || isExpected(error)) return;
    this.#lastError = message;
    this.#options.onError("API services could not be brought up to date; it is tried again", {
      error: message,
    });
  }

  async #load(): Promise<void> {
    const { items } = await this.#options.services.source.list({
      below: "",
      selector: selectEverything,
      freshness: { at: "latest" },
    });
    for (const item of items) this.#note(item.name, item.revision, this.#read(item));
    await Promise.all(this.#options.local().map((version) => this.#ensure(version)));
    this.#registered = true;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#options.onLocalChange(() => this.#local.end());
    await Promise.all([
      this.#follow(signal),
      this.#repeat(this.#local, signal, async () => {
        if (!this.#registered) await this.#load();
        return await this.#keepLocal();
      }),
      this.#repeat(this.#remote, signal, async () => {
        for (const name of Array.from(this.#known.keys())) {
          if (signal.aborted) break;
          await this.#check(name, signal);
        }
        return this.#untilNextCheck();
      }),
    ]);
  }

  /**
   * Our own versions must not wait for another server to answer: each has a loop. A round tells after how many
   * milliseconds the next one is due though nothing calls for it.
   */
  async #repeat(rest: Rest, signal: AbortSignal, look: () => Promise<number>): Promise<void> {
    while (!signal.aborted) {
      rest.begin();
      let due = soonMilliseconds;
      try {
        due = await look();
        this.#lastError = "";
      } catch (error) {
        if (!signal.aborted) this.#failed(error);
      }
      await rest.over(due, this.#options.clock, signal);
    }
  }

  #read(cached: Parameters<Resource["objectOf"]>[0]): APIService {
    return this.#options.services.objectOf(cached) as unknown as APIService;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { services, clock } = this.#options;
    const follower = {
      note: (cached: CachedObject) => this.#note(cached.name, cached.revision, this.#read(cached)),
      forget: (name: string) => this.#forget(name),
      names: () => this.#known.keys(),
      flushed: () => {
        this.#local.end();
        this.#remote.end();
      },
    };
    await followResource(services, follower, clock, signal);
  }

  #note(name: string, revision: number, object: APIService): void {
    const before = this.#known.get(name);
    if (before && before.revision >= revision) return;
    this.#known.set(name, { object, revision, remote: this.#remoteOf(name, object) });
    this.#changed();
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#resources.delete(name);
    this.#descriptions.delete(name);
    this.#checked.delete(name);
    // One of our own comes back.
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

  /** Those of definitions come and go with them; the others are made once, when the server starts. */
  async #keepLocal(): Promise<number> {
    const generation = this.#options.localGeneration();
    if (generation === this.#localSeen) return Infinity;
    const complete = this.#options.localComplete();
    const wanted = this.#options.local().filter(({ custom }) => custom);
    const names = new Set(wanted.map(nameOf));
    for (const version of wanted) await this.#ensure(version);
    // What is not known yet may be what a service stands for.
    if (!complete) return soonMilliseconds;
    const { aggregatedAutoRegister } = this.#options.dialect.names.labels;
    for (const [name, { object }] of this.#known) {
      if (own(object.metadata.labels ?? {}, aggregatedAutoRegister) !== "true" || names.has(name)) continue;
      await remove(this.#options.request(this.#endpoint), name, {}).catch(unlessGone);
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
      ).catch(unlessThere);
  }

  async #check(name: string, signal: AbortSignal): Promise<void> {
    const known = this.#known.get(name);
    if (!known) return;
    const { clock } = this.#options;
    const last = this.#checked.get(name);
    const fresh = last !== undefined && clock.now() - last.at < patience(known);
    const changed = last?.revision !== known.revision;
    if (!changed && (!known.remote || fresh)) return;
    if (known.remote && fresh && isSettled(known.object)) return;
    const found = await checkAvailability(known.object, this.#options, signal);
    const before = JSON.stringify(this.#resources.get(name));
    if (found.resources) this.#resources.set(name, found.resources);
    else if (found.status === "True") this.#resources.delete(name);
    if (JSON.stringify(this.#resources.get(name)) !== before) {
      this.#changed();
      const described = this.#descriptions.get(name);
      if (described) this.#descriptions.set(name, { ...described, dueAt: -Infinity });
    }
    await this.#tell(name, found);
    if (known.remote && found.status === "True") await this.#describe(name, known.object, signal);
    this.#checked.set(name, { revision: this.#known.get(name)?.revision ?? 0, at: clock.now() });
  }

  /** Other servers are looked at again and again; where there are none, nothing is. */
  #untilNextCheck(): number {
    const now = this.#options.clock.now();
    let due = Infinity;
    for (const [name, known] of this.#known)
      if (known.remote) due = Math.min(due, (this.#checked.get(name)?.at ?? now) + patience(known));
    return Math.max(soonMilliseconds, due - now);
  }

  /** Asks now and then what the server says of its API; whoever fails to answer is asked again at the next check. */
  async #describe(name: string, service: APIService, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const last = this.#descriptions.get(name);
    const began = clock.now();
    if (last && began < last.dueAt) return;
    let pause = describeMilliseconds;
    const found = await fetchDescription(service, descriptionUser, this.#options, signal).catch(() => {
      pause = recheckMilliseconds;
      return last?.found;
    });
    if (!this.#known.has(name)) return;
    this.#descriptions.set(name, { dueAt: clock.now() + pause, found });
    if (isDeepStrictEqual(found, last?.found)) return;
    this.#changed();
    this.#options.observer?.redescribed?.(name, last?.found ? "update" : "add", (clock.now() - began) / 1000);
  }

  async #tell(name: string, found: Availability): Promise<void> {
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
    }).catch(unlessGone);
  }
}

const patience = ({ remote }: Known): number => (remote?.available ? recheckMilliseconds : retryMilliseconds);

/** Whether the spec that was looked at is still the one there is: a status of our own changes nothing. */
const isSettled = ({ status }: APIService): boolean =>
  (status.conditions ?? []).some(({ type }) => type === "Available");

const nameOf = ({ group, version }: LocalVersion): string => `${version}.${group}`;

function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
}
function unlessThere(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
}
const isExpected = (error: unknown): boolean =>
  error instanceof ApiError && (error.reason === "Conflict" || error.reason === "NotFound");
