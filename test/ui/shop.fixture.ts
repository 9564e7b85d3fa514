// A small cluster to display: a shop whose new version cannot be pulled, a job without a node, and another,
// quiet namespace. All objects are written through the API, as controllers and agents would.
import { type RunningServer, startServer } from "#apiserver";
import type { DialectName } from "#dialect";

type Json = Record<string, unknown>;

export interface Shop extends AsyncDisposable {
  readonly server: RunningServer;
  readonly url: string;
  readonly adminToken: string;
  /** A token that may read the namespace shop only. */
  readonly viewerToken: string;
  /** Writes an object and returns it. */
  create(path: string, object: Json): Promise<Json>;
  remove(path: string): Promise<void>;
  /** Reports an event about an object, dated the given number of milliseconds ago. */
  report(object: Json, event: ReportedEvent): Promise<void>;
  readonly pods: readonly Json[];
}

export interface ReportedEvent {
  readonly reason: string;
  readonly message: string;
  readonly type?: "Normal" | "Warning";
  readonly ago?: number;
  readonly count?: number;
}

const minute = 60_000;

export async function openShop(dialect: DialectName = "orch", flags: readonly string[] = []): Promise<Shop> {
  const server = await startServer({ store: "memory", dialect, port: 0, flags });
  const suffix = dialect === "orch" ? "orch.io" : "k8s.io";
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const reply = await server.inject({
      method,
      path,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await reply.json()) as Json;
    if (reply.status > 299) throw new Error(`${method} ${path}: ${String(answer["message"])}`);
    return answer;
  };
  const create = (path: string, object: Json): Promise<Json> => call("POST", path, object);
  const metaOf = (object: Json): Json => object["metadata"] as Json;
  let events = 0;
  const report = async (
    object: Json,
    { reason, message, type = "Normal", ago = 0, count = 1 }: ReportedEvent,
  ) => {
    const { name, namespace = "default", uid } = metaOf(object) as Record<string, string>;
    const time = (milliseconds: number): string =>
      new Date(Date.now() - milliseconds).toISOString().replace(/\.\d+Z/, "Z");
    await create(`/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: `event-${++events}`, namespace },
      involvedObject: {
        kind: object["kind"],
        apiVersion: object["apiVersion"],
        name,
        namespace: metaOf(object)["namespace"],
        uid,
      },
      reason,
      message,
      type,
      count,
      firstTimestamp: time(ago),
      lastTimestamp: time(count > 1 ? ago / 3 : ago),
      source: { component: "agent", host: "node-1" },
    });
  };
  const owned = (owner: Json): Json => ({
    ownerReferences: [
      {
        apiVersion: owner["apiVersion"],
        kind: owner["kind"],
        name: metaOf(owner)["name"],
        uid: metaOf(owner)["uid"],
        controller: true,
      },
    ],
  });
  const template = (image: string): Json => ({
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "app", image }] },
  });
  const selector = { matchLabels: { app: "web" } };
  const replicaSet = async (name: string, owner: Json, image: string): Promise<Json> =>
    await create("/apis/apps/v1/namespaces/shop/replicasets", {
      metadata: { name, ...owned(owner), labels: { app: "web" } },
      spec: { replicas: 2, selector, template: template(image) },
    });
  const pod = async (name: string, owner: Json | undefined, image: string, status: Json): Promise<Json> => {
    const made = await create("/api/v1/namespaces/shop/pods", {
      metadata: { name, labels: { app: "web" }, ...(owner && owned(owner)) },
      spec: {
        containers: [{ name: "app", image }],
        ...(status["phase"] === "Pending" && !owner ? {} : { nodeName: "node-1" }),
      },
    });
    await call("PUT", `/api/v1/namespaces/shop/pods/${name}/status`, { ...made, status });
    return made;
  };

  await create("/api/v1/namespaces", { metadata: { name: "shop" } });
  await create("/api/v1/namespaces", { metadata: { name: "quiet" } });
  for (const namespace of ["shop", "quiet"])
    await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "default" } }).catch(
      () => undefined,
    );
  const node = await create("/api/v1/nodes", { metadata: { name: "node-1" } });
  await call("PUT", "/api/v1/nodes/node-1/status", {
    ...node,
    status: {
      capacity: { cpu: "4", memory: "8Gi", pods: "110" },
      allocatable: { cpu: "3800m", memory: "7Gi", pods: "110" },
      conditions: [
        { type: "Ready", status: "True", reason: "AgentReady", message: "ready" },
        { type: "MemoryPressure", status: "False" },
      ],
    },
  });
  await report(node, { reason: "Starting", message: "Starting node agent.", ago: 50 * minute });
  await report(node, { reason: "NodeReady", message: "Node node-1 is ready", ago: 49 * minute });
  const web = await create("/apis/apps/v1/namespaces/shop/deployments", {
    metadata: { name: "web", labels: { app: "web" } },
    spec: { replicas: 2, selector, template: template("registry.test/web:1.4") },
  });
  await call("PUT", "/apis/apps/v1/namespaces/shop/deployments/web", {
    ...web,
    spec: { ...(web["spec"] as Json), template: template("registry.test/web:1.5") },
  });
  const [good, bad] = [
    await replicaSet("web-5d4f", web, "registry.test/web:1.4"),
    await replicaSet("web-7c9b", web, "registry.test/web:1.5"),
  ];
  const running = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [
      { name: "app", ready: true, restartCount: 0, image: "", imageID: "", state: { running: {} } },
    ],
  };
  const pulling = {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "True" }],
    containerStatuses: [
      {
        name: "app",
        ready: false,
        restartCount: 0,
        image: "",
        imageID: "",
        state: {
          waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "registry.test/web:1.5"' },
        },
      },
    ],
  };
  const pods = [
    await pod("web-5d4f-a1", good, "registry.test/web:1.4", running),
    await pod("web-5d4f-b2", good, "registry.test/web:1.4", running),
    await pod("web-7c9b-c3", bad, "registry.test/web:1.5", pulling),
    await pod("report", undefined, "registry.test/report:2", {
      phase: "Pending",
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
          message: "0/1 nodes are available: 1 Insufficient memory.",
        },
      ],
    }),
    await pod("worker", undefined, "registry.test/worker:3", {
      phase: "Running",
      containerStatuses: [
        {
          name: "app",
          ready: false,
          restartCount: 7,
          image: "",
          imageID: "",
          state: {
            waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" },
          },
          lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
        },
      ],
    }),
    await pod("batch", undefined, "registry.test/batch:1", {
      phase: "Failed",
      reason: "Evicted",
      message: "The node was low on resource: memory.",
    }),
  ];
  await report(web, {
    reason: "ScalingReplicaSet",
    message: "Scaled up replica set web-5d4f to 2",
    ago: 41 * minute,
  });
  await report(good, { reason: "SuccessfulCreate", message: "Created pod: web-5d4f-a1", ago: 41 * minute });
  for (const [at, each] of pods.slice(0, 2).entries()) {
    await report(each, {
      reason: "Scheduled",
      message: "Successfully assigned shop/web to node-1",
      ago: (40 - at) * minute,
    });
    await report(each, {
      reason: "Pulled",
      message: 'Successfully pulled image "registry.test/web:1.4" in 1.2s',
      ago: (39 - at) * minute,
    });
    await report(each, { reason: "Started", message: "Started container app", ago: (38 - at) * minute });
  }
  await report(pods[0]!, {
    reason: "Unhealthy",
    message: "Readiness probe failed: HTTP probe failed with statuscode: 503",
    type: "Warning",
    ago: 12 * minute,
    count: 4,
  });
  await report(web, {
    reason: "ScalingReplicaSet",
    message: "Scaled up replica set web-7c9b to 1",
    ago: 9 * minute,
  });
  await report(bad, { reason: "SuccessfulCreate", message: "Created pod: web-7c9b-c3", ago: 9 * minute });
  await report(pods[2]!, {
    reason: "Scheduled",
    message: "Successfully assigned shop/web-7c9b-c3 to node-1",
    ago: 9 * minute,
  });
  await report(pods[2]!, {
    reason: "Pulling",
    message: 'Pulling image "registry.test/web:1.5"',
    ago: 8.5 * minute,
    count: 4,
  });
  await report(pods[2]!, {
    reason: "Failed",
    message: 'Failed to pull image "registry.test/web:1.5": manifest unknown: no such tag',
    type: "Warning",
    ago: 8 * minute,
    count: 4,
  });
  await report(pods[2]!, {
    reason: "BackOff",
    message: 'Back-off pulling image "registry.test/web:1.5"',
    type: "Warning",
    ago: 6 * minute,
    count: 18,
  });
  await report(pods[3]!, {
    reason: "FailedScheduling",
    message: "0/1 nodes are available: 1 Insufficient memory.",
    type: "Warning",
    ago: 4 * minute,
    count: 5,
  });

  await create("/api/v1/namespaces/shop/serviceaccounts", { metadata: { name: "viewer" } });
  const rbac = `/apis/rbac.authorization.${suffix}/v1/namespaces/shop`;
  await create(`${rbac}/roles`, {
    metadata: { name: "viewer" },
    rules: [
      { apiGroups: ["timeline.orch.io"], resources: ["*"], verbs: ["list", "watch"] },
      {
        apiGroups: ["", "apps"],
        resources: ["pods", "pods/log", "deployments", "replicasets"],
        verbs: ["get", "list"],
      },
    ],
  });
  await create(`${rbac}/rolebindings`, {
    metadata: { name: "viewer" },
    roleRef: { apiGroup: `rbac.authorization.${suffix}`, kind: "Role", name: "viewer" },
    subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "shop" }],
  });
  const issued = await create("/api/v1/namespaces/shop/serviceaccounts/viewer/token", { spec: {} });
  return {
    server,
    url: server.url,
    adminToken: server.clientConfig.users[0]!.user.token!,
    viewerToken: (issued["status"] as { token: string }).token,
    create,
    remove: async (path) => void (await call("DELETE", path, { gracePeriodSeconds: 0 })),
    report,
    pods,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
