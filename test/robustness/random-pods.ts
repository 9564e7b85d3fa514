// Pods of every kind that are created and deleted at random on one node, and the state each must reach in the
// end.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "#api";
import { ApiError } from "#base";
import { type Draft, kinds } from "#client";
import type { Cluster, SpecPart } from "#kit";
import type { Chance } from "./chance.ts";

/** The final state of a pod that is left alone. */
export type Fate = "ready" | "Succeeded" | "Failed" | "crashing";

interface PodKind {
  readonly fate: Fate;
  /** Not usable without the plugins of the tests. */
  readonly needsPlugins?: boolean;
  readonly spec: (image: string) => SpecPart;
}

const stays = "trap 'exit 0' TERM; while :; do sleep 0.2; done";
/** Every start appends a line to a file outside of the pod, so that starts can be counted. */
const counted = (container: string, text: string): readonly string[] => [
  "sh",
  "-c",
  `echo . >> /starts/$UID_OF_POD.${container}; ${text}`,
];
const env = [{ name: "UID_OF_POD", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } }];
const starts = { name: "starts", mountPath: "/starts" };
const exec = (text: string): SpecPart => ({ exec: { command: ["sh", "-c", text] } });

const container = (name: string, text: string, more: SpecPart = {}): SpecPart => ({
  name,
  command: counted(name, text),
  env,
  ...more,
  volumeMounts: [starts, ...((more["volumeMounts"] ?? []) as object[])],
});
const pod =
  (containers: readonly SpecPart[], more: SpecPart = {}): ((image: string) => SpecPart) =>
  (image) => {
    const withImage = (one: unknown): object => ({ image, ...(one as object) });
    return {
      terminationGracePeriodSeconds: 2,
      automountServiceAccountToken: false,
      ...more,
      containers: containers.map(withImage),
      ...("initContainers" in more && {
        initContainers: (more["initContainers"] as SpecPart[]).map(withImage),
      }),
    };
  };

const everyVolume = {
  volumes: [
    { name: "disk", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    { name: "map", configMap: { name: "settings" } },
    { name: "secret", secret: { secretName: "hidden" } },
    { name: "facts", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
    {
      name: "all",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: 600 } },
          { configMap: { name: "settings" } },
        ],
      },
    },
  ],
};
const everyMount = [
  ...["disk", "memory", "map", "secret", "facts", "all"].map((name) => ({ name, mountPath: `/${name}` })),
  { name: "map", mountPath: "/one/word", subPath: "word" },
];

// The disk may be full at that moment, which is not a failure of the agent: only the write to it is retried.
const readsAll = "cat /map/word /secret/word /facts/name /all/token /one/word";

