// Waiting that an abort signal can interrupt.

/** Resolves with the promise's result; rejects with the signal's reason if the signal aborts first. */
export async function abortable<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([awaited, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
