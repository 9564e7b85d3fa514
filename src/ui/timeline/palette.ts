// The colors of the canvas, read from the style sheet.
import type { Palette } from "./draw.ts";

/** Reads the colors; to be called again when the theme changes. */
export function paletteNow(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    normal: colour("--normal"),
    warning: colour("--warning"),
    change: colour("--change"),
    line: colour("--line"),
    surface: colour("--surface"),
    selected: colour("--accent-soft"),
  };
}
