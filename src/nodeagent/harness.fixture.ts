// The agent's core with a fake runtime and a virtual clock: workers, plan, sync and status are real,
// everything else is faked.
import { join } from "node:path";
import type { ConfigMap, Pod, PodStatus, Secret, Service } from "#api";
import { type VirtualClock, silentLog, virtualClock } from "#base";
import { type FakeRuntime, type FakeRuntimeOptions, fakeRuntime } from "#cri";
import { type Dialect, dialects } from "#dialect";
import { ownership } from "./containers/owner.ts";
import { podCache } from "./containers/pod-cache.ts";
import { images } from "./images/images.ts";
import { pullQueue } from "./images/pull-queue.ts";
import { hooks } from "./lifecycle/hooks.ts";
import { backOff } from "./plan/backoff.ts";
import { qosClass } from "./plan/qos.ts";
import { isDeleted, uidOf } from "./pod.ts";
import { type PodWorkers, podWorkers } from "./pod-workers.ts";
import { probes } from "./probes/probes.ts";
import type { MountedVolume, PodAdmission, PodMetrics } from "./interfaces.ts";
import { completeDefaults } from "./sources/static-pod.ts";
import type { StatusWriter } from "./status/writer.ts";
import type { SyncContext } from "./sync/context.ts";
import { limiter } from "./sync/limiter.ts";
import type { PodFiles } from "./sync/pod-files.ts";

export interface RecordedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly container: string | undefined;
}

export interface HarnessOptions {
  readonly dialect?: Dialect;
  readonly runtime?: FakeRuntimeOptions;
  readonly reuse?: { readonly clock: VirtualClock; readonly runtime: FakeRuntime; readonly folder: string };
  readonly configMaps?: readonly ConfigMap[];
  readonly secrets?: readonly Secret[];
  readonly services?: readonly Service[];
  readonly admission?: PodAdmission;
  readonly cgroupRoot?: string;
  /** The error with which the creation of cgroups fails. */
  readonly cgroupError?: string;
  /** The error with which the creation of pod directories fails. */
  readonly folderError?: Error;
  readonly folder?: string;
  readonly nodeIp?: string;
  readonly settings?: Partial<SyncContext["settings"]>;
  /** Parts of the agent that replace the fakes. */
  readonly parts?: Partial<Pick<SyncContext, "resize" | "contributors" | "cgroups">>;
  readonly podMetrics?: PodMetrics;
  /** Called whenever the volumes of a pod are refreshed. */
  readonly onRefresh?: (uid: string) => void;
  /** Called when the cgroups of a pod are released. */
  readonly onRelease?: (uid: string) => void;
  /** Called when the agent deletes a pod object from the API server. */
  readonly onDelete?: (uid: string) => void;
}

export interface Harness {
  readonly clock: VirtualClock;
  readonly runtime: FakeRuntime;
  readonly folder: string;
  readonly pods: PodWorkers;
  readonly events: RecordedEvent[];
  /** Every status written, in order, by pod UID. */
  readonly statuses: Map<string, PodStatus[]>;
  /** UIDs of pod objects that were deleted from the API server. */
  readonly deleted: string[];
  status(uid: string): PodStatus;
  /** Adds a pod as if received from the API server. */
  run(pod: object): Pod;
  /** Deletes a pod like a user. */
  delete(uid: string, graceSeconds: number): void;
  /** Lists the runtime before any source is ready, like an agent that has just started. */
  listOnce(): Promise<void>;
  /** Advances the clock and relists the runtime in each step. */
  pass(seconds: number): Promise<void>;
  /** Like `pass`, but ignores errors of relisting. */
  runThroughErrors(seconds: number): Promise<void>;
  reasons(): string[];
  close(): Promise<void>;
}

