// Help text: sections of flags, wrapped to the terminal.

import type { AnyOption, OptionSet } from "./option.ts";

export interface HelpOptions {
  /** Columns of the terminal. */
  readonly width?: number;
}

const indent = 12;

/** The width to wrap at: COLUMNS, else the terminal's, else 80. */
export function terminalWidth(
  environment: Readonly<Record<string, string | undefined>>,
  columns?: number,
): number {
  const requested = Number(environment["COLUMNS"]);
  return Math.max(40, Number.isInteger(requested) && requested > 0 ? requested : (columns ?? 80));
}

export function helpText(set: OptionSet, { width = 80 }: HelpOptions = {}): string {
  const lines = [...wrap(set.summary, width, 0), "", "Usage:", `  ${set.program} [flags]`];
  for (const { title, options } of set.sections) {
    const shown = options.filter((option) => option.flag !== undefined && !option.unlisted);
    if (shown.length === 0) continue;
    lines.push("", `${title}:`, "");
    for (const option of shown) lines.push(...flagLines(set, option, width));
  }
  lines.push(...unlistedLines(set, width));
  return `${lines.join("\n")}\n`;
}

/** Lists the names of unlisted flags: those without effect, and those that are rejected. */
function unlistedLines(set: OptionSet, width: number): string[] {
  const unlisted = set.sections.flatMap(({ options }) =>
    options.filter((each) => each.flag !== undefined && each.unlisted),
  );
  const named = (title: string, which: readonly AnyOption[]): string[] =>
    which.length === 0 ? [] : ["", title, "", ...wrap(which.map(({ flag }) => flag).join(", "), width, 4)];
  return [
    ...named(
      "Known, and of no effect:",
      unlisted.filter(({ idle }) => idle !== undefined),
    ),
    ...named(
      "Known, but refused until what is behind them is built:",
      unlisted.filter(({ idle }) => idle === undefined),
    ),
  ];
}

function flagLines(set: OptionSet, option: AnyOption, width: number): string[] {
  const head = `  ${option.short ? `-${option.short}, ` : "    "}--${option.flag}${option.type.name && ` ${option.type.name}`}`;
  return [head, ...wrap(description(set, option), width, indent)];
}

/** The description of an option in the help text and on the reference page. */
export function description(set: OptionSet, option: AnyOption): string {
  const parts = [option.doc];
  const alias = option.flag && set.dialect.spelling.flag(option.flag);
  if (alias && alias !== option.flag) parts.push(`Also spelled --${alias}.`);
  if (option.unavailable !== undefined) parts.push(`Not available: ${option.unavailable}.`);
  if (option.idle !== undefined) parts.push(`Has no effect: ${option.idle}.`);
  if (option.deprecated !== undefined) parts.push(`DEPRECATED: ${option.deprecated}.`);
  const shown = defaultText(option);
  if (shown !== "") parts.push(`(default ${shown})`);
  return parts.join(" ");
}

/** Returns the default of the flag, or an empty string for the type's zero value. */
export function defaultText(option: AnyOption): string {
  if (option.defaultText !== undefined) return option.defaultText;
  const text = option.type.format(option.legacyDefault ?? option.default);
  if (["", "0", "0s", "false"].includes(text)) return "";
  return option.type.name === "string" && /[\s()[\]]/.test(text) ? JSON.stringify(text) : text;
}

export function wrap(text: string, width: number, margin: number): string[] {
  const room = Math.max(width - margin, 20);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
    while (line.length > room) {
      const cut = Math.max(line.lastIndexOf(",", room - 1) + 1, 0) || room;
      lines.push(line.slice(0, cut));
      line = line.slice(cut);
    }
  }
  if (line !== "") lines.push(line);
  return lines.map((part) => " ".repeat(margin) + part);
}
