// The life cycle of the Node object: registers the node, again after it has been deleted, computes its status
// periodically and writes it when it changes.
import { Node, type NodeStatus } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import { type AnyObject, type ApiClient, type Informer, type ResourceKind, informer } from "#client";
import type { EventRecorder, NodeFacts } from "../interfaces.ts";
import { type NodeHealth, nextConditions } from "./conditions.ts";
import {
  type NodeIdentity,
  type NodeStatusFacts,
  freshNode,
  nodeAnnotations,
  nodeLabels,
  platformLabels,
  statusParts,
  statusPatch,
} from "./node-object.ts";

export interface NodeLifeOptions {
  /** Absent for an agent without an API server. */
  readonly client?: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly identity: NodeIdentity;
  /** Whether to create the Node object or to wait until another client creates it. */
  readonly register: boolean;
  readonly updateMilliseconds: number;
  readonly reportMilliseconds: number;
  /** Observes the machine. */
  readonly observe: () => Promise<{ readonly facts: NodeStatusFacts; readonly health: NodeHealth }>;
}

export type KnownNode = Node & AnyObject;

export interface NodeLife extends NodeFacts {
  /**
   * Observes the machine for the first time and starts the updates. Rejects if the machine cannot be
   * observed.
   */
  start(): Promise<void>;
  /** Returns the node's resources before reservations. */
  capacity(): Readonly<Record<string, string>>;
  /**
   * Returns the allocatable resources in the node object when the agent started, or the current ones if it
   * was absent.
   */
  recordedAllocatable(): Readonly<Record<string, string>>;
  /** Returns the node object of the API server; before registration, the object to register. */
  node(): Pick<Node, "metadata" | "spec" | "status">;
  /** Resolves once the node is registered with the API server. */
  readonly registered: Promise<void>;
  uid(): string | undefined;
  /** Triggers a status update. */
  statusSoon(): void;
  stop(): void;
}

const nodes: ResourceKind<typeof Node> = { schema: Node, plural: "nodes", namespaced: false };
const longestRegistrationWait = 7000;
const triesPerUpdate = 5;

