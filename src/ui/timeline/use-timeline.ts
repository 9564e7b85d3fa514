// The timeline loader as a hook. Rapid changes of the range are debounced.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useShell } from "../shell/context.ts";
import { type Loader, type TimelineState, timelineLoader } from "./loader.ts";
import type { TimelineRequest } from "./request.ts";
import { sleep } from "./sleep.ts";

const debounceMilliseconds = 160;

export function useTimeline(request: TimelineRequest): TimelineState {
  const { client, now } = useShell();
  const [state, setState] = useState<TimelineState>({
    data: undefined,
    loading: true,
    error: undefined,
    following: false,
  });
  const loader = useRef<Loader | undefined>(undefined);
  useLayoutEffect(() => {
    const made = timelineLoader({ client, onChange: setState, now, sleep });
    loader.current = made;
    return () => made.stop();
  }, [client]);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const show = (): void => loader.current?.show(request);
    // The first view is requested before the first paint.
    if (isFirst.current) show();
    const timer = isFirst.current ? undefined : setTimeout(show, debounceMilliseconds);
    isFirst.current = false;
    return () => clearTimeout(timer);
  }, [client, request]);
  return state;
}
