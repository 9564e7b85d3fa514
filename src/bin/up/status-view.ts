// Progress output while a cluster starts and runs: one line per event.
import { commandLineClient } from "#dialect";
import type { ProcessState } from "./supervisor.ts";

export interface StatusView {
  print(line: string): void;
  part(name: string, state: ProcessState): void;
}

const width = 12;

export function statusView(write: (text: string) => void): StatusView {
  let last = "";
  const printLine = (name: string, text: string): void => {
    const next = `  ${name.padEnd(width)} ${text}\n`;
    if (next !== last) write(next);
    last = next;
  };
  return {
    print: (text) => {
      last = "";
      write(`${text}\n`);
    },
    part: (name, state) => {
      switch (state.is) {
        case "starting":
          return printLine(name, state.phase === undefined ? "starting" : `starting: ${state.phase}`);
        case "ready":
          return printLine(
            name,
            `ready${state.url ? ` on ${state.url}` : ""} after ${(state.milliseconds / 1000).toFixed(1)} s`,
          );
        case "restarting":
          return printLine(name, `${state.why}; restarting in ${(state.inMilliseconds / 1000).toFixed(1)} s`);
        case "failed":
          printLine(name, state.why);
          return write(state.lastLines.map((text) => `    ${text}\n`).join(""));
        case "stopped":
          return printLine(name, "stopped");
      }
    },
  };
}

/** Returns the first command for the user to try. */
export const firstCommand = (config: string): string =>
  `${commandLineClient.program} ${commandLineClient.configFlag}=${quoted(config)} get namespaces`;

const quoted = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