/**
 * Waits until only timers of the virtual clock are pending. Nothing here touches the disk, so turns of the
 * event loop suffice on any machine. All tests pass with three turns; more cost time, as each half second of
 * a test waits twice.
 */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 15; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export function harness(options: HarnessOptions = {}): Harness {
  const dialect = options.dialect ?? dialects.orch;
  const clock = options.reuse?.clock ?? virtualClock(Date.parse("2030-01-01T00:00:00Z"));
  const runtime =
    options.reuse?.runtime ??
    fakeRuntime({ clock, images: ["busybox:1"], events: false, ...options.runtime });
  const folder = options.reuse?.folder ?? options.folder ?? "/agent";
  const events: RecordedEvent[] = [];
  const statuses = new Map<string, PodStatus[]>();
  const deleted: string[] = [];
  const recorder = {
    event: (regarding: { fieldPath?: string | undefined }, type: string, reason: string, message: string) =>
      void events.push({ type, reason, message, container: /\{(.*)\}/.exec(regarding.fieldPath ?? "")?.[1] }),
  };
  const node = {
    name: "n1",
    hostIps: () => [options.nodeIp ?? "192.168.1.9"],
    allocatable: () => ({ cpu: "2", memory: "4Gi" }),
    labels: () => ({}),
  };
  const named = <T extends { metadata: { namespace?: string | undefined; name?: string | undefined } }>(
    items: readonly T[] | undefined,
    namespace: string,
    name: string,
  ) =>
    Promise.resolve(
      items?.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    );
  let ready = true;
  const cache = podCache({
    runtime,
    clock,
    log: silentLog,
    dialect,
    owns: ownership(dialect, options.settings?.owner),
    onChange: (observed) => all.seen(observed, ready),
    readTerminationMessage: async () => "",
  });
  const context: SyncContext = {
    dialect,
    clock,
    log: silentLog,
    runtime,
    cache,
    events: recorder,
    ...(options.podMetrics && { podMetrics: options.podMetrics }),
    images: images({
      runtime,
      clock,
      events: recorder,
      queue: pullQueue({ clock, atOnce: 1, perSecond: 0, burst: 0 }),
      backOff: backOff({ clock, firstMilliseconds: 10_000, longestMilliseconds: 300_000 }),
      dialect,
    }),
    volumes: { ...fakeVolumes(folder, dialect), refresh: async (pod) => options.onRefresh?.(uidOf(pod)) },
    cgroups: {
      ensure: async (pod) => {
        if (options.cgroupError) throw new Error(options.cgroupError);
        const qos = qosClass(pod);
        return `${options.cgroupRoot ?? ""}/${dialect.data.podsCgroup}${qos === "Guaranteed" ? "" : `/${qos.toLowerCase()}`}/pod${uidOf(pod)}`;
      },
      release: async (uid) => options.onRelease?.(uid),
      podUids: async () => new Set<string>(),
    },
    objects: {
      configMap: (namespace, name) => named(options.configMaps, namespace, name),
      secret: (namespace, name) => named(options.secrets, namespace, name),
      watch: () => undefined,
      forget: () => undefined,
    },
    node,
    probes: probes({
      runtime,
      clock,
      events: recorder,
      node,
      userAgent: "probe",
      onChange: (uid) => all.wake(uid),
    }),
    hooks: hooks({ clock, runtime, userAgent: "lifecycle" }),
    restarts: backOff({ clock, firstMilliseconds: 10_000, longestMilliseconds: 300_000 }),
    files: {
      ...fakeFiles(folder),
      ...(options.folderError && { prepare: () => Promise.reject(options.folderError) }),
    },
    createLimit: limiter({ clock, concurrency: 3 }),
    teardownLimit: limiter({ clock, concurrency: 3 }),
    settings: {
      clusterServers: ["10.0.0.10"],
      clusterDomain: "cluster.local",
      hostDns: () => ({ servers: ["192.0.2.53"], searches: [], options: [] }),
      logFolder: join(folder, "logs"),
      cpu: { quota: true, periodMicroseconds: 100_000 },
      memoryCapacityBytes: 4 * 1024 ** 3,
      hugePageSizes: ["2MB", "1GB"],
      selinux: false,
      dead: { perContainer: 1, total: -1, ageMilliseconds: 0 },
      security: { dialect, seccompDefault: false, seccompFolder: join(folder, "seccomp") },
      ...options.settings,
    },
    services: () => options.services ?? [],
    runtimeHandler: async (name) => {
      if (name === "missing") throw new Error(`RuntimeClass "${name}" not found`);
      return name === "rc1" ? "runc" : name;
    },
    networkError: () => undefined,
    ...options.parts,
  };
  const writer: StatusWriter = {
    write: (pod, status) => {
      const list = statuses.get(uidOf(pod)) ?? statuses.set(uidOf(pod), []).get(uidOf(pod))!;
      if (JSON.stringify(list.at(-1)) !== JSON.stringify(status)) list.push(structuredClone(status));
    },
    settled: async () => undefined,
    restore: () => undefined,
    published: (pod) => statuses.get(uidOf(pod))?.at(-1) ?? pod.status ?? {},
    remove: async (pod) => {
      deleted.push(uidOf(pod));
      options.onDelete?.(uidOf(pod));
      all.drop(uidOf(pod));
    },
    forget: () => undefined,
  };
  const all: PodWorkers = podWorkers({
    context,
    admission: options.admission ?? { admit: () => ({ ok: true }) },
    runtimeName: () => "fake",
    writer,
    mirrorOf: () => undefined,
    syncMilliseconds: 60_000,
    ...(options.podMetrics && { podMetrics: options.podMetrics }),
  });
  const currentPods = new Map<string, Pod>();
  let version = 0;
  const put = (pod: Pod): void => {
    const numbered = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++version) } };
    currentPods.set(uidOf(pod), numbered);
    all.set(numbered);
  };
  const pass = async (seconds: number, relist: () => Promise<void>): Promise<void> => {
    await settled();
    for (let step = 0; step < seconds * 2; step++) {
      await clock.advance(500);
      await settled();
      await relist();
      await settled();
    }
  };
  return {
    clock,
    runtime,
    folder,
    pods: all,
    events,
    statuses,
    deleted,
    status: (uid) => statuses.get(uid)?.at(-1) ?? {},
    run: (given) => {
      const pod = structuredClone(given) as Pod;
      const { configSeen, configSource } = dialect.names.annotations;
      pod.metadata.uid ??= `uid-of-${pod.metadata.name}`;
      pod.metadata.namespace ??= "default";
      pod.metadata.annotations = {
        ...pod.metadata.annotations,
        [configSeen]: "2030-01-01T00:00:00Z",
        [configSource]: pod.metadata.annotations?.[configSource] ?? "api",
      };
      pod.status ??= {};
      completeDefaults(pod);
      put(pod);
      return pod;
    },
    delete: (uid, graceSeconds) => {
      const pod = currentPods.get(uid)!;
      const at = new Date(clock.now()).toISOString();
      put({
        ...pod,
        metadata: {
          ...pod.metadata,
          deletionTimestamp: at,
          deletionGracePeriodSeconds: isDeleted(pod)
            ? Math.min(graceSeconds, pod.metadata.deletionGracePeriodSeconds ?? graceSeconds)
            : graceSeconds,
        },
      });
    },
    listOnce: async () => {
      ready = false;
      await cache.relist();
      ready = true;
    },
    pass: (seconds) => pass(seconds, () => cache.relist()),
    runThroughErrors: (seconds) => pass(seconds, () => cache.relist().catch(() => undefined)),
    reasons: () => events.map(({ reason }) => reason),
    close: () => all.close(),
  };
}

