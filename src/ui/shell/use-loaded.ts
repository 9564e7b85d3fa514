// Loads data for a component. Reloads when its inputs change, periodically, and after a connection failure.
import { useEffect, useState } from "preact/hooks";
import { type CallError, isUnreachable } from "../api/client.ts";

const retryMilliseconds = 2000;

export type Loaded<T> =
  | { readonly is: "loading" }
  | { readonly is: "failed"; readonly error: CallError }
  | { readonly is: "ready"; readonly value: T };

export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  everyMilliseconds?: number,
): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ is: "loading" });
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoaded({ is: "loading" });
    const run = async (): Promise<void> => {
      let wait = everyMilliseconds;
      try {
        const value = await load(ending.signal);
        if (!ending.signal.aborted) setLoaded({ is: "ready", value });
      } catch (error) {
        if (!ending.signal.aborted) setLoaded({ is: "failed", error: error as CallError });
        if (isUnreachable(error)) wait ??= retryMilliseconds;
      }
      if (wait !== undefined && !ending.signal.aborted) timer = setTimeout(() => void run(), wait);
    };
    void run();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, inputs);
  return loaded;
}
