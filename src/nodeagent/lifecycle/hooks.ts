// Runs the lifecycle hooks of containers: postStart and preStop.
import type { Container, LifecycleHandler, Pod } from "#api";
import { type Clock, hostAndPort, urlProblem } from "#base";
import type { ContainerRuntime } from "#cri";
import { grpcErrorText, errorText } from "../errors.ts";
import { longNameOf } from "../pod.ts";
import { type HttpGet, PlainHttpResponse, authorityOf, headersOf } from "../probes/http-get.ts";
import { portNumber } from "../probes/run-probe.ts";
import { getFollowingRedirects } from "../probes/redirects.ts";

export interface HookTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
}

export interface Hooks {
  /** Runs the hook to completion; rejects if it fails. */
  run(handler: LifecycleHandler, target: HookTarget, signal: AbortSignal): Promise<void>;
}

type HttpAction = NonNullable<LifecycleHandler["httpGet"]>;

const requestTimeoutMilliseconds = 10 * 60_000;

export interface HooksOptions {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly userAgent: string;
  /**
   * Sends HTTP hooks like before 1.26 (ConsistentHTTPGetHandlers disabled): without TLS and custom headers.
   */
  readonly legacyHttp?: boolean;
  /** Called when an HTTPS hook was retried over plain HTTP because its server does not speak TLS. */
  readonly onFallback?: (pod: Pod, host: string) => void;
}

export function hooks({ clock, runtime, userAgent, legacyHttp, onFallback }: HooksOptions): Hooks {
  return {
    run: async (handler, target, signal) => {
      const { pod, container } = target;
      const where = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(longNameOf(pod))} failed - error:`;
      if (handler.sleep) await clock.sleep(Number(handler.sleep.seconds) * 1000, signal);
      else if (handler.exec) await byCommand(handler.exec.command ?? [], where, target, signal);
      else if (handler.httpGet) {
        try {
          if (legacyHttp) await byLegacyHttp(handler.httpGet, target, signal);
          else await byHttp(handler.httpGet, target, signal);
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
    const failed = (why: string, output: string): Error =>
      new Error(
        `Exec lifecycle hook ([${command.join(" ")}]) ${where} ${why}, message: ${JSON.stringify(output)}`,
      );
    let result;
    try {
      result = await runtime.execSync(containerId, command, 0, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failed(grpcErrorText(error), "");
    }
    const [stdout, stderr] = [textOf(result.stdout), textOf(result.stderr)];
    if (result.exitCode !== 0)
      throw failed(
        `command '${command.join(" ")}' exited with ${result.exitCode}: ${stderr}`,
        stdout + stderr,
      );
  }

  async function byHttp(
    action: HttpAction,
    { pod, container, podIp }: HookTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const { path, port, host, scheme, httpHeaders } = action;
    const get: HttpGet = {
      scheme: scheme === "HTTPS" ? "https" : "http",
      host: host || podIp,
      port: portNumber(port ?? 0, container),
      path: path || "/",
      headers: headersOf(httpHeaders, userAgent),
    };
    const options = { timeoutMilliseconds: requestTimeoutMilliseconds, signal };
    try {
      await getFollowingRedirects(get, options);
    } catch (error) {
      if (!(error instanceof PlainHttpResponse)) throw error;
      // For years hooks were sent without TLS, whatever their scheme. Credentials are not sent over plain
      // HTTP.
      await getFollowingRedirects(
        { ...get, scheme: "http", headers: withoutCredentials(get.headers) },
        options,
      );
      onFallback?.(pod, authorityOf(get));
    }
  }
}

/** Sends a hook like before 1.26. The path is always appended after a slash, even if it begins with one. */
async function byLegacyHttp(
  { path = "", port, host }: HttpAction,
  { container, podIp }: HookTarget,
  signal: AbortSignal,
): Promise<void> {
  const at = { host: host || podIp, port: port === "" ? 80 : legacyPort(port ?? 0, container) };
  const url = `http://${hostAndPort(at.host, at.port)}/${path}`;
  const problem = urlProblem(url);
  if (problem !== undefined) throw new Error(problem);
  await getFollowingRedirects(
    { ...at, scheme: "http", path: url, headers: legacyHeaders },
    { timeoutMilliseconds: requestTimeoutMilliseconds, signal, anyHost: true },
  );
}

/** The default headers of Go's HTTP client. */
const legacyHeaders: HttpGet["headers"] = [
  ["User-Agent", "Go-http-client/1.1"],
  ["Accept-Encoding", "gzip"],
  ["Connection", "close"],
];

function legacyPort(port: number | string, { name, ports }: Container): number {
  if (typeof port === "number") return port;
  if (/^[+-]?\d+$/.test(port)) return Number(port);
  const found = ports?.find((one) => one.name === port)?.containerPort;
  if (found === undefined) throw new Error(`couldn't find port: ${port} in ${name}`);
  return found;
}

const maxOutputBytes = 1024;
const textOf = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? [])
    .subarray(0, maxOutputBytes)
    .toString();

const withoutCredentials = (headers: HttpGet["headers"]): HttpGet["headers"] =>
  headers.filter(([name]) => name.toLowerCase() !== "authorization");

/** Formats a handler of an unsupported kind like Go. */
function handlerText({ tcpSocket }: LifecycleHandler): string {
  const { port, host = "" } = tcpSocket ?? {};
  const portText = typeof port === "string" ? `{1 0 ${port}}` : `{0 ${port ?? 0} }`;
  const socket = tcpSocket ? `&TCPSocketAction{Port:${portText},Host:${host},}` : "nil";
  return `&LifecycleHandler{Exec:nil,HTTPGet:nil,TCPSocket:${socket},}`;
}
