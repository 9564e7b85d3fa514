// The mouse wheel on the timeline: with Ctrl it zooms around the pointer, sideways or with Shift it moves the
// range.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useShell } from "../shell/context.ts";
import { pan, zoom } from "../view/range.ts";
import type { ChangeRange } from "./use-range.ts";

export interface WheelOptions {
  /** The time under the pointer. */
  readonly timeAt: (event: WheelEvent) => number;
  /** The width of the whole range in pixels. */
  readonly width: number;
  readonly changeRange: ChangeRange;
}

export function useWheel(holder: RefObject<HTMLElement | null>, options: WheelOptions): void {
  const { now } = useShell();
  const latest = useRef(options);
  latest.current = options;
  // Registered directly as non-passive: a handler of the framework could not prevent the browser from zooming
  // the page.
  useEffect(() => {
    const element = holder.current!;
    const turned = (event: WheelEvent): void => {
      const { timeAt, width, changeRange } = latest.current;
      if (event.ctrlKey || event.metaKey) {
        const around = timeAt(event);
        changeRange((range) => zoom(range, Math.exp(event.deltaY / 300), now(), around));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey)
        changeRange((range) => pan(range, (event.deltaX || event.deltaY) / width, now()));
      else return;
      event.preventDefault();
    };
    element.addEventListener("wheel", turned, { passive: false });
    return () => element.removeEventListener("wheel", turned);
  }, [now]);
}
