// Text is readable on its background in both themes, with the contrast ratio of WCAG 2.1.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");
const pairs: [text: string, behind: string, least: number][] = [
  ["text", "bg", 4.5],
  ["text-2", "bg", 4.5],
  ["text-3", "bg", 4.5],
  ["text-3", "surface-2", 4.5],
  ["accent", "surface", 4.5],
  ["accent", "accent-soft", 4.5],
  ["accent-text", "accent", 4.5],
  ["warning", "surface", 4.5],
  ["warning", "warning-soft", 4.5],
  ["change", "change-soft", 4.5],
  ["bad", "surface", 4.5],
  ["text", "added", 4.5],
  ["text", "removed", 4.5],
  // Marks are shapes, not text.
  ["normal", "surface", 3],
  ["change", "surface", 3],
];

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

for (const theme of ["light", "dark"]) {
  const block = css.slice(css.indexOf(`[data-theme="${theme}"] {`)).split("}")[0]!;
  const colours = new Map(
    [...block.matchAll(/--([\w-]+): (#\w{6});/g)].map(([, name, value]) => [name!, value!]),
  );
  for (const [text, behind, least] of pairs)
    test(`${text} is readable on ${behind} in the ${theme} theme`, () => {
      const [dark, light] = [text, behind].map((name) => luminance(colours.get(name)!)).sort((a, b) => a - b);
      const ratio = (light! + 0.05) / (dark! + 0.05);
      assert.ok(ratio >= least, `${ratio.toFixed(2)} to 1`);
    });
}
