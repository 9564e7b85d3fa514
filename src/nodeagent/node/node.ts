// The life cycle of the Node object: registers the node, again after it has been deleted, computes its status
// periodically and writes it when it changes.
import { Node, type NodeStatus } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import { type AnyObject, type ApiClient, type Informer, type ResourceKind, informer } from "#client";
import type { EventRecorder, NodeFacts } from "../interfaces.ts";
import { isExtendedResource } from "./admission.ts";
import { type NodeHealth, nextConditions } from "./conditions.ts";
import {
  type NodeIdentity,
  type NodeStatusFacts,
  freshNode,
  nodeAnnotations,
  platformLabels,
  reconciledLabels,
  statusParts,
  statusPatch,
} from "./node-object.ts";

export interface NodeLifecycleOptions {
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
  /** Reports whether this agent has not run on the node before, so that recorded extended resources are obsolete. */
  readonly isNew?: () => Promise<boolean>;
  /** Observes the machine. */
  readonly observe: () => Promise<{ readonly facts: NodeStatusFacts; readonly health: NodeHealth }>;
}

export type KnownNode = Node & AnyObject;

export interface NodeLifecycle extends NodeFacts {
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
  triggerStatusUpdate(): void;
  stop(): void;
}

const nodes: ResourceKind<typeof Node> = { schema: Node, plural: "nodes", namespaced: false };
const maxRegistrationWait = 7000;
const triesPerUpdate = 5;

