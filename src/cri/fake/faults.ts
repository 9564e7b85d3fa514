// Trouble on order: calls of the fake runtime that fail, wait, find nobody there, or are carried out without
// an answer.
import { GrpcError } from "#http";
import type { ContainerRuntime } from "../runtime.ts";

export class Faults {
  readonly #failures = new Map<string, { error: Error; left: number }[]>();
  readonly #losses = new Map<string, number>();
  readonly #gates = new Map<string, Promise<void>>();
  #down = false;

  /** The next calls of a method fail with an error. */
  fail(method: string, error: Error, times = 1): void {
    const list = this.#failures.get(method) ?? [];
    list.push({ error, left: times });
    this.#failures.set(method, list);
  }

  /** Calls of a method fail no more. */
  heal(method: string): void {
    this.#failures.delete(method);
  }

  /** The next calls of a method that changes something are carried out, but their answers are lost. */
  lose(method: string, times = 1): void {
    this.#losses.set(method, times);
  }

  /** Calls of a method wait until the returned function is called. */
  hold(method: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(method, promise);
    return () => {
      if (this.#gates.get(method) === promise) this.#gates.delete(method);
      resolve();
    };
  }

  /** While down, every call fails as if nobody listened. */
  setDown(down: boolean): void {
    this.#down = down;
  }

  /** Passes, waits or throws, as was ordered for this method. */
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

  /** Whether the answer to this call gets lost. */
  isLost(method: string): boolean {
    const left = this.#losses.get(method) ?? 0;
    if (left > 0) this.#losses.set(method, left - 1);
    return left > 0;
  }
}

/** Those calls that change something, with answers that get lost as was ordered. */
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

/** Waits, but no longer than the caller does. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new GrpcError("CANCELLED", "the caller left", { cause: signal.reason }));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
