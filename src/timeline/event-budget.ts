// Decides which events to delete so that the rest stays within the limits: the oldest first, and warnings
// only if no other events are left in their scope. An event that recurs counts as new again.
//
//   whole      Normal  n1 n2 n3 …          each namespace has its own pair of queues
//              Warning w1 w2 …

export type EventClass = "Normal" | "Warning";

export interface StoredEvent {
  readonly key: string;
  readonly namespace: string;
  readonly type: EventClass;
  readonly bytes: number;
  readonly revision: number;
}

/** A limit; 0 means unlimited. */
export interface Limit {
  readonly count: number;
  readonly bytes: number;
}

export interface EventLimits {
  readonly whole: Limit;
  readonly namespace: Limit;
  readonly types: Readonly<Record<EventClass, Limit>>;
}

export type LimitName = "whole" | "namespace" | "type";

export interface Evicted {
  readonly event: StoredEvent;
  /** The limit that was exceeded. */
  readonly limit: LimitName;
}

interface Queue {
  readonly events: Map<string, StoredEvent>;
  bytes: number;
}

type Scope = Readonly<Record<EventClass, Queue>>;

const newScope = (): Scope => ({
  Normal: { events: new Map(), bytes: 0 },
  Warning: { events: new Map(), bytes: 0 },
});

const isOver = ({ count, bytes }: Limit, ...queues: readonly Queue[]): boolean => {
  let events = 0;
  let size = 0;
  for (const queue of queues) {
    events += queue.events.size;
    size += queue.bytes;
  }
  return (count > 0 && events > count) || (bytes > 0 && size > bytes);
};

export class EventBudget {
  readonly #limits: EventLimits;
  readonly #events = new Map<string, StoredEvent>();
  readonly #namespaces = new Map<string, Scope>();
  #whole = newScope();
  /** Namespaces that received events since the last call of overflow. */
  readonly #grown = new Set<string>();

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#events.size;
  }

  get bytes(): number {
    return this.#whole.Normal.bytes + this.#whole.Warning.bytes;
  }

  /** Adds an event, or replaces it by its new state. */
  add(event: StoredEvent): void {
    this.remove(event.key);
    this.#events.set(event.key, event);
    for (const { [event.type]: queue } of this.#scopesOf(event)) {
      queue.events.set(event.key, event);
      queue.bytes += event.bytes;
    }
    this.#grown.add(event.namespace);
  }

  remove(key: string): void {
    const event = this.#events.get(key);
    if (!event) return;
    this.#events.delete(key);
    for (const { [event.type]: queue } of this.#scopesOf(event)) {
      queue.events.delete(key);
      queue.bytes -= event.bytes;
    }
    const own = this.#namespaces.get(event.namespace)!;
    if (own.Normal.events.size + own.Warning.events.size === 0) this.#namespaces.delete(event.namespace);
  }

  clear(): void {
    this.#events.clear();
    this.#namespaces.clear();
    this.#grown.clear();
    this.#whole = newScope();
  }

  /** Removes and yields the events that exceed the limits. */
  *overflow(): Generator<Evicted> {
    const { whole, namespace, types } = this.#limits;
    for (const name of this.#grown) {
      const scope = this.#namespaces.get(name);
      if (scope) yield* this.#shrink("namespace", namespace, scope.Normal, scope.Warning);
    }
    this.#grown.clear();
    for (const type of ["Normal", "Warning"] as const)
      yield* this.#shrink("type", types[type], this.#whole[type]);
    yield* this.#shrink("whole", whole, this.#whole.Normal, this.#whole.Warning);
  }

  /** Removes events from the first queue that is not empty. */
  *#shrink(limit: LimitName, most: Limit, ...queues: readonly Queue[]): Generator<Evicted> {
    while (isOver(most, ...queues)) {
      const [event] = queues.find(({ events }) => events.size > 0)!.events.values();
      this.remove(event!.key);
      yield { event: event!, limit };
    }
  }

  #scopesOf({ namespace }: StoredEvent): readonly Scope[] {
    return [this.#whole, this.#namespaces.getOrInsertComputed(namespace, newScope)];
  }
}
