// Executes a single probe of a container.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Container, Probe } from "#api";
import { hostAndPort, systemClock } from "#base";
import { type ContainerRuntime, ExecTimeout } from "#cri";
import { type GrpcMethod, GrpcError, grpcChannel } from "#http";
import { grpcErrorText } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { type HttpGet, type HttpResponse, headersOf } from "./http-get.ts";
import { getFollowingRedirects } from "./redirects.ts";

/** The result of a probe. If the probe could not be executed at all, an error is thrown instead. */
export interface ProbeResult {
  readonly result: "success" | "warning" | "failure";
  readonly output: string;
}

export interface RunProbeOptions {
  readonly runtime: ContainerRuntime;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
  readonly userAgent: string;
  /** A command that times out yields no result instead of a failure (ExecProbeTimeout is off). */
  readonly ignoresLateCommands?: boolean | undefined;
  readonly signal: AbortSignal;
}

const success = (output = ""): ProbeResult => ({ result: "success", output });
const failure = (output: string): ProbeResult => ({ result: "failure", output });

export async function runProbe(probe: Probe, options: RunProbeOptions): Promise<ProbeResult> {
  const seconds = Math.max(1, probe.timeoutSeconds ?? 1);
  if (probe.exec) return runExecProbe(commandOf(probe.exec, options.container), seconds, options);
  if (probe.httpGet) return runHttpProbe(probe, seconds, options);
  if (probe.tcpSocket)
    return runTcpProbe(
      probe.tcpSocket.host || options.podIp,
      portNumber(probe.tcpSocket.port, options.container),
      seconds,
    );
  if (probe.grpc)
    return runGrpcProbe(
      hostAndPort(options.podIp, probe.grpc.port),
      probe.grpc.service ?? "",
      seconds,
      options.signal,
    );
  throw new Error(`missing probe handler for ${options.container.name}`);
}

/** Resolves a port number or the name of a container port. */
export function portNumber(port: number | string | null | undefined, container: Container): number {
  const number =
    typeof port === "number"
      ? port
      : /^\d+$/.test(port ?? "")
        ? Number(port)
        : container.ports?.find(({ name }) => name === port)?.containerPort;
  // Worded as in the kubelet, which finally tries to parse the name as a number.
  if (number === undefined) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`);
  if (number < 1 || number > 65_535) throw new Error(`invalid port number: ${number}`);
  return number;
}

/**
 * Expands variables of the container's own list in the command. As in the kubelet, those with a source expand to
 * nothing, and those of envFrom stay as written.
 */
function commandOf({ command = [] }: NonNullable<Probe["exec"]>, { env = [] }: Container): readonly string[] {
  const values = new Map(env.map(({ name, value }) => [name, value ?? ""]));
  return command.map((word) => expand(word, (name) => values.get(name)));
}

async function runExecProbe(
  command: readonly string[],
  seconds: number,
  { runtime, containerId, ignoresLateCommands, signal }: RunProbeOptions,
): Promise<ProbeResult> {
  try {
    const { exitCode, stdout, stderr } = await runtime.execSync(containerId, command, seconds, signal);
    const output = Buffer.concat([stdout ?? new Uint8Array(), stderr ?? new Uint8Array()])
      .subarray(0, 10 * 1024)
      .toString();
    return exitCode === 0 ? success(output) : failure(output);
  } catch (error) {
    if (error instanceof ExecTimeout && !ignoresLateCommands) return failure(error.message);
    throw error;
  }
}

async function runHttpProbe(
  { httpGet: action }: Probe,
  seconds: number,
  { container, podIp, userAgent, signal }: RunProbeOptions,
): Promise<ProbeResult> {
  const { path, port, host, scheme, httpHeaders } = action!;
  const get: HttpGet = {
    scheme: scheme === "HTTPS" ? "https" : "http",
    host: host || podIp,
    port: portNumber(port, container),
    path: path || "/",
    headers: headersOf(httpHeaders, userAgent),
  };
  let response: HttpResponse;
  try {
    response = await getFollowingRedirects(get, { timeoutMilliseconds: seconds * 1000, signal });
  } catch (error) {
    signal.throwIfAborted();
    return failure((error as Error).message);
  }
  const { status, body, bodyError } = response;
  // As in the kubelet, a body that hangs or is cut is an error, which is retried, and not a failure.
  if (bodyError !== undefined) throw new Error(bodyError);
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  // The redirect is not followed: another host says nothing about this container.
  return status >= 300
    ? { result: "warning", output: `Probe terminated redirects, Response body: ${body}` }
    : success(body);
}

function runTcpProbe(host: string, port: number, seconds: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const dialing = `dial tcp ${hostAndPort(host, port)}`;
    const done = (answer: ProbeResult): void => {
      cancel();
      socket.destroy();
      resolve(answer);
    };
    const cancel = systemClock.after(seconds * 1000, () => done(failure(`${dialing}: i/o timeout`)));
    socket.on("connect", () => done(success()));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      done(
        failure(
          `${dialing}: ${error.code === "ECONNREFUSED" ? "connect: connection refused" : error.message}`,
        ),
      ),
    );
  });
}

const servingStatuses = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

const healthCheck: GrpcMethod<string, number> = {
  path: "/grpc.health.v1.Health/Check",
  encode: (service) => {
    const name = Buffer.from(service);
    const length = name.length < 128 ? [name.length] : [(name.length & 127) | 128, name.length >> 7];
    return name.length === 0 ? name : Buffer.concat([Uint8Array.of(0x0a, ...length), name]);
  },
  decode: (bytes) => (bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0),
};

/** Interval between connection attempts. */
const reconnectMilliseconds = 1000;

/**
 * Probes by gRPC. Connecting is retried until the timeout, so that a server about to listen is still reached.
 */
async function runGrpcProbe(
  address: string,
  service: string,
  seconds: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const left = deadline - performance.now();
    if (left <= 0)
      return failure(
        `timeout: failed to connect service ${JSON.stringify(address)} within ${seconds}s: context deadline exceeded`,
      );
    const answer = await tryGrpc(address, service, { seconds, left, signal });
    if (answer) return answer;
    await sleep(Math.min(reconnectMilliseconds, Math.max(0, deadline - performance.now())), undefined, {
      signal,
    });
  }
}

/** Returns undefined if the server cannot be reached. */
async function tryGrpc(
  address: string,
  service: string,
  {
    seconds,
    left,
    signal,
  }: { readonly seconds: number; readonly left: number; readonly signal: AbortSignal },
): Promise<ProbeResult | undefined> {
  const channel = grpcChannel({ endpoints: [`http://${address}`], connectMilliseconds: left });
  try {
    const status = await channel.unary(healthCheck, service, { deadlineMilliseconds: left, signal });
    return servingStatuses[status] === "SERVING"
      ? success("service healthy")
      : failure(
          `service unhealthy (responded with ${JSON.stringify(servingStatuses[status] ?? String(status))})`,
        );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GrpcError)) throw error;
    if (error.code === "UNAVAILABLE") return undefined;
    if (error.code === "UNIMPLEMENTED")
      return failure(
        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " +
          error.detail,
      );
    if (error.code === "DEADLINE_EXCEEDED")
      return failure(`timeout: health rpc did not complete within ${seconds}s`);
    return failure(`error: health rpc probe failed: ${grpcErrorText(error)}`);
  } finally {
    channel.close();
  }
}
