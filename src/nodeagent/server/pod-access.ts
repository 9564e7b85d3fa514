// Access to pods: exec, attach, port-forward, run and checkpoint.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "#api";
import type { Clock } from "#base";
import type { ContainerRuntime } from "#cri";
import { GrpcError, type Query, type Reply, parseQuery } from "#http";
import { grpcErrorText } from "../errors.ts";
import { everyContainerOf, nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { PodRegistry } from "../interfaces.ts";
import { json, text } from "./replies.ts";
import type { RouteHandler, Request } from "./routes.ts";
import { type TunnelLimits, tunnel } from "./streaming.ts";

export interface PodAccessOptions {
  readonly clock: Clock;
  readonly registry: PodRegistry;
  readonly runtime: ContainerRuntime;
  readonly limits: TunnelLimits;
  /** Directory for checkpoint archives. */
  readonly checkpointFolder: string;
}

export interface PodAccess {
  readonly exec: RouteHandler;
  readonly attach: RouteHandler;
  readonly portForward: RouteHandler;
  readonly run: RouteHandler;
  readonly checkpoint: RouteHandler;
}

const maxFormBytes = 64 * 1024;
/** How long a runtime that has too many streams may keep one. */
const streamTtlSeconds = 60;
/** A day: timers of the runtime client are limited. */
const maxCheckpointSeconds = 86_400;

export function podAccess({
  clock,
  registry,
  runtime,
  limits,
  checkpointFolder,
}: PodAccessOptions): PodAccess {
  const podOf = ({ parts: { namespace = "", pod: name = "" } }: Request): Pod | undefined =>
    registry.byName(namespace, name);
  const isOfUid = (pod: Pod, { parts: { uid } }: Request): boolean =>
    uid === undefined || registry.isUidOf(pod, uid);
  /** Returns the running container; a pod with another UID than requested has none. */
  const runningId = (pod: Pod, name: string, request: Request): string | undefined =>
    isOfUid(pod, request)
      ? registry.containers(uidOf(pod)).find((one) => one.name === name && one.state === "running")?.id
      : undefined;
  const noPod = text(404, "pod does not exist");
  return {
    exec: toContainer(notFound, ({ id, streams }, { query, call }) =>
      runtime.exec({ containerId: id, cmd: [...query.all("command")], ...streams }, call.signal),
    ),
    attach: toContainer(
      (name, pod) => `container ${name} not found in pod ${nameOf(pod)}_${namespaceOf(pod)}`,
      ({ id, name, pod, streams }, { call }) => {
        // Whether the container has a terminal was decided when it was created.
        const tty = everyContainerOf(pod).find((one) => one.name === name)?.tty === true;
        return runtime.attach({ containerId: id, ...streams, tty }, call.signal);
      },
    ),
    portForward: async (request) => {
      const ports = portsOf(request);
      if ("problem" in ports) return text(400, ports.problem);
      const pod = podOf(request);
      if (!pod) return noPod;
      if (!isOfUid(pod, request)) return text(404, "pod not found");
      const sandboxId = registry.sandboxId(uidOf(pod));
      if (!sandboxId)
        return text(500, `pod not found (${JSON.stringify(`${nameOf(pod)}_${namespaceOf(pod)}`)})`);
      if (!request.call.upgradable) return tunnel(request.call, "", limits);
      return await streamed(() => runtime.portForward(sandboxId, ports.ports, request.call.signal), request);
    },
    run: async (request) => {
      const pod = podOf(request);
      if (!pod) return noPod;
      const { container = "" } = request.parts;
      const command = await commandOf(request);
      const id = runningId(pod, container, request);
      if (!id) return text(500, notFound(container));
      try {
        const { stdout, stderr, exitCode } = await runtime.execSync(
          id,
          command.split(" "),
          0,
          request.call.signal,
        );
        if (exitCode !== 0)
          return text(500, `command '${command}' exited with ${exitCode}: ${Buffer.from(stderr).toString()}`);
        return {
          status: 200,
          headers: { "content-type": "application/json" },
          body: Buffer.concat([stdout, stderr]),
        };
      } catch (error) {
        return text(500, grpcErrorText(error));
      }
    },
    checkpoint: async (request) => {
      const { call, query, parts } = request;
      const { namespace = "", pod: name = "", container = "" } = parts;
      const pod = registry.byName(namespace, name);
      if (!pod) return noPod;
      if (!everyContainerOf(pod).some((one) => one.name === container))
        return text(404, `container ${container} does not exist`);
      const given = query.all("timeout").at(-1);
      const timeout = given === undefined ? 0n : parseInt64(given);
      if (timeout === undefined) return text(404, "cannot parse value of timeout parameter");
      const failed = (why: string): Reply =>
        text(500, `checkpointing of ${namespace}/${name}/${container} failed (${why})`);
      const id = runningId(pod, container, request);
      if (!id) return failed(`container ${container} not found`);
      if (timeout < 0n) return failed("CheckpointContainer requires the timeout value to be > 0");
      const file = join(
        checkpointFolder,
        `checkpoint-${name}_${namespace}-${container}-${new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z")}.tar`,
      );
      try {
        await mkdir(checkpointFolder, { recursive: true, mode: 0o700 });
        const seconds = Math.min(Number(timeout), maxCheckpointSeconds);
        await runtime.checkpointContainer(id, file, seconds, call.signal);
        return json(JSON.stringify({ items: [file] }));
      } catch (error) {
        return failed(grpcErrorText(error));
      }
    },
  };

  /** Connects streams to a running container of the pod. */
  function toContainer(
    missing: (name: string, pod: Pod) => string,
    connect: (to: Connected, request: Request) => Promise<string>,
  ): RouteHandler {
    return async (request) => {
      const streams = streamsOf(request.query);
      if (!streams) return text(400, "you must specify at least 1 of stdin, stdout, stderr");
      const pod = podOf(request);
      if (!pod) return noPod;
      const { container: name = "" } = request.parts;
      const id = runningId(pod, name, request);
      if (!id) return text(500, missing(name, pod));
      if (!request.call.upgradable) return tunnel(request.call, "", limits);
      return await streamed(() => connect({ pod, name, id, streams }, request), request);
    };
  }

  async function streamed(getUrl: () => Promise<string>, { call }: Request): Promise<Reply> {
    try {
      return tunnel(call, await getUrl(), limits);
    } catch (error) {
      const code = error instanceof GrpcError ? error.code : undefined;
      const message = grpcErrorText(error);
      if (code === "NOT_FOUND") return text(404, message);
      return code === "RESOURCE_EXHAUSTED"
        ? text(429, message, { "retry-after": String(streamTtlSeconds) })
        : text(500, message);
    }
  }
}

/** Parses an integer of 64 bits; undefined if the text is anything else. */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

interface Streams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

interface Connected {
  readonly pod: Pod;
  /** Name of the container. */
  readonly name: string;
  readonly id: string;
  readonly streams: Streams;
}

const notFound = (container: string): string => `container not found (${JSON.stringify(container)})`;
const isOn = (query: Query, name: string): boolean => query.get(name) === "1";

/**
 * Returns the requested streams; undefined if no stream is requested. With a terminal there is no separate
 * stderr stream.
 */
function streamsOf(query: Query): Streams | undefined {
  const [stdin, stdout, tty] = [isOn(query, "input"), isOn(query, "output"), isOn(query, "tty")];
  const stderr = isOn(query, "error") && !tty;
  return stdin || stdout || stderr ? { stdin, stdout, stderr, tty } : undefined;
}

/** Returns the ports of a request: query parameters for WebSocket; with SPDY each stream names its port. */
function portsOf({ call, query }: Request): { readonly ports: number[] } | { readonly problem: string } {
  const upgrade = call.headers["upgrade"];
  if (!call.upgradable || typeof upgrade !== "string" || upgrade.toLowerCase() !== "websocket")
    return { ports: [] };
  const given = query.all("port").flatMap((value) => value.split(","));
  if (given.length === 0) return { problem: `query parameter "port" is required` };
  const wrong = given.find(
    (value) => !/^\d{1,5}$/.test(value) || Number(value) < 1 || Number(value) > 65_535,
  );
  if (wrong !== undefined)
    return {
      problem: `query parameter "port" cannot be parsed: ${JSON.stringify(wrong)} is not a valid port`,
    };
  return { ports: given.map(Number) };
}

async function commandOf({ call, query }: Request): Promise<string> {
  const inQuery = query.get("cmd");
  if (
    inQuery !== undefined ||
    !String(call.headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded")
  )
    return inQuery ?? "";
  return parseQuery(Buffer.from(await call.body(maxFormBytes)).toString()).get("cmd") ?? "";
}
