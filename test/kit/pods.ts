// Pods of a test: created on the cluster's node in one namespace and followed by a watch, so that waiting
// needs no requests.
import { randomBytes } from "node:crypto";
import type { CoreEvent, Pod } from "#api";
import { type Draft, informer, kinds } from "#client";
import type { Cluster } from "./cluster.ts";
import { until as eventuallyTrue } from "./until.ts";

/** Some fields of a pod's spec, as in a manifest. */
export type SpecPart = Readonly<Record<string, unknown>>;

/**
 * Fields of a container that exits with this code on SIGTERM. It is ready only once it handles the signal:
 * the first process of a container ignores signals until then. Its pod needs a grace period.
 */
export const endsWhenTold = (code = 0): SpecPart => ({
  command: ["sh", "-c", `trap 'exit ${code}' TERM; touch /tmp/listens; while :; do sleep 0.1; done`],
  readinessProbe: { exec: { command: ["test", "-e", "/tmp/listens"] }, periodSeconds: 1 },
});

const lastWord = "#end";
/**
 * The runtime writes the last output of a container shortly after it reports its exit: `script` appends a
 * marker, and `textOf` returns the output before the marker once it is there.
 */
export const saidWhole = {
  script: (text: string): string => `(${text}); code=$?; echo -n '${lastWord}'; exit $code`,
  textOf: (log: string): { readonly text: string } | undefined =>
    log.endsWith(lastWord) ? { text: log.slice(0, -lastWord.length) } : undefined,
};

export interface PodHome {
  readonly namespace: string;
  readonly image: string;
  /** Creates a pod with defaults for all other fields and returns its name. */
  create(spec: SpecPart, metadata?: SpecPart): Promise<string>;
  /** Creates a pod of one container `c` that runs a shell script once. */
  script(text: string, container?: SpecPart, spec?: SpecPart, metadata?: SpecPart): Promise<string>;
  /** Runs a shell script to its end and returns its output; fails if the script failed. */
  output(text: string, container?: SpecPart, spec?: SpecPart, metadata?: SpecPart): Promise<string>;
  /** Waits until the predicate holds for the pod. */
  until(name: string, what: string, holds: (pod: Pod) => boolean, seconds?: number): Promise<Pod>;
  ready(name: string): Promise<Pod>;
  /** Waits until the phase is Succeeded or Failed. */
  ended(name: string): Promise<Pod>;
  /** Waits until the API server has removed the pod; returns the last version seen. */
  gone(name: string): Promise<Pod>;
  /** Deletes the pod and waits until it is removed; returns the last version seen. */
  remove(name: string, graceSeconds?: number): Promise<Pod>;
  get(name: string): Pod | undefined;
  /** All versions of the pod that were seen. */
  history(name: string): readonly Pod[];
  /** The log of the pod so far. */
  logs(name: string, options?: string): Promise<string>;
  /** Waits until the log equals the text. */
  printed(name: string, text: string, options?: string): Promise<void>;
  /** Runs a command in the pod's container with kubectl. */
  exec(name: string, ...command: readonly string[]): Promise<string>;
  /** Returns the events of the pod; waits until there is one of each reason. */
  events(name: string, ...reasons: readonly string[]): Promise<readonly CoreEvent[]>;
  stop(): void;
}

const patienceSeconds = 120;

