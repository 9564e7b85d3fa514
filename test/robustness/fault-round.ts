// One round of faults on a node: pods are created and deleted at random while the runtime, the API server and
// the agent fail; then all faults end, and everything must reach the state that clients expect, with nothing
// left behind, nothing executed twice and nothing reported that did not happen.
import { readFile, readdir, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod } from "#api";
import { informer, kinds } from "#client";
import { type ContainerRuntime, containerState, grpcRuntime } from "#cri";
import type { Cluster } from "#kit";
import type { ApiFault, ApiFaultProxy, ApiRequest } from "./api-fault-proxy.ts";
import { type Chance, chance } from "./chance.ts";
import { doublesOf, tracesOf } from "./node-traces.ts";
import type { NodePlugins, SmallDisk } from "./node-surroundings.ts";
import { type LivingPod, podKinds, randomPods, secretWord } from "./random-pods.ts";
import { type RuntimeFault, type RuntimeFaultProxy, refusals } from "./runtime-fault-proxy.ts";
import { type RuntimeLosses, runtimeLosses } from "./runtime-losses.ts";

export interface FaultRoundOptions {
  readonly cluster: Cluster;
  readonly runtimeProxy: RuntimeFaultProxy;
  readonly apiProxy: ApiFaultProxy;
  readonly namespace: string;
  readonly seed: number;
  readonly seconds: number;
  /** The components that fail; `daemon` is the process of the runtime, which is killed. */
  readonly of: readonly ("runtime" | "daemon" | "api" | "agent" | "plugins" | "disk")[];
  /** Required if they are to fail. */
  readonly plugins?: Pick<NodePlugins, "start" | "kill" | "registered">;
  readonly disk?: Pick<SmallDisk, "fill" | "clear">;
  /** How long the node may take to settle afterwards. */
  readonly restSeconds: number;
  readonly most: number;
  /** Number of pods that are created, and have reached their expected state, before the first fault. */
  readonly initially?: number;
  readonly partitionSeconds?: number;
  readonly kinds?: readonly string[];
  readonly say: (line: string) => void;
}

/** Calls that change state, for which a lost response is worst. */
const acts = [
  "RunPodSandbox",
  "StopPodSandbox",
  "RemovePodSandbox",
  "CreateContainer",
  "StartContainer",
  "StopContainer",
  "RemoveContainer",
];

export function runtimeFaults(luck: Chance): (call: string) => RuntimeFault | undefined {
  return (call) => {
    if (call === "GetContainerEvents" || call === "Version") return undefined;
    const isAct = acts.includes(call);
    if (!luck.percent(isAct ? 25 : 4)) return undefined;
    const codes: number[] = [refusals.unavailable, refusals.unknown];
    // A command that timed out has failed its probe, which would be a legitimate reason for a restart.
    if (call !== "ExecSync") codes.push(refusals.deadlineExceeded);
    // NotFound means that there is nothing left to stop or remove: the agent must detect a runtime that says
    // so of something that exists.
    if (/^(Stop|Remove)/.test(call)) codes.push(refusals.notFound);
    const roll = luck.below(100);
    if (roll < 30) return { kind: "refuse", code: luck.one(codes) };
    if (roll < 65) return { kind: "lose", code: luck.one(codes) };
    if (roll < 90) return { kind: luck.one(["delay", "late"]), milliseconds: 200 + luck.below(3000) };
    if (roll < 97) return { kind: "hang" };
    return { kind: "cut" };
  };
}

export function apiFaults(luck: Chance): (request: ApiRequest) => ApiFault | undefined {
  return ({ method, isWatch }) => {
    if (!luck.percent(isWatch ? 60 : 20)) return undefined;
    const roll = luck.below(100);
    if (isWatch && roll < 75) {
      if (roll < 20) return { kind: "expire", milliseconds: luck.below(3000) };
      if (roll < 45) return { kind: "halve" };
      return { kind: "slow", milliseconds: 100 + luck.below(2000) };
    }
    if (roll < 20) return { kind: "refuse", status: luck.one([500, 503, 502]) };
    if (roll < 35) return { kind: "refuse", status: 429, retryAfterSeconds: 1 };
    if (roll < 50) return { kind: "reset" };
    if (roll < 80) return method === "GET" ? { kind: "halve" } : { kind: "lose" };
    if (roll < 92) return { kind: "delay", milliseconds: 100 + luck.below(3000) };
    if (roll < 95) return { kind: "hang" };
    return { kind: "cut" };
  };
}

