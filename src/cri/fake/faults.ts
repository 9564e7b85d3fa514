// Fault injection: calls of the fake runtime that fail, block, are refused, or are executed but lose their
// response.
import { GrpcError } from "#http";
import type { ContainerRuntime } from "../runtime.ts";

export class Faults {
  readonly #failures = new Map<string, { error: Error; left: number }[]>();
  readonly #losses = new Map<string, number>();
  readonly #gates = new Map<string, Promise<void>>();
  #down = false;

  /** Makes the next calls of a method fail with an error. */
  fail(method: string, error: Error, times = 1): void {
    const list = this.#failures.get(method) ?? [];
    list.push({ error, left: times });
    this.#failures.set(method, list);
  }

  /** Stops calls of a method from failing. */
  heal(method: string): void {
    this.#failures.delete(method);
  }

  /** Makes the next calls of a mutating method succeed but lose their responses. */
  lose(method: string, times = 1): void {
    this.#losses.set(method, times);
  }

  /** Blocks calls of a method until the returned function is called. */
  hold(method: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(method, promise);
    return () => {
      if (this.#gates.get(method) === promise) this.#gates.delete(method);
      resolve();
    };
  }

  /** Sets whether every call fails with connection refused. */
  setDown(down: boolean): void {
    this.#down = down;
  }

  /** Passes, blocks or throws, as configured for this method. */
  async pass(method: string, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new GrpcError("CANCELLED", "the caller left", { cause: signal.reason });
    const gate = this.#gates.get(method);
    if (gate) await orAborted(gate, signal);
    if (this.#down)
      throw new GrpcError("UNAVAILABLE", "cannot connect to the runtime: connection refused", {
        unprocessed: true,
      });
    const [next] = this.#failures.get(method) ?? [];
    if (!next) return;
    if (--next.left <= 0) this.#failures.get(method)!.shift();
    throw next.error;
  }

  /** Reports whether the response to this call is lost. */
  isLost(method: string): boolean {
    const left = this.#losses.get(method) ?? 0;
    if (left > 0) this.#losses.set(method, left - 1);
    return left > 0;
  }
}

/** Wraps the mutating calls so that their responses can be lost. */
export function losing<T extends ContainerRuntime>(runtime: T, isLost: (method: string) => boolean): T {
  const losable =
    <A extends unknown[], R>(method: string, act: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const answer = await act(...given);
      if (isLost(method)) throw new GrpcError("UNAVAILABLE", "the connection to the runtime was lost");
      return answer;
    };
  return Object.assign(runtime, {
    runPodSandbox: losable("RunPodSandbox", runtime.runPodSandbox),
    stopPodSandbox: losable("StopPodSandbox", runtime.stopPodSandbox),
    removePodSandbox: losable("RemovePodSandbox", runtime.removePodSandbox),
    createContainer: losable("CreateContainer", runtime.createContainer),
    startContainer: losable("StartContainer", runtime.startContainer),
    stopContainer: losable("StopContainer", runtime.stopContainer),
    removeContainer: losable("RemoveContainer", runtime.removeContainer),
  });
}

/** Waits for the promise until the signal is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new GrpcError("CANCELLED", "the caller left", { cause: signal.reason }));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