export async function podHome(cluster: Cluster): Promise<PodHome> {
  const { client } = cluster;
  const namespace = `test-${randomBytes(3).toString("hex")}`;
  await client.of(kinds.namespaces).create({ metadata: { name: namespace }, spec: {} });
  await furnished(cluster, namespace);
  const stopping = new AbortController();
  const seen = new Map<string, { pods: Pod[]; gone: boolean }>();
  const events: CoreEvent[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  const scope = { namespace };
  const followedPods = informer({
    client: client.of(kinds.pods),
    scope,
    signal: stopping.signal,
    onEvent: ({ type, object }) => {
      const name = object.metadata.name ?? "";
      const known = seen.get(name) ?? { pods: [], gone: false };
      seen.set(name, known);
      known.pods.push(object);
      known.gone = type === "deleted";
      wake();
    },
  });
  const followedEvents = informer({
    client: client.of(kinds.coreEvents),
    scope,
    signal: stopping.signal,
    onEvent: ({ type, object }) => {
      if (type === "deleted") return;
      events.push(object);
      wake();
    },
  });
  const late = AbortSignal.timeout(patienceSeconds * 1000);
  await Promise.race([
    Promise.all([followedPods.synced, followedEvents.synced]),
    new Promise((_, reject) =>
      late.addEventListener("abort", () =>
        reject(new Error(`pods and events of ${namespace} cannot be followed`)),
      ),
    ),
  ]);

  const soon = <T>(what: () => string, look: () => T | undefined, seconds = patienceSeconds): Promise<T> =>
    new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(check);
      };
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        done();
        resolve(found);
      };
      const timer = setTimeout(() => {
        done();
        reject(new Error(`waited ${seconds} s in vain: ${what()}`));
      }, seconds * 1000);
      waiting.add(check);
      check();
    });
  const latest = (name: string): Pod | undefined => seen.get(name)?.pods.at(-1);
  const reported = (name: string): string =>
    JSON.stringify({
      status: latest(name)?.status,
      events: events
        .filter((event) => event.involvedObject?.name === name)
        .map(({ reason, message }) => `${reason}: ${message}`),
    });
  const until: PodHome["until"] = (name, what, holds, seconds) =>
    soon(
      () => `pod ${name} ${what}; it is ${reported(name)}`,
      () => {
        const pod = latest(name);
        return pod && holds(pod) ? pod : undefined;
      },
      seconds,
    );
  const run = async (args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(["-n", namespace, ...args]);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const home: PodHome = {
    namespace,
    image: cluster.containerd.images.busybox,
    create: async (spec, metadata = {}) => {
      const name = `p-${randomBytes(4).toString("hex")}`;
      const fill = (list: unknown): unknown[] =>
        ((list ?? []) as object[]).map((container, at) => ({
          name: at === 0 ? "c" : `c${at + 1}`,
          image: home.image,
          ...container,
        }));
      const filled = {
        nodeName: cluster.nodeName,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        ...spec,
        containers: fill(spec["containers"]),
        ...("initContainers" in spec && {
          initContainers: ((spec["initContainers"] ?? []) as object[]).map((container, at) => ({
            name: `i${at + 1}`,
            image: home.image,
            ...container,
          })),
        }),
      };
      await client
        .of(kinds.pods)
        .create({ metadata: { name, ...metadata }, spec: filled } as unknown as Draft<Pod>, { namespace });
      return (metadata["name"] as string | undefined) ?? name;
    },
    script: (text, container = {}, spec = {}, metadata = {}) =>
      home.create(
        { restartPolicy: "Never", ...spec, containers: [{ command: ["sh", "-c", text], ...container }] },
        metadata,
      ),
    output: async (text, container, spec, metadata) => {
      const name = await home.script(saidWhole.script(text), container, spec, metadata);
      const pod = await home.ended(name);
      const printed = await eventuallyTrue(`${name} has said everything; it is ${reported(name)}`, async () =>
        saidWhole.textOf(await home.logs(name, "container=c")),
      );
      if (pod.status?.phase !== "Succeeded")
        throw new Error(`the script failed: ${printed.text}; ${reported(name)}`);
      return printed.text;
    },
    until,
    ready: (name) =>
      until(
        name,
        "becomes ready",
        (pod) =>
          pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
      ),
    ended: (name) => until(name, "ends", (pod) => ["Succeeded", "Failed"].includes(pod.status?.phase ?? "")),
    gone: (name) =>
      soon(
        () => `pod ${name} goes; it is ${reported(name)}`,
        () => (seen.get(name)?.gone ? latest(name) : undefined),
      ),
    remove: async (name, graceSeconds) => {
      await client
        .of(kinds.pods)
        .delete(name, { namespace, ...(graceSeconds !== undefined && { graceSeconds }) });
      return await home.gone(name);
    },
    get: latest,
    history: (name) => seen.get(name)?.pods ?? [],
    logs: async (name, options = "") => {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${options}`;
      const { status, body } = await cluster.apiserver.call("GET", path);
      if (status !== 200) throw new Error(`logs of ${name}: ${status} ${body}`);
      return body;
    },
    printed: async (name, text, options) => {
      const last = async (): Promise<string> => JSON.stringify(await home.logs(name, options));
      await eventuallyTrue(
        async () => `${name} has printed ${JSON.stringify(text)}; it has printed ${await last()}`,
        async () => (await home.logs(name, options)) === text,
      );
    },
    exec: (name, ...command) => run(["exec", name, "-c", "c", "--", ...command]),
    events: async (name, ...reasons) => {
      const of = (): CoreEvent[] => events.filter((event) => event.involvedObject?.name === name);
      return await soon(
        () => `pod ${name} gets events ${reasons.join(", ")}; it is ${reported(name)}`,
        () => (reasons.every((reason) => of().some((event) => event.reason === reason)) ? of() : undefined),
      );
    },
    stop: () => stopping.abort(),
  };
  return home;
}

async function furnished({ client, dialect }: Cluster, namespace: string): Promise<void> {
  await eventuallyTrue(`namespace ${namespace} has its service account`, () =>
    Promise.all([
      client.of(kinds.serviceAccounts).get("default", { namespace }),
      client.of(kinds.configMaps).get(dialect.names.objects.rootCaConfigMap, { namespace }),
    ]).catch(() => undefined),
  );
}
