// Progress output while a cluster starts and runs: one line per event.
import { commandLineClient } from "#dialect";
import type { ProcessState } from "./supervisor.ts";

export interface StatusView {
  say(line: string): void;
  part(name: string, state: ProcessState): void;
}

const width = 12;

export function statusView(write: (text: string) => void): StatusView {
  let last = "";
  const line = (name: string, text: string): void => {
    const next = `  ${name.padEnd(width)} ${text}\n`;
    if (next !== last) write(next);
    last = next;
  };
  return {
    say: (text) => {
      last = "";
      write(`${text}\n`);
    },
    part: (name, state) => {
      switch (state.is) {
        case "starting":
          return line(name, state.phase === undefined ? "starting" : `starting: ${state.phase}`);
        case "ready":
          return line(
            name,
            `ready${state.url ? ` on ${state.url}` : ""} after ${(state.milliseconds / 1000).toFixed(1)} s`,
          );
        case "restarting":
          return line(
            name,
            `${state.why}; starting it again in ${(state.inMilliseconds / 1000).toFixed(1)} s`,
          );
        case "failed":
          line(name, state.why);
          return write(state.lastLines.map((text) => `    ${text}\n`).join(""));
        case "stopped":
          return line(name, "stopped");
      }
    },
  };
}

/** Returns the first command for the user to try. */
export const firstCommand = (config: string): string =>
  `${commandLineClient.program} ${commandLineClient.configFlag}=${quoted(config)} get namespaces`;

const quoted = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