export const podKinds: Readonly<Record<string, PodKind>> = {
  plain: { fate: "ready", spec: pod([container("c", stays)]) },
  two: { fate: "ready", spec: pod([container("a", stays), container("b", stays)]) },
  probed: {
    fate: "ready",
    spec: pod([
      container("c", stays, {
        // Probes are slow on a busy machine: only a broken container may fail its probes.
        startupProbe: { ...exec("true"), periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 30 },
        readinessProbe: { ...exec("true"), periodSeconds: 1, timeoutSeconds: 20 },
        livenessProbe: { ...exec("true"), periodSeconds: 1, timeoutSeconds: 20 },
      }),
    ]),
  },
  hooked: {
    fate: "ready",
    spec: pod([
      container("c", stays, { lifecycle: { postStart: exec("touch /began"), preStop: exec("sleep 0.3") } }),
    ]),
  },
  begun: {
    fate: "ready",
    spec: pod(
      [
        container("c", `[ -e /disk/one ] && [ -e /disk/two ] || exit 9; ${stays}`, {
          volumeMounts: [{ name: "disk", mountPath: "/disk" }],
        }),
      ],
      {
        volumes: [{ name: "disk", emptyDir: {} }],
        initContainers: ["one", "two"].map((name) =>
          container(name, `touch /disk/${name}`, { volumeMounts: [{ name: "disk", mountPath: "/disk" }] }),
        ),
      },
    ),
  },
  beside: {
    fate: "ready",
    spec: pod([container("c", stays)], {
      initContainers: [container("helper", stays, { restartPolicy: "Always" }), container("one", "exit 0")],
    }),
  },
  helped: {
    fate: "Succeeded",
    spec: pod([container("c", "sleep 0.5")], {
      restartPolicy: "Never",
      initContainers: [container("helper", stays, { restartPolicy: "Always" })],
    }),
  },
  filled: {
    fate: "ready",
    spec: pod(
      [
        container(
          "c",
          `${readsAll} > /dev/null || exit 9; until ${readsAll} > /disk/read; do sleep 0.2; done; ${stays}`,
          { volumeMounts: everyMount },
        ),
      ],
      everyVolume,
    ),
  },
  ported: {
    fate: "ready",
    spec: pod([container("c", stays, { ports: [{ containerPort: 80, hostPort: 41_099 }] })]),
  },
  done: { fate: "Succeeded", spec: pod([container("c", "sleep 0.5")], { restartPolicy: "OnFailure" }) },
  once: {
    fate: "Succeeded",
    spec: pod([container("c", "sleep 0.3"), container("d", "exit 0")], { restartPolicy: "Never" }),
  },
  failing: { fate: "Failed", spec: pod([container("c", "exit 3")], { restartPolicy: "Never" }) },
  crashing: { fate: "crashing", spec: pod([container("c", "sleep 0.5; exit 4"), container("d", stays)]) },
  driven: {
    fate: "ready",
    needsPlugins: true,
    spec: pod(
      [
        container("c", `[ -e /v/hello ] || exit 9; ${stays}`, {
          volumeMounts: [{ name: "v", mountPath: "/v" }],
        }),
      ],
      { volumes: [{ name: "v", csi: { driver: "bind.example.com" } }] },
    ),
  },
  device: {
    fate: "ready",
    needsPlugins: true,
    spec: pod([container("c", stays, { resources: { limits: { "example.com/dev": "1" } } })]),
  },
  stubborn: { fate: "ready", spec: pod([container("c", "trap '' TERM; while :; do sleep 0.2; done")]) },
};

const usualKinds = Object.keys(podKinds).filter((kind) => !podKinds[kind]!.needsPlugins);

export interface LivingPod {
  readonly kind: string;
  readonly fate: Fate;
  readonly uid: string;
}

export interface RandomPods {
  readonly namespace: string;
  /** The pods that must exist in the end, by name. */
  readonly living: ReadonlyMap<string, LivingPod>;
  /** Names and contents of the manifest files of static pods. */
  readonly files: ReadonlyMap<string, string>;
  /** The UIDs of all pods ever created. */
  readonly uids: ReadonlySet<string>;
  /** Creates this many pods at once, of all kinds in turn. */
  fill(count: number): Promise<void>;
  /** Performs one random change and returns its description. */
  step(): Promise<string>;
  /** Deletes all remaining pods. */
  end(): Promise<void>;
}

export interface RandomPodsOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly chance: Chance;
  /** Maximum number of pods. */
  readonly most: number;
  /** Directory for the lines that starts append. */
  readonly folder: string;
  readonly kinds?: readonly string[];
}

export const secretWord = "hunter2-never-told";
const graces = [undefined, undefined, 0, 1, 3];

