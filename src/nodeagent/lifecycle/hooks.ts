// What a container wants done right after its start and before its end.
import type { Container, LifecycleHandler, Pod } from "#api";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import { grpcErrorText, errorText } from "../errors.ts";
import { longNameOf } from "../pod.ts";
import { type HttpGet, PlainAnswer, headersOf, httpGet, urlOf } from "../probes/http-get.ts";
import { portNumber } from "../probes/ask.ts";

export interface HookTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
}

export interface Hooks {
  /** Runs the hook to its end; rejects when it fails. */
  run(handler: LifecycleHandler, target: HookTarget, signal: AbortSignal): Promise<void>;
}

const longestRequestMilliseconds = 10 * 60_000;

export interface HooksOptions {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly userAgent: string;
  /** Told when a server that was to speak TLS did not, and was asked without. */
  readonly onFallback?: (pod: Pod, host: string) => void;
}

export function hooks({ clock, runtime, userAgent, onFallback }: HooksOptions): Hooks {
  return {
    run: async (handler, target, signal) => {
      const { pod, container } = target;
      const where = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(longNameOf(pod))} failed - error:`;
      if (handler.sleep) await clock.sleep(Number(handler.sleep.seconds) * 1000, signal);
      else if (handler.exec) await byCommand(handler.exec.command ?? [], where, target, signal);
      else if (handler.httpGet) {
        try {
          await byHttp(handler.httpGet, target, signal);
        } catch (error) {
          signal.throwIfAborted();
          throw new Error(
            `HTTP lifecycle hook (${handler.httpGet.path ?? ""}) ${where} ${errorText(error)}`,
            {
              cause: error,
            },
          );
        }
      } else throw new Error(`Cannot run handler: invalid handler: ${handlerText(handler)}`);
    },
  };

  async function byCommand(
    command: readonly string[],
    where: string,
    { containerId }: HookTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const failed = (why: string, said: string): Error =>
      new Error(
        `Exec lifecycle hook ([${command.join(" ")}]) ${where} ${why}, message: ${JSON.stringify(said)}`,
      );
    let answer;
    try {
      answer = await runtime.execSync(containerId, command, 0, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failed(grpcErrorText(error), "");
    }
    const [stdout, stderr] = [textOf(answer.stdout), textOf(answer.stderr)];
    if (answer.exitCode !== 0)
      throw failed(
        `command '${command.join(" ")}' exited with ${answer.exitCode}: ${stderr}`,
        stdout + stderr,
      );
  }

  async function byHttp(
    action: NonNullable<LifecycleHandler["httpGet"]>,
    { pod, container, podIp }: HookTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const { path, port, host, scheme, httpHeaders } = action;
    const get: HttpGet = {
      scheme: scheme === "HTTPS" ? "https" : "http",
      host: host || podIp,
      port: port === undefined || port === null || port === "" ? 80 : portNumber(port, container),
      path: path || "/",
      headers: headersOf(httpHeaders, userAgent),
    };
    try {
      await httpGet(get, longestRequestMilliseconds, signal);
    } catch (error) {
      if (!(error instanceof PlainAnswer)) throw error;
      // Hooks were asked for without TLS for years, whatever they said. What was meant for TLS alone stays
      // behind.
      await httpGet(
        { ...get, scheme: "http", headers: withoutCredentials(get.headers) },
        longestRequestMilliseconds,
        signal,
      );
      onFallback?.(pod, new URL(urlOf(get)).host);
    }
  }
}

const mostSaid = 1024;
const textOf = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? [])
    .subarray(0, mostSaid)
    .toString();

const withoutCredentials = (headers: HttpGet["headers"]): HttpGet["headers"] =>
  headers.filter(([name]) => name.toLowerCase() !== "authorization");

/** A handler that nobody can run, as Go prints it. */
function handlerText({ tcpSocket }: LifecycleHandler): string {
  const { port, host = "" } = tcpSocket ?? {};
  const portText = typeof port === "string" ? `{1 0 ${port}}` : `{0 ${port ?? 0} }`;
  const socket = tcpSocket ? `&TCPSocketAction{Port:${portText},Host:${host},}` : "nil";
  return `&LifecycleHandler{Exec:nil,HTTPGet:nil,TCPSocket:${socket},}`;
}