export function nodeLifecycle(options: NodeLifecycleOptions): NodeLifecycle {
  const { client, clock, log, events, identity } = options;
  const { name } = identity;
  const reference = { kind: "Node", name, uid: name };
  const stopping = new AbortController();
  const registered = Promise.withResolvers<void>();
  let last: { facts: NodeStatusFacts; health: NodeHealth } | undefined;
  let current: KnownNode | undefined;
  let follower: Informer<KnownNode> | undefined;
  let recorded: NodeStatus["allocatable"];
  let reportedAt = -Infinity;
  let isCordoned = false;
  let wake: () => void = () => undefined;

  const facts = (): NodeStatusFacts => {
    if (!last) throw new Error("the node has not been observed yet");
    return last.facts;
  };
  const node = (): Pick<Node, "metadata" | "spec" | "status"> => current ?? freshNode(identity, facts());
  return {
    name,
    registered: registered.promise,
    hostIps: () => last?.facts.addresses ?? [],
    allocatable: () => last?.facts.allocatable ?? {},
    labels: () => node().metadata.labels ?? {},
    capacity: () => last?.facts.capacity ?? {},
    recordedAllocatable: () =>
      recorded && Object.keys(recorded).length > 0 ? recorded : (last?.facts.allocatable ?? {}),
    node,
    uid: () => current?.metadata.uid,
    triggerStatusUpdate: () => wake(),
    stop: () => stopping.abort(new Error("stopped")),
    start: async () => {
      last = await options.observe();
      events.event(reference, "Normal", "Starting", `Starting ${identity.dialect.cli.agent}.`);
      if (client) void run(client);
    },
  };

  async function run(api: ApiClient): Promise<void> {
    await ensureRegistered(api);
    follower = informer<KnownNode>({
      client: api.of(nodes),
      scope: { fieldSelector: `metadata.name=${name}` },
      clock,
      signal: stopping.signal,
      onEvent: (event) => {
        if (event.type === "deleted") {
          log.warn("node was deleted from the cluster", { node: name });
          current = undefined;
          wake();
        } else {
          if (current?.metadata.uid !== event.object.metadata.uid) reportedAt = -Infinity;
          current = event.object;
          recordCordon(event.object.spec?.unschedulable ?? false);
          registered.resolve();
        }
      },
      onError: (error) => log.verbose(2, "failed to watch node", { error: error.message }),
    });
    await Promise.race([follower.synced, waitForUpdate(options.updateMilliseconds)]);
    while (!stopping.signal.aborted) {
      try {
        await update(api);
      } catch (error) {
        log.error("failed to update node status", { node: name, error: (error as Error).message });
      }
      await waitForUpdate(options.updateMilliseconds * (1 + 0.04 * Math.random()));
    }
  }

  /** Waits, or returns early when a status update is triggered. */
  async function waitForUpdate(milliseconds: number): Promise<void> {
    const early = new AbortController();
    wake = () => early.abort();
    await clock.sleep(milliseconds, AbortSignal.any([stopping.signal, early.signal])).catch(() => undefined);
  }

  /** Ensures that the node object exists, with its labels and annotations. */
  async function ensureRegistered(api: ApiClient): Promise<void> {
    for (let wait = 200; !stopping.signal.aborted; wait = Math.min(maxRegistrationWait, wait * 2)) {
      try {
        current = await registration(api);
        if (current) {
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
      recordChanges(change.events);
      return made;
    }
    const isFirst = recorded === undefined;
    recorded ??= found.status?.allocatable ?? {};
    if (!options.register) return found;
    let known = await updateLabels(api, found);
    if (isFirst && (await options.isNew?.())) known = await resetExtendedResources(api, known);
    // A starting agent records events for the current conditions, even if they are unchanged.
    if (last) recordChanges(nextConditions([], last.health, clock.now(), identity.dialect).events);
    return known;
  }

  /** Updates labels and annotations of an existing node. */
  async function updateLabels(api: ApiClient, found: KnownNode): Promise<KnownNode> {
    const labels = Object.entries(reconciledLabels(identity, facts())).filter(
      ([key, value]) => (found.metadata.labels?.[key] ?? null) !== value,
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

  /**
   * Sets all extended resources to 0, as the kubelet does: their devices must be found again before pods may use
   * them.
   */
  async function resetExtendedResources(api: ApiClient, found: KnownNode): Promise<KnownNode> {
    const names = Object.keys(found.status?.capacity ?? {}).filter((key) =>
      isExtendedResource(key, identity.dialect),
    );
    if (names.length === 0) return found;
    const none = Object.fromEntries(names.map((key) => [key, "0"]));
    log.info("reset extended resources of a node that has no checkpoint of them", { node: name, names });
    const status = { capacity: none, allocatable: none };
    return await api.of(nodes).patch(name, "strategic", { status }, { subresource: "status" });
  }

  async function update(api: ApiClient): Promise<void> {
    last = await options.observe();
    if (!current) await ensureRegistered(api);
    for (let tries = 1; ; tries++) {
      if (!current || stopping.signal.aborted) return;
      const { conditions, events: changes } = nextConditions(
        current.status?.conditions ?? [],
        last.health,
        clock.now(),
        identity.dialect,
      );
      const wanted: Partial<NodeStatus> = {
        ...withForeignResources(statusParts(identity, last.facts), current.status?.capacity),
        conditions: [...conditions],
      };
      if (identity.externalCloud && (current.status?.addresses?.length ?? 0) > 0) delete wanted.addresses;
      const patch = statusPatch(current.status ?? {}, wanted);
      const labels = platformLabels(identity, last.facts);
      const isMislabelled = Object.entries(labels).some(
        ([key, value]) => current?.metadata.labels?.[key] !== value,
      );
      if (!patch && !isMislabelled && clock.monotonic() - reportedAt < options.reportMilliseconds) return;
      const bootBefore = current.status?.nodeInfo?.bootID;
      try {
        current = await api
          .of(nodes)
          .patch(
            name,
            "strategic",
            { ...(isMislabelled && { metadata: { labels } }), status: { ...patch, conditions } },
            { subresource: "status" },
          );
        reportedAt = clock.monotonic();
        const { bootId } = last.facts.machine;
        if (bootBefore && bootBefore !== bootId)
          events.event(
            reference,
            "Warning",
            "Rebooted",
            `Node ${name} has been rebooted, boot id: ${bootId}`,
          );
        recordChanges(changes);
        return;
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) {
          current = undefined;
          await ensureRegistered(api);
        } else if (tries >= triesPerUpdate) throw error;
      }
    }
  }

  function recordCordon(now: boolean): void {
    if (now !== isCordoned) recordChanges([now ? "NodeNotSchedulable" : "NodeSchedulable"]);
    isCordoned = now;
  }

  function recordChanges(reasons: readonly string[]): void {
    for (const reason of reasons)
      events.event(reference, "Normal", reason, `Node ${name} status is now: ${reason}`);
  }
}

/** Keeps extended resources set by other components in the capacity, and makes them allocatable. */
function withForeignResources(
  parts: Omit<NodeStatus, "conditions">,
  currentCapacity: NodeStatus["capacity"],
): Omit<NodeStatus, "conditions"> {
  const others = Object.fromEntries(
    Object.entries(currentCapacity ?? {}).filter(
      ([name]) => name.includes("/") && !(name in (parts.capacity ?? {})),
    ),
  );
  return {
    ...parts,
    capacity: { ...others, ...parts.capacity },
    allocatable: { ...others, ...parts.allocatable },
  };
}
