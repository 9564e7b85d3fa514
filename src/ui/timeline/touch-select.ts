// Selects a range of the chart by touch, since the chart library only supports the mouse.
import type uPlot from "uplot";

/** Adds touch handlers, which are removed with the chart's element. */
export function selectByTouch(plot: uPlot): void {
  const { over } = plot;
  let start: number | undefined;
  const selectTo = (x: number, isDone: boolean): void => {
    const [from, to] = [start!, Math.max(0, Math.min(x, over.clientWidth))].sort((a, b) => a - b);
    plot.setSelect({ left: from!, top: 0, width: to! - from!, height: over.clientHeight }, isDone);
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    start = event.offsetX;
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => start !== undefined && selectTo(event.offsetX, false));
  over.addEventListener("pointerup", (event) => {
    if (start === undefined) return;
    selectTo(event.offsetX, true);
    start = undefined;
  });
  // The browser has taken over the touch for scrolling.
  over.addEventListener("pointercancel", () => {
    if (start !== undefined) selectTo(start, false);
    start = undefined;
  });
}
