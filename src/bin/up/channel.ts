// The IPC channel between a program and its supervisor. Programs started by hand have none.

/** Reports the phase of the start, or readiness, to the supervisor. */
export function notifySupervisor(message: { readonly phase: string } | { readonly ready: string }): void {
  if (process.connected) process.send?.(message, () => undefined);
}

export const notifyReady = (): void => notifySupervisor({ ready: "" });

const exit = (): never => process.exit(1);

/** Ends a program whose supervisor exits while it starts, as a signal would; later, it has a reason to stop. */
export function exitWithSupervisor(): void {
  if (process.send && !process.connected) exit();
  process.once("disconnect", exit);
  // The channel alone must not keep the process alive.
  process.channel?.unref();
}

/**
 * Resolves with the reason to stop: a signal, or the exit of the supervisor. The next signal ends the process
 * immediately.
 */
export async function reasonToStop(): Promise<string> {
  const reason = await new Promise<string>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
    process.once("disconnect", () => resolve("the supervisor has exited"));
    process.removeListener("disconnect", exit);
    process.channel?.unref();
  });
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.removeAllListeners(signal);
    process.once(signal, () => process.exit(1));
  }
  return reason;
}
