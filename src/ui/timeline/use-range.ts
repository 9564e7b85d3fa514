// Changes of the range by wheel and drag, applied at most once per animation frame.
import { useCallback, useRef } from "preact/hooks";
import { useShell } from "../shell/context.ts";
import type { Range } from "../view/range.ts";

export type ChangeRange = (change: (range: Range) => Range) => void;

export function useRange(): ChangeRange {
  const { view, go } = useShell();
  const latest = useRef(view.range);
  const frame = useRef(0);
  if (frame.current === 0) latest.current = view.range;
  return useCallback(
    (change) => {
      latest.current = change(latest.current);
      frame.current ||= requestAnimationFrame(() => {
        frame.current = 0;
        go({ range: latest.current }, "replace");
      });
    },
    [go],
  );
}