export function nodeLife(options: NodeLifeOptions): NodeLife {
  const { client, clock, log, events, identity } = options;
  const { name } = identity;
  const reference = { kind: "Node", name, uid: name };
  const stopping = new AbortController();
  const registered = Promise.withResolvers<void>();
  let last: { facts: NodeStatusFacts; health: NodeHealth } | undefined;
  let standing: KnownNode | undefined;
  let follower: Informer<KnownNode> | undefined;
  let recorded: NodeStatus["allocatable"];
  let toldAt = -Infinity;
  let isCordoned = false;
  let wake: () => void = () => undefined;

  const facts = (): NodeStatusFacts => {
    if (!last) throw new Error("the node was not looked at yet");
    return last.facts;
  };
  const node = (): Pick<Node, "metadata" | "spec" | "status"> => standing ?? freshNode(identity, facts());
  return {
    name,
    registered: registered.promise,
    hostIps: () => last?.facts.addresses ?? [],
    allocatable: () => last?.facts.allocatable ?? {},
    labels: () => node().metadata.labels ?? {},
    capacity: () => last?.facts.capacity ?? {},
    recordedAllocatable: () => recorded ?? last?.facts.allocatable ?? {},
    node,
    uid: () => standing?.metadata.uid,
    statusSoon: () => wake(),
    stop: () => stopping.abort(new Error("stopped")),
    start: async () => {
      last = await options.observe();
      events.event(reference, "Normal", "Starting", `Starting ${identity.dialect.cli.agent}.`);
      if (client) void live(client);
    },
  };

  async function live(api: ApiClient): Promise<void> {
    await present(api);
    follower = informer<KnownNode>({
      client: api.of(nodes),
      scope: { fieldSelector: `metadata.name=${name}` },
      clock,
      signal: stopping.signal,
      onEvent: (event) => {
        if (event.type === "deleted") {
          log.warn("node was deleted from the cluster", { node: name });
          standing = undefined;
          wake();
        } else {
          if (standing?.metadata.uid !== event.object.metadata.uid) toldAt = -Infinity;
          standing = event.object;
          tellCordon(event.object.spec?.unschedulable ?? false);
          registered.resolve();
        }
      },
      onTrouble: (error) => log.verbose(2, "the node cannot be watched", { error: error.message }),
    });
    await Promise.race([follower.synced, rest(options.updateMilliseconds)]);
    while (!stopping.signal.aborted) {
      try {
        await update(api);
      } catch (error) {
        log.error("failed to update node status", { node: name, error: (error as Error).message });
      }
      await rest(options.updateMilliseconds * (1 + 0.04 * Math.random()));
    }
  }

  /** Waits, or returns early when a status update is triggered. */
  async function rest(milliseconds: number): Promise<void> {
    const early = new AbortController();
    wake = () => early.abort();
    await clock.sleep(milliseconds, AbortSignal.any([stopping.signal, early.signal])).catch(() => undefined);
  }

  /** Ensures that the node object exists, with its labels and annotations. */
  async function present(api: ApiClient): Promise<void> {
    for (let wait = 200; !stopping.signal.aborted; wait = Math.min(longestRegistrationWait, wait * 2)) {
      try {
        standing = await registration(api);
        if (standing) {
          registered.resolve();
          return;
        }
      } catch (error) {
        log.error("failed to register node", { node: name, error: (error as Error).message });
      }
      await clock.sleep(wait, stopping.signal).catch(() => undefined);
    }
  }

  async function registration(api: ApiClient): Promise<KnownNode | undefined> {
    const resource = api.of(nodes);
    const found = await resource.get(name).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
    if (!found) {
      if (!options.register) return undefined;
      last = await options.observe();
      const fresh = freshNode(identity, last.facts);
      const change = nextConditions([], last.health, clock.now(), identity.dialect);
      const made = await resource.create({
        ...fresh,
        status: { ...fresh.status, conditions: [...change.conditions] },
      });
      log.info("registered node", { node: name });
      tellChanges(change.events);
      return made;
    }
    recorded ??= found.status?.allocatable;
    if (!options.register) return found;
    const known = await relabelled(api, found);
    // A starting agent records events for the current conditions, even if they are unchanged.
    if (last) tellChanges(nextConditions([], last.health, clock.now(), identity.dialect).events);
    return known;
  }

  /** Updates labels and annotations of an existing node. */
  async function relabelled(api: ApiClient, found: KnownNode): Promise<KnownNode> {
    const defaults = nodeLabels({ ...identity, labels: {} }, facts());
    const labels = Object.entries({ ...identity.labels, ...defaults }).filter(
      ([key, value]) =>
        found.metadata.labels?.[key] !== value &&
        (key in defaults || found.metadata.labels?.[key] === undefined),
    );
    const wanted = nodeAnnotations(identity);
    const { controllerManagedAttach, providedNodeIp } = identity.dialect.names.annotations;
    const changed = [controllerManagedAttach, providedNodeIp].filter(
      (key) => found.metadata.annotations?.[key] !== wanted[key],
    );
    const patch: Record<string, unknown> = {};
    if (labels.length > 0) patch["labels"] = Object.fromEntries(labels);
    if (changed.length > 0)
      patch["annotations"] = Object.fromEntries(changed.map((key) => [key, wanted[key] ?? null]));
    return Object.keys(patch).length > 0
      ? await api.of(nodes).patch(name, "strategic", { metadata: patch })
      : found;
  }

  async function update(api: ApiClient): Promise<void> {
    last = await options.observe();
    if (!standing) await present(api);
    for (let tries = 1; ; tries++) {
      if (!standing || stopping.signal.aborted) return;
      const { conditions, events: changes } = nextConditions(
        standing.status?.conditions ?? [],
        last.health,
        clock.now(),
        identity.dialect,
      );
      const wanted: Partial<NodeStatus> = {
        ...withOthers(statusParts(identity, last.facts), standing.status?.capacity),
        conditions: [...conditions],
      };
      if (identity.externalCloud && (standing.status?.addresses?.length ?? 0) > 0) delete wanted.addresses;
      const patch = statusPatch(standing.status ?? {}, wanted);
      const labels = platformLabels(identity, last.facts);
      const isMislabelled = Object.entries(labels).some(
        ([key, value]) => standing?.metadata.labels?.[key] !== value,
      );
      if (!patch && !isMislabelled && clock.now() - toldAt < options.reportMilliseconds) return;
      const bootBefore = standing.status?.nodeInfo?.bootID;
      try {
        standing = await api
          .of(nodes)
          .patch(
            name,
            "strategic",
            { ...(isMislabelled && { metadata: { labels } }), status: { ...patch, conditions } },
            { subresource: "status" },
          );
        toldAt = clock.now();
        const { bootId } = last.facts.machine;
        if (bootBefore && bootBefore !== bootId)
          events.event(
            reference,
            "Warning",
            "Rebooted",
            `Node ${name} has been rebooted, boot id: ${bootId}`,
          );
        tellChanges(changes);
        return;
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) {
          standing = undefined;
          await present(api);
        } else if (tries >= triesPerUpdate) throw error;
      }
    }
  }

  function tellCordon(now: boolean): void {
    if (now !== isCordoned) tellChanges([now ? "NodeNotSchedulable" : "NodeSchedulable"]);
    isCordoned = now;
  }

  function tellChanges(reasons: readonly string[]): void {
    for (const reason of reasons)
      events.event(reference, "Normal", reason, `Node ${name} status is now: ${reason}`);
  }
}

/** Keeps extended resources set by other components in the capacity, and makes them allocatable. */
function withOthers(
  parts: Omit<NodeStatus, "conditions">,
  standing: NodeStatus["capacity"],
): Omit<NodeStatus, "conditions"> {
  const others = Object.fromEntries(
    Object.entries(standing ?? {}).filter(
      ([name]) => name.includes("/") && !(name in (parts.capacity ?? {})),
    ),
  );
  return {
    ...parts,
    capacity: { ...others, ...parts.capacity },
    allocatable: { ...others, ...parts.allocatable },
  };
}
