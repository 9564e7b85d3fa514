// Runs a credential provider program: request on stdin, response on stdout, with a timeout of one minute.
import { spawn } from "node:child_process";
import { killGroup } from "../process-group.ts";

export interface ProviderProgram {
  readonly path: string;
  readonly args: readonly string[];
  /** Added to the agent's environment; the last of several entries with the same name wins. */
  readonly environment: readonly { readonly name: string; readonly value: string }[];
}

const timeoutMilliseconds = 60_000;
const maxOutputBytes = 1 << 20;

/**
 * Returns the program's output. Rejects if it fails, writes too much or takes too long; the error does not
 * contain the output.
 */
export function runProvider(program: ProviderProgram, input: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(program.path, program.args, {
      env: environmentOf(program),
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]);
    const stop = (why: Error): void => {
      over.removeEventListener("abort", stopped);
      killGroup(child);
      child.stdout.destroy();
      reject(why);
    };
    const stopped = (): void => stop(over.reason as Error);
    over.addEventListener("abort", stopped, { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes)
        stop(new Error(`credential provider failed: its output is larger than ${maxOutputBytes} bytes`));
      else chunks.push(chunk);
    });
    child.stdin.on("error", () => undefined);
    child.on("error", stop);
    child.on("close", (code, killedBy) => {
      over.removeEventListener("abort", stopped);
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(new Error(`credential provider failed: ${killedBy ?? `exit status ${code}`}`));
    });
    child.stdin.end(input);
  });
}

/** Adds variables in order; a repeated name replaces the earlier entry and moves to the end. */
function environmentOf({ environment }: ProviderProgram): NodeJS.ProcessEnv {
  const all = { ...process.env };
  for (const { name, value } of environment) {
    delete all[name];
    all[name] = value;
  }
  return all;
}
