// Distributes the fake runtime's events to all listeners. A listener that does not keep up is cut off.
import { GrpcError } from "#http";
import type { ContainerEventResponse } from "../messages/runtime.ts";

const maxQueuedEvents = 1000;

export class Events {
  readonly #listeners = new Set<{ queue: ContainerEventResponse[]; wake: () => void; failure?: Error }>();

  emit(event: ContainerEventResponse): void {
    for (const listener of this.#listeners) {
      if (listener.queue.length >= maxQueuedEvents)
        listener.failure = new GrpcError("RESOURCE_EXHAUSTED", "the listener is too slow");
      else listener.queue.push(event);
      listener.wake();
    }
  }

  /** Ends every listener with an error, as a restart of the runtime does. */
  cut(error: Error): void {
    for (const listener of this.#listeners) {
      listener.failure = error;
      listener.wake();
    }
  }

  async *listen(signal: AbortSignal): AsyncGenerator<ContainerEventResponse> {
    const listener: { queue: ContainerEventResponse[]; wake: () => void; failure?: Error } = {
      queue: [],
      wake: () => {},
    };
    const abort = (): void => listener.wake();
    signal.addEventListener("abort", abort, { once: true });
    this.#listeners.add(listener);
    try {
      for (;;) {
        if (signal.aborted) throw new GrpcError("CANCELLED", "the caller left", { cause: signal.reason });
        const next = listener.queue.shift();
        if (next) yield next;
        else if (listener.failure) throw listener.failure;
        else await new Promise<void>((resolve) => (listener.wake = resolve));
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#listeners.delete(listener);
    }
  }
}
