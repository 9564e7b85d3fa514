// The channel between a program and the supervisor that started it. Programs that were started by hand have
// none.

/** Tells the supervisor how far the start is, or that the program is ready. */
export function tellSupervisor(message: { readonly phase: string } | { readonly ready: string }): void {
  if (process.connected) process.send?.(message, () => undefined);
}

export const tellReady = (): void => tellSupervisor({ ready: "" });

/**
 * Resolves to the reason to stop: a signal, or the end of the supervisor. The first signal after that ends
 * the process at once.
 */
export async function reasonToStop(): Promise<string> {
  const reason = await new Promise<string>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
    process.once("disconnect", () => resolve("the supervisor is gone"));
    // The channel alone is no reason to go on.
    process.channel?.unref();
  });
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.removeAllListeners(signal);
    process.once(signal, () => process.exit(1));
  }
  return reason;
}
