// Runs something for at most so long; what takes longer is aborted and rejects.
import type { Clock } from "#base";

export async function withTimeout<T>(
  clock: Clock,
  milliseconds: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const cancel = clock.after(milliseconds, () =>
    late.abort(new Error(`no answer within ${milliseconds} ms`)),
  );
  try {
    return await Promise.race([
      run(late.signal),
      new Promise<never>((_, reject) =>
        late.signal.addEventListener("abort", () => reject(late.signal.reason as Error), { once: true }),
      ),
    ]);
  } finally {
    cancel();
  }
}
