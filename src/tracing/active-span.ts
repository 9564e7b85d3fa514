// The span of the running code, for callees that are not passed one: the calls to a store, below all caches.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "./span.ts";

export class ActiveSpan {
  readonly #storage = new AsyncLocalStorage<Span>();

  /** Undefined outside of sampled traces, and for work of a request that continues after its response. */
  get current(): Span | undefined {
    const span = this.#storage.getStore();
    return span && Number.isNaN(span.ended) ? span : undefined;
  }

  enter<T>(span: Span, run: () => T): T {
    return this.#storage.run(span, run);
  }
}