export async function randomPods({
  cluster,
  namespace,
  chance,
  most,
  folder,
  kinds: names = usualKinds,
}: RandomPodsOptions): Promise<RandomPods> {
  const { client, agent } = cluster;
  const pods = client.of(kinds.pods);
  const living = new Map<string, LivingPod>();
  const files = new Map<string, string>();
  const uids = new Set<string>();
  let made = 0;
  await client
    .of(kinds.configMaps)
    .create({ metadata: { name: "settings" }, data: { word: "settled" } }, { namespace });
  await client
    .of(kinds.secrets)
    .create(
      { metadata: { name: "hidden" }, data: { word: Buffer.from(secretWord).toString("base64") } },
      { namespace },
    );
  const specOf = (kind: string): SpecPart => {
    const spec = podKinds[kind]!.spec(cluster.containerd.images.busybox);
    return {
      ...spec,
      nodeName: cluster.nodeName,
      volumes: [{ name: "starts", hostPath: { path: folder } }, ...((spec["volumes"] ?? []) as object[])],
    };
  };

  async function create(name: string, kind: string): Promise<string> {
    const draft = { metadata: { name, labels: { kind } }, spec: specOf(kind) } as unknown as Draft<Pod>;
    try {
      const { metadata } = await pods.create(draft, { namespace });
      living.set(name, { kind, fate: podKinds[kind]!.fate, uid: metadata.uid ?? "" });
      uids.add(metadata.uid ?? "");
      return `create ${name}`;
    } catch (error) {
      // The name is still taken by a pod that is terminating.
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
      return `create ${name}: taken`;
    }
  }
  async function remove(name: string): Promise<string> {
    const graceSeconds = chance.one(graces);
    living.delete(name);
    await pods.delete(name, { namespace, ...(graceSeconds !== undefined && { graceSeconds }) });
    return `delete ${name} grace=${graceSeconds ?? "own"}`;
  }
  async function debug(name: string): Promise<string> {
    const { image } = { image: cluster.containerd.images.busybox };
    const ephemeralContainers = [{ name: `e${made++}`, image, command: ["sh", "-c", stays] }];
    await pods.patch(
      name,
      "strategic",
      { spec: { ephemeralContainers } },
      { namespace, subresource: "ephemeralcontainers" },
    );
    return `debug ${name}`;
  }
  async function file(): Promise<string> {
    const name = `static${chance.below(2)}`;
    const path = join(agent.staticPods, `${name}.json`);
    if (files.has(name) && chance.percent(40)) {
      files.delete(name);
      await rm(path);
      return `unlink ${name}`;
    }
    const { nodeName: _, ...spec } = specOf("plain");
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, annotations: { edit: String(made++) } },
      spec,
    });
    files.set(name, text);
    await writeFile(path, text);
    return `write ${name}`;
  }

  return {
    namespace,
    living,
    files,
    uids,
    fill: async (count) => {
      const each = names.filter((kind) => kind !== "ported");
      for (let at = 0; at < count; at++) {
        const kind = each[at % each.length]!;
        await create(`${kind}-n${made++}`, kind);
      }
    },
    step: async () => {
      const existing = [...living.keys()];
      const roll = chance.below(100);
      if (roll < 6) return await file();
      if (existing.length > 0 && roll < 10) {
        const ready = existing.filter((name) => living.get(name)!.fate === "ready");
        if (ready.length > 0) return await debug(chance.one(ready));
      }
      if (existing.length >= most || (existing.length > 2 && roll < 45)) {
        const name = chance.one(existing);
        const { kind } = living.get(name)!;
        const result = await remove(name);
        return chance.percent(30) ? `${result}, ${await create(name, kind)}` : result;
      }
      const kind = chance.one(names);
      // A host port belongs to one pod at a time: schedulers ensure that, and here the fixed name does.
      if (kind === "ported") return await create("ported", kind);
      return await create(`${kind}-${chance.percent(50) ? chance.below(3) : `n${made++}`}`, kind);
    },
    end: async () => {
      for (const name of files.keys()) await rm(join(agent.staticPods, `${name}.json`), { force: true });
      files.clear();
      living.clear();
      const { items } = await pods.list({ namespace });
      const gone = (error: unknown): void => {
        if (!(error instanceof ApiError) || error.code !== 404) throw error;
      };
      for (const { metadata } of items)
        await pods.delete(metadata.name ?? "", { namespace, graceSeconds: 1 }).catch(gone);
    },
  };
}
