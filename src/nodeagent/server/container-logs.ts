// `/containerLogs/{namespace}/{pod}/{container}`: finds the log, parses the query, and reports why a log is
// not available.
import type { ContainerStatus, Pod } from "#api";
import { type Clock, millisOfTime } from "#base";
import type { ContainerRuntime } from "#cri";
import type { Query, Reply, Sink } from "#http";
import { everyContainerOf, nameOf, uidOf } from "../pod.ts";
import type { PodRegistry } from "../interfaces.ts";
import { type ContainerLogQuery, readLog } from "./cri-log.ts";
import { text } from "./replies.ts";
import type { Request } from "./routes.ts";

export interface ContainerLogsOptions {
  readonly clock: Clock;
  readonly registry: PodRegistry;
  readonly runtime: ContainerRuntime;
}

const maxBacklogBytes = 256 * 1024;

export function containerLogs({
  clock,
  registry,
  runtime,
}: ContainerLogsOptions): (request: Request) => Promise<Reply> {
  return async ({ call, query, parts: { namespace = "", pod: name = "", container = "" } }) => {
    const logOptions = logQuery(query, clock.now());
    if ("problem" in logOptions)
      return text(
        logOptions.problem === "decode" ? 400 : 422,
        `{"message": ${logOptions.problem === "decode" ? '"Unable to decode query."' : '"Invalid request."'}}`,
      );
    const pod = registry.byName(namespace, name);
    if (!pod) return text(404, `pod ${JSON.stringify(name)} does not exist`);
    if (!everyContainerOf(pod).some((one) => one.name === container))
      return text(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`);
    const which = containerWithLog(pod, container, isTrue(query, "previous"));
    if ("problem" in which) return plainLog(400, which.problem);
    const wanted = bare(which.id);
    let path: string;
    try {
      const known = registry.containers(uidOf(pod)).find(({ id }) => id === wanted);
      path = known?.logPath || (await runtime.containerStatus(wanted)).status.logPath;
    } catch {
      // The container existed but its log is gone, so this message is returned as the log content.
      return plainLog(200, `unable to retrieve container logs for ${which.id}`);
    }
    const isRunning = (): boolean =>
      registry
        .containers(uidOf(pod))
        .some(({ id, state }) => id === wanted && (state === "running" || state === "created"));
    const stream = async (sink: Sink): Promise<void> => {
      const signal = AbortSignal.any([sink.closed, call.signal]);
      const write = async (bytes: Uint8Array): Promise<void> => {
        sink.write(bytes);
        if (sink.backlogBytes > maxBacklogBytes) await sink.drained();
      };
      try {
        await readLog({ path, query: logOptions, clock, isRunning, write, signal });
      } catch (error) {
        sink.write(Buffer.from(`${(error as Error).message}\n`));
      }
    };
    return { status: 200, headers: {}, body: { stream } };
  };
}

/** Messages in place of a log are sent like logs: without a content type. */
const plainLog = (status: number, message: string): Reply => ({
  status,
  headers: {},
  body: {
    stream: (sink) => {
      sink.write(Buffer.from(message));
      return Promise.resolve();
    },
  },
});

function isTrue(query: Query, name: string): boolean {
  const value = query.get(name);
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}

function logQuery(query: Query, now: number): ContainerLogQuery | { readonly problem: "decode" | "invalid" } {
  const numbers: Record<string, number> = {};
  // Old clients send `tail`, which takes precedence.
  const tail = query.get("tail");
  for (const name of ["tailLines", "limitBytes", "sinceSeconds"]) {
    const value = (name === "tailLines" && tail) || query.get(name);
    if (value === undefined || (name === "tailLines" && tail === "all")) continue;
    if (!isInt64(value)) return { problem: "decode" };
    numbers[name] = Number(value);
  }
  const { tailLines, limitBytes, sinceSeconds } = numbers;
  const given = query.get("sinceTime");
  let sinceTime: number | undefined;
  // Clients that encode an absent time send an empty value or `null`.
  if (given === "" || given === "null") sinceTime = -Infinity;
  else if (given !== undefined) {
    if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)$/.test(given))
      return { problem: "decode" };
    sinceTime = millisOfTime(given);
  }
  const isInvalid =
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (sinceSeconds !== undefined && (sinceSeconds < 1 || sinceTime !== undefined));
  if (isInvalid) return { problem: "invalid" };
  const since = sinceSeconds === undefined ? sinceTime : now - sinceSeconds * 1000;
  return {
    follow: isTrue(query, "follow"),
    timestamps: isTrue(query, "timestamps"),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
    ...(since !== undefined && { since }),
  };
}

const isInt64 = (text: string): boolean =>
  /^[-+]?\d+$/.test(text) &&
  BigInt.asIntN(64, BigInt(text.replace("+", ""))) === BigInt(text.replace("+", ""));

/**
 * Returns the container ID, with the runtime prefix, of the requested log: of the running container, or else
 * of the last one.
 */
function containerWithLog(
  pod: Pod,
  name: string,
  previous: boolean,
): { readonly id: string } | { readonly problem: string } {
  const { status } = pod;
  const all: readonly ContainerStatus[] = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  const found = all.find((one) => one.name === name);
  const place = `container ${JSON.stringify(name)} in pod ${JSON.stringify(nameOf(pod))}`;
  if (!found) return { problem: `${place} is not available` };
  const last = found.lastState?.terminated?.containerID;
  const { waiting, running, terminated } = found.state ?? {};
  const idOr = (id: string | undefined, problem: string): { id: string } | { problem: string } =>
    id ? { id } : { problem };
  if (previous) return idOr(last, `previous terminated ${place} not found`);
  if (running) return idOr(found.containerID, `${place} is waiting to start - no logs yet`);
  if (terminated) return idOr(terminated.containerID || last, `${place} is terminated`);
  if (found.lastState?.terminated) return idOr(last, `${place} is terminated`);
  if (!waiting) return { problem: `${place} is waiting to start - no logs yet` };
  const reasons: Readonly<Record<string, string>> = {
    ErrImagePull: "image can't be pulled",
    ImagePullBackOff: "trying and failing to pull image",
  };
  return { problem: `${place} is waiting to start: ${reasons[waiting.reason ?? ""] ?? waiting.reason}` };
}

/** Strips the runtime prefix of `containerd://id`. */
const bare = (id: string): string => id.slice(id.indexOf("://") < 0 ? 0 : id.indexOf("://") + 3);