/** Runs `play` on a harness and closes it. */
export async function on(options: HarnessOptions, play: (h: Harness) => Promise<void>): Promise<void> {
  const h = harness(options);
  try {
    await play(h);
  } finally {
    await h.close();
  }
}

/** Fake volumes: they have the paths of real volumes, but nothing is mounted. */
function fakeVolumes(folder: string, dialect: Dialect): SyncContext["volumes"] {
  const kinds = [
    ["emptyDir", "empty-dir"],
    ["configMap", "configmap"],
    ["secret", "secret"],
    ["projected", "projected"],
    ["downwardAPI", "downward-api"],
  ] as const;
  return {
    mount: async (pod) => {
      const found = new Map<string, MountedVolume>();
      for (const volume of pod.spec.volumes ?? []) {
        const kind = kinds.find(([field]) => volume[field]);
        const hostPath =
          volume.hostPath?.path ??
          `${folder}/pods/${uidOf(pod)}/volumes/${dialect.data.labelDomain}~${kind?.[1]}/${volume.name}`;
        found.set(volume.name, {
          hostPath,
          ...(kind && { selinuxRelabel: true }),
          ...(kind && kind[0] !== "emptyDir" && { readOnly: true }),
        });
      }
      return found;
    },
    subPath: async (pod, _volume, { container, index, volumeName }) =>
      `${folder}/pods/${uidOf(pod)}/volume-subpaths/${volumeName}/${container}/${index}`,
    refresh: async () => undefined,
    release: async () => undefined,
  };
}

function fakeFiles(folder: string): PodFiles {
  const made = new Set<string>();
  let messages = 0;
  const folderOf = (podUid: string): string => `${folder}/pods/${podUid}`;
  return {
    podsFolder: `${folder}/pods`,
    folderOf,
    prepare: async (podUid) => void made.add(podUid),
    writeHosts: async (podUid) => `${folderOf(podUid)}/etc-hosts`,
    messageFile: async (podUid, container) =>
      `${folderOf(podUid)}/containers/${container}/${String(++messages).padStart(8, "0")}`,
    remove: async (podUid) => void made.delete(podUid),
    podUids: async () => [...made],
    prepareLogs: async () => undefined,
    lastLog: async () => -1,
    removeLogs: async () => undefined,
    removeLog: async () => undefined,
    removeLogsOf: async () => undefined,
  };
}