/** Returns the problems found. */
export async function faultRound(options: FaultRoundOptions): Promise<string[]> {
  const { cluster, runtimeProxy, apiProxy, namespace, seed, seconds, of, restSeconds, most, say } = options;
  const luck = chance(seed);
  const wrong = new Set<string>();
  const starts = join(cluster.folder, `starts-${namespace}`);
  await mkdir(starts);
  const crowd = await randomPods({
    cluster,
    namespace,
    chance: luck.part("pods"),
    most,
    folder: starts,
    ...(of.includes("plugins") && { kinds: Object.keys(podKinds) }),
    ...(options.kinds && { kinds: options.kinds }),
  });
  const runtime = grpcRuntime({ endpoint: cluster.containerd.endpoint, timeoutMilliseconds: 20_000 });
  const over = new AbortController();
  const losses = runtimeLosses();
  const note = (what: string): void => {
    if (!wrong.has(what)) say(`wrong: ${what}`);
    wrong.add(what);
  };
  const history = follow(cluster, namespace, over.signal, note, of);
  const doubles = watchRuntime(runtime, losses, over.signal, note);
  const first = await footprint(cluster.agent.pid);
  const times = luck.part("times");
  try {
    if (of.includes("plugins")) await options.plugins?.registered();
    if (options.initially) {
      await crowd.fill(options.initially);
      const begunAt = Date.now();
      let odd: string[] = ["not checked yet"];
      while (odd.length > 0 && Date.now() - begunAt < restSeconds * 1000) {
        await sleep(1000);
        odd = await oddities(cluster, runtime, crowd.living, namespace, history, losses).catch(notYet);
      }
      say(`${options.initially} pods settled in ${((Date.now() - begunAt) / 1000).toFixed(1)} s`);
      for (const what of odd) wrong.add(`before any fault: ${what}`);
    }
    if (of.includes("runtime")) runtimeProxy.plan(runtimeFaults(luck.part("runtime")));
    if (of.includes("api")) apiProxy.plan(apiFaults(luck.part("api")));
    const began = Date.now();
    let healAt = Infinity;
    let partAt = of.includes("api") && options.partitionSeconds ? began + seconds * 300 : Infinity;
    let killAt = of.includes("agent") ? began + 4000 + times.below(8000) : Infinity;
    let endAt = of.includes("daemon") ? began + 2000 + times.below(4000) : Infinity;
    let unplugAt = of.includes("plugins") ? began + 3000 + times.below(5000) : Infinity;
    let fullAt = of.includes("disk") ? began + 5000 + times.below(8000) : Infinity;
    while (Date.now() - began < seconds * 1000 || healAt !== Infinity) {
      say(`${((Date.now() - began) / 1000).toFixed(1)} ${await crowd.step()}`);
      await sleep(100 + times.below(500));
      if (Date.now() > partAt) {
        partAt = Infinity;
        healAt = Date.now() + options.partitionSeconds! * 1000;
        const how = times.one(["silent", "refused"] as const);
        say(`partition, ${how}`);
        apiProxy.part(how);
      }
      if (Date.now() > healAt) {
        healAt = Infinity;
        say("partition over");
        apiProxy.calm();
        apiProxy.plan(apiFaults(luck.part("api again")));
        // A long round has more than one partition.
        const next = Date.now() + 120_000 + times.below(120_000);
        if (next < began + seconds * 1000) partAt = next;
      }
      if (Date.now() > killAt) {
        killAt = Date.now() + 8000 + times.below(12_000);
        say("agent killed");
        await cluster.agent.kill9();
        await cluster.agent.start();
      }
      if (Date.now() > endAt) {
        endAt = Date.now() + 5000 + times.below(8000);
        say("runtime killed");
        const killedAt = Date.now();
        await cluster.containerd.kill();
        await sleep(times.below(3000));
        await cluster.containerd.start();
        losses.wasAway(killedAt, Date.now());
      }
      if (Date.now() > unplugAt) {
        unplugAt = Date.now() + 8000 + times.below(12_000);
        say("plug-ins killed");
        await options.plugins?.kill();
        await sleep(times.below(3000));
        await options.plugins?.start();
      }
      if (Date.now() > fullAt) {
        fullAt = Date.now() + 15_000 + times.below(15_000);
        say("disk full");
        await options.disk?.fill();
        await sleep(1000 + times.below(4000));
        await options.disk?.clear();
      }
    }
    runtimeProxy.calm();
    apiProxy.calm();
    say("calm");
    const calmAt = Date.now();
    let odd: string[] = ["not checked yet"];
    for (
      const until = Date.now() + restSeconds * 1000;
      Date.now() < until && odd.length > 0;
      await sleep(500)
    )
      odd = await oddities(cluster, runtime, crowd.living, namespace, history, losses).catch(notYet);
    say(`settled after ${((Date.now() - calmAt) / 1000).toFixed(1)} s`);
    odd.forEach(say);
    for (const what of odd) wrong.add(`not settled within ${restSeconds} s: ${what}`);
    for (const { what, containers } of history.flips)
      if (!containers.some((id) => losses.has(id))) note(what);
    for (const what of await phantoms(cluster, starts, crowd.living, namespace, history)) wrong.add(what);
    const statics = await cluster.client.of(kinds.pods).list({ namespace });
    const mirrored = statics.items
      .filter(({ metadata }) => hashOf(cluster, metadata) !== undefined)
      .map(({ metadata }) => metadata.name);
    for (const name of crowd.files.keys())
      if (!mirrored.includes(`${name}-${cluster.nodeName}`)) wrong.add(`static pod ${name} has no mirror`);
    for (const name of mirrored)
      if (!crowd.files.has((name ?? "").replace(`-${cluster.nodeName}`, "")))
        wrong.add(`mirror ${name} of no static pod`);

    const goingAt = Date.now();
    await crowd.end();
    let left: string[] = [];
    for (const until = Date.now() + restSeconds * 1000; Date.now() < until; await sleep(500)) {
      const objects = (await cluster.client.of(kinds.pods).list({ namespace })).items.map(
        ({ metadata }) => `object ${metadata.name}`,
      );
      left = [...objects, ...(await tracesOf(cluster, runtime, new Set(), history.uids).catch(notYet))];
      if (left.length === 0) break;
    }
    say(`gone after ${((Date.now() - goingAt) / 1000).toFixed(1)} s`);
    for (const what of left) wrong.add(`left behind after ${restSeconds} s: ${what}`);
    const last = await footprint(cluster.agent.pid);
    say(`rss ${first.megabytes} → ${last.megabytes} MB, files ${first.files} → ${last.files}`);
    if (last.files > first.files + 25)
      wrong.add(`the agent has ${last.files} open files, ${first.files} before`);
    for (const what of await oddLines(cluster)) wrong.add(what);
    say(`containers that the runtime lost: ${losses.count()}`);
    say(`events ${await eventCount(cluster, namespace)} for ${history.uids.size} pods`);
    return [...wrong];
  } finally {
    over.abort();
    runtimeProxy.calm();
    apiProxy.calm();
    await doubles;
    runtime.close();
  }
}

