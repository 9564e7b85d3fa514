// Runs kubectl against a server, with a separate home directory so that its caches are not shared between
// servers. ORCH_TEST_KUBECTL is the path of the kubectl to run, for testing other releases.
import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";

/** Name or path of the program. */
export const kubectlProgram = process.env["ORCH_TEST_KUBECTL"] ?? "kubectl";

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** Standard input; read with `-f -`. */
  readonly input?: string;
  readonly timeoutSeconds?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs kubectl until it exits, whatever its exit code. */
export async function kubectl(
  kubeconfig: string,
  args: readonly string[],
  { input = "", timeoutSeconds = 120, env = {} }: KubectlOptions = {},
): Promise<KubectlResult> {
  const child = start(kubeconfig, args, env);
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutSeconds * 1000);
  const result = { stdout: "", stderr: "" };
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (result.stdout += text));
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (result.stderr += text));
  child.stdin!.on("error", () => undefined).end(input);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on("close", resolve).on("error", reject),
  );
  clearTimeout(timer);
  return { code, ...result };
}

/** A running kubectl that keeps printing, such as `get --watch`. */
export interface Following extends AsyncDisposable {
  /**
   * Resolves to the whole output once it contains the text; rejects when kubectl exits first or on timeout.
   */
  until(text: string, timeoutSeconds?: number): Promise<string>;
}

export function follow(kubeconfig: string, args: readonly string[]): Following {
  const child = start(kubeconfig, args, {});
  child.stdin!.end();
  let printed = "";
  let ended = false;
  let look = (): void => undefined;
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      look();
    });
  }
  const gone = new Promise<void>((resolve) => child.on("close", () => resolve()));
  void gone.then(() => {
    ended = true;
    look();
  });
  return {
    until: (text, timeoutSeconds = 60) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`"${text}" was not printed in time; so far:\n${printed}`)),
          timeoutSeconds * 1000,
        );
        look = () => {
          if (!printed.includes(text) && !ended) return;
          clearTimeout(timer);
          look = () => undefined;
          if (printed.includes(text)) resolve(printed);
          else reject(new Error(`it ended before it printed "${text}":\n${printed}`));
        };
        look();
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function start(
  kubeconfig: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(kubectlProgram, ["--kubeconfig", kubeconfig, ...args], {
    env: { ...process.env, HOME: dirname(kubeconfig), ...env },
    stdio: "pipe",
  });
}