/** The test's own connection to the runtime may have been lost with it. */
const notYet = (error: Error): string[] => [error.message];

interface History {
  readonly uids: Set<string>;
  readonly latest: Map<string, Pod>;
  /** By pod and container, the containers that the runtime failed to start: their command never ran. */
  readonly failedStarts: Map<string, Set<string>>;
  /**
   * Pods that were ready and no longer are, with those of their containers that are reported as terminated.
   */
  readonly flips: { readonly what: string; readonly containers: readonly string[] }[];
}

const hashOf = ({ dialect }: Cluster, metadata: Pod["metadata"]): string | undefined =>
  metadata.annotations?.[dialect.names.annotations.configMirror];
const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
const isOver = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** Checks each version of an object against the one before it. */
function follow(
  cluster: Cluster,
  namespace: string,
  signal: AbortSignal,
  wrong: (what: string) => void,
  of: readonly string[],
): History {
  const history: History = { uids: new Set(), latest: new Map(), failedStarts: new Map(), flips: [] };
  informer({
    client: cluster.client.of(kinds.pods),
    scope: { namespace },
    signal,
    onEvent: ({ type, object: pod }) => {
      const { name, uid = "" } = pod.metadata;
      history.uids.add(uid);
      const hash = hashOf(cluster, pod.metadata);
      if (hash !== undefined) history.uids.add(hash);
      noteFailedStarts(history, pod);
      const before = history.latest.get(uid);
      history.latest.set(uid, pod);
      if (type === "deleted" || !before) return;
      if (isOver(before) && before.status?.phase !== pod.status?.phase)
        wrong(`${name} ${uid} was ${before.status?.phase} and is ${pod.status?.phase}`);
      for (const lists of [["initContainerStatuses"], ["containerStatuses"]] as const) {
        for (const now of pod.status?.[lists[0]] ?? []) {
          const was = before.status?.[lists[0]]?.find((one) => one.name === now.name);
          if (was && was.restartCount > now.restartCount)
            wrong(
              `${name} ${uid}: restarts of ${now.name} went from ${was.restartCount} to ${now.restartCount}`,
            );
        }
      }
      const isSteady = podKinds[pod.metadata.labels?.["kind"] ?? ""]?.fate === "ready";
      if (
        !of.includes("runtime") &&
        isSteady &&
        isReady(before) &&
        !isReady(pod) &&
        !pod.metadata.deletionTimestamp
      ) {
        const ended = (pod.status?.containerStatuses ?? []).map(({ state }) => state.terminated?.containerID);
        history.flips.push({
          what: `${name} ${uid} was ready and is not any more: ${JSON.stringify(pod.status?.containerStatuses?.map(({ state, restartCount }) => [state, restartCount]))}`,
          containers: ended.filter((id) => id !== undefined),
        });
      }
    },
  });
  return history;
}

function noteFailedStarts({ failedStarts }: History, { metadata, status }: Pod): void {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, state, lastState } of all) {
    for (const { terminated } of [state, lastState]) {
      if (!terminated) continue;
      // A runtime killed during a start does not know the start time; the container may be reported as
      // terminated with Unknown (255) or, where its shim noticed, with an error (1).
      const wasCutOff = Date.parse(terminated.startedAt ?? "") === 0;
      if (terminated.reason !== "StartError" && !wasCutOff) continue;
      const key = `${metadata.uid}.${name}`;
      failedStarts.set(key, (failedStarts.get(key) ?? new Set()).add(terminated.containerID ?? ""));
    }
  }
}

async function watchRuntime(
  runtime: ContainerRuntime,
  losses: RuntimeLosses,
  signal: AbortSignal,
  wrong: (what: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    for (const double of await doublesOf(runtime).catch(() => [])) wrong(`runs twice: ${double}`);
    // The runtime may be down at the moment; exited containers are still listed when it is back.
    await losses.look(runtime).catch(() => undefined);
    await sleep(300, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns everything that is not in its expected final state. */
async function oddities(
  cluster: Cluster,
  runtime: ContainerRuntime,
  living: ReadonlyMap<string, LivingPod>,
  namespace: string,
  history: History,
  losses: RuntimeLosses,
): Promise<string[]> {
  const { items } = await cluster.client.of(kinds.pods).list({ namespace });
  const odd: string[] = [];
  const kept = new Set<string>();
  for (const pod of items) {
    const { name = "", uid = "" } = pod.metadata;
    const hash = hashOf(cluster, pod.metadata);
    kept.add(hash ?? uid);
    const wanted = hash === undefined ? living.get(name) : ({ fate: "ready", uid } as LivingPod);
    if (!wanted || wanted.uid !== uid) odd.push(`${name} ${uid} is still there`);
    else if (!isAsFated(pod, wanted, losses))
      odd.push(
        `${name} ${uid} is ${JSON.stringify([pod.status?.phase, pod.status?.reason, isReady(pod), pod.status?.containerStatuses?.map(({ state, restartCount }) => [state, restartCount])])}`,
      );
    for (const { name: container } of pod.spec.ephemeralContainers ?? []) {
      const state = pod.status?.ephemeralContainerStatuses?.find((one) => one.name === container)?.state;
      const isTold = state?.running ?? state?.terminated?.reason === "StartError";
      if (!isOver(pod) && !isTold)
        odd.push(`${name}: ephemeral container ${container} does not run: ${JSON.stringify(state)}`);
    }
  }
  const alive = new Set(
    (await runtime.listContainers({ state: { state: containerState.running } })).map(({ id }) => id),
  );
  for (const { metadata, status } of items) {
    for (const { name, state, containerID = "" } of status?.containerStatuses ?? [])
      if (state.running && !alive.has(containerID.replace("containerd://", "")))
        odd.push(`${metadata.name}: ${name} is reported as running and is not`);
  }
  const sandboxes = Object.groupBy(await runtime.listPodSandboxes(), ({ metadata }) => metadata?.uid ?? "");
  for (const [uid, ofPod] of Object.entries(sandboxes))
    if ((ofPod?.length ?? 0) > 2) odd.push(`${uid} has ${ofPod?.length} sandboxes`);
  for (const [name, { uid }] of living)
    if (!items.some(({ metadata }) => metadata.uid === uid)) odd.push(`${name} ${uid} is lost`);
  return [...odd, ...(await tracesOf(cluster, runtime, kept, history.uids))];
}

function isAsFated(pod: Pod, { fate }: LivingPod, losses: RuntimeLosses): boolean {
  if (fate === "ready") return (isReady(pod) && pod.status?.phase === "Running") || wasRefusedDevices(pod);
  if (fate === "crashing")
    return (
      pod.status?.phase === "Running" &&
      (pod.status.containerStatuses?.find(({ name }) => name === "c")?.restartCount ?? 0) > 0
    );
  if (pod.status?.phase === fate) return true;
  return pod.status?.phase === "Failed" && (wasKeptFromStarting(pod) || wasLostForGood(pod, losses));
}

/** A pod created while its plugin is down is rejected. */
const wasRefusedDevices = ({ metadata, status }: Pod): boolean =>
  metadata.labels?.["kind"] === "device" && status?.reason === "UnexpectedAdmissionError";

/**
 * If the runtime was interrupted while it started a container, that container has failed, and with it a pod
 * that never restarts.
 */
const wasKeptFromStarting = ({ spec, status }: Pod): boolean =>
  spec.restartPolicy === "Never" &&
  status?.containerStatuses?.some(({ state }) => state.terminated?.reason === "StartError") === true;

/** A pod that never restarts does not recover from a container lost by the runtime, either. */
const wasLostForGood = ({ spec, status }: Pod, losses: RuntimeLosses): boolean =>
  spec.restartPolicy === "Never" &&
  status?.containerStatuses?.some(({ state }) => losses.has(state.terminated?.containerID ?? "")) === true;

/** Returns the containers that report more restarts than the recorded starts allow. */
async function phantoms(
  cluster: Cluster,
  folder: string,
  living: ReadonlyMap<string, LivingPod>,
  namespace: string,
  history: History,
): Promise<string[]> {
  const { items } = await cluster.client.of(kinds.pods).list({ namespace });
  const found: string[] = [];
  for (const { metadata, status } of items) {
    if (!living.has(metadata.name ?? "")) continue;
    for (const { name, restartCount, state, lastState } of [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ]) {
      const begun =
        (await readFile(join(folder, `${metadata.uid}.${name}`), "utf8").catch(() => "")).split("\n").length -
        1;
      // A running container has been started once more than it was restarted. Starts that were interrupted
      // before the command ran are known to the runtime only.
      const failed = history.failedStarts.get(`${metadata.uid}.${name}`)?.size ?? 0;
      if (restartCount > begun + failed - (state.running ? 1 : 0))
        found.push(
          `${metadata.name} ${metadata.uid}: ${name} is reported to have restarted ${restartCount} times, and was started ${begun} times: ${JSON.stringify({ state, lastState })}`,
        );
    }
  }
  return found;
}

async function footprint(pid: number): Promise<{ readonly megabytes: number; readonly files: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return {
    megabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024),
    files: (await readdir(`/proc/${pid}/fd`)).length,
  };
}

/** Returns lines of the agent's log that a healthy agent does not write. */
async function oddLines({ agent }: Cluster): Promise<string[]> {
  const log = await agent.log();
  const lines = log
    .split("\n")
    .filter((line) =>
      /unhandled|uncaught|TypeError|RangeError|ReferenceError|MaxListeners|^\s+at /i.test(line),
    );
  return [
    ...new Set(lines.slice(0, 5)),
    ...(log.includes(secretWord) || log.includes(Buffer.from(secretWord).toString("base64"))
      ? ["the agent's log discloses a secret"]
      : []),
  ];
}

async function eventCount({ client }: Cluster, namespace: string): Promise<string> {
  const { items } = await client.of(kinds.coreEvents).list({ namespace });
  return `${items.length} (${items.reduce((sum, { count }) => sum + Number(count ?? 1), 0)} times)`;
}
