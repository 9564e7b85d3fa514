// Pods on a real runtime: lifecycle, restarts, probes, hooks and termination. Both dialects; all tests of one
// dialect share a cluster and run concurrently.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ContainerStatus, Pod } from "#api";
import { kinds } from "#client";
import {
  type Cluster,
  endsWhenTold,
  follow,
  killedForMemory,
  needsCluster,
  type PodHome,
  podHome,
  type SpecPart,
  startCluster,
} from "#kit";

const atOnce = 8;
const dialects = ["orch", "kubernetes"] as const;
const statusOf = (pod: Pod, name = "c"): ContainerStatus | undefined =>
  [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.ephemeralContainerStatuses ?? []),
  ].find((status) => status.name === name);
const conditionOf = (pod: Pod, wanted: string) => pod.status?.conditions?.find(({ type }) => type === wanted);
const states = (history: readonly Pod[], name = "c"): string[] => {
  const seen = history.flatMap((pod) => {
    const state = statusOf(pod, name)?.state;
    return state
      ? [
          state.running
            ? "running"
            : state.waiting
              ? `waiting ${state.waiting.reason}`
              : `ended ${state.terminated?.exitCode}`,
        ]
      : [];
  });
  return seen.filter((state, at) => state !== seen[at - 1]);
};
const forever = "trap 'exit 0' TERM; while :; do sleep 0.1; done";
/** A probe with a generous timeout for a slow runtime: the default is a second. */
const patient = (command: string): SpecPart => ({
  exec: { command: ["sh", "-c", command] },
  periodSeconds: 1,
  timeoutSeconds: 60,
});

for (const name of dialects) {
  describe(`pods, dialect ${name}`, { concurrency: atOnce, ...needsCluster() }, () => {
    let cluster: Cluster;
    let home: PodHome;
    before(async () => {
      cluster = await startCluster({ dialect: name });
      home = await podHome(cluster);
    });
    after(async () => {
      home?.stop();
      await cluster?.stop();
    });

    test("a pod changes from Pending to Running and Ready, with addresses, times and conditions", async () => {
      const pod = await home.ready(await home.script(forever));
      const { status } = pod;
      assert.equal(status?.phase, "Running");
      assert.equal(status?.hostIP, cluster.nodeIp);
      assert.match(status?.podIP ?? "", /^10\./);
      assert.deepEqual(status?.podIPs, [{ ip: status?.podIP }]);
      assert.equal(status?.qosClass, "BestEffort");
      assert.deepEqual(
        status?.conditions?.map((condition) => `${condition.type} ${condition.status}`).toSorted(),
        ["ContainersReady True", "Initialized True", "PodScheduled True", "Ready True"],
      );
      const container = statusOf(pod);
      assert.equal(container?.started, true);
      assert.match(container?.containerID ?? "", /^containerd:\/\/[0-9a-f]{64}$/);
      assert.match(container?.imageID ?? "", /@sha256:[0-9a-f]{64}$/);
      const phases = home.history(pod.metadata.name ?? "").map((seen) => seen.status?.phase);
      assert.deepEqual([...new Set(phases)], ["Pending", "Running"]);
      const reasons = (await home.events(pod.metadata.name ?? "", "Pulled", "Created", "Started")).map(
        ({ reason }) => reason,
      );
      assert.deepEqual(reasons, ["Pulled", "Created", "Started"]);
    });

    test("a pod that exits 0 under Never or OnFailure is Succeeded, one that fails under Never is Failed", async () => {
      const cases: [policy: string, code: number, phase: string, reason: string][] = [
        ["Never", 0, "Succeeded", "Completed"],
        ["OnFailure", 0, "Succeeded", "Completed"],
        ["Never", 3, "Failed", "Error"],
      ];
      for (const [restartPolicy, code, phase, reason] of cases) {
        const pod = await home.ended(await home.script(`exit ${code}`, {}, { restartPolicy }));
        assert.equal(pod.status?.phase, phase);
        const ended = statusOf(pod)?.state.terminated;
        assert.deepEqual([ended?.exitCode, ended?.reason, statusOf(pod)?.restartCount], [code, reason, 0]);
        assert.equal(conditionOf(pod, "Ready")?.reason, phase === "Succeeded" ? "PodCompleted" : "PodFailed");
      }
    });

    test("under Always an exited container restarts with increasing back-off", async () => {
      const pod = await home.script("sleep 0.2; exit 1", {}, { restartPolicy: "Always" });
      const back = await home.until(
        pod,
        "backs off",
        (seen) => statusOf(seen)?.state.waiting?.reason === "CrashLoopBackOff",
      );
      assert.equal(statusOf(back)?.lastState.terminated?.exitCode, 1);
      assert.match(
        statusOf(back)?.state.waiting?.message ?? "",
        /^back-off 10s restarting failed container=c pod=/,
      );
      assert.equal(back.status?.phase, "Running");
      await home.events(pod, "BackOff");
      const again = await home.until(pod, "restarts", (seen) => (statusOf(seen)?.restartCount ?? 0) >= 2);
      assert.equal(again.status?.phase, "Running");
    });

    test("under OnFailure a container restarts until it exits with 0", async () => {
      const pod = await home.script(
        "[ -e /d/x ] && exit 0; touch /d/x; exit 1",
        { volumeMounts: [{ name: "d", mountPath: "/d" }] },
        { restartPolicy: "OnFailure", volumes: [{ name: "d", emptyDir: {} }] },
      );
      const ended = await home.ended(pod);
      assert.deepEqual([ended.status?.phase, statusOf(ended)?.restartCount], ["Succeeded", 1]);
    });

    test("init containers run one after the other, before the others", async () => {
      const mount = { volumeMounts: [{ name: "d", mountPath: "/d" }] };
      const step = (text: string) => ({ command: ["sh", "-c", `echo ${text} >> /d/order`], ...mount });
      const pod = await home.script("cat /d/order", mount, {
        initContainers: [step("one"), step("two")],
        volumes: [{ name: "d", emptyDir: {} }],
      });
      const ended = await home.ended(pod);
      await home.printed(pod, "one\ntwo\n", "container=c");
      assert.equal(statusOf(ended, "i1")?.state.terminated?.reason, "Completed");
      assert.equal(statusOf(ended, "i2")?.ready, true);
      assert.equal(
        home
          .history(pod)
          .some((seen) => conditionOf(seen, "Initialized")?.reason === "ContainersNotInitialized"),
        true,
      );
    });

    test("an init container that fails under Never fails the pod; the rest never starts", async () => {
      const ended = await home.ended(
        await home.script("echo never", {}, { initContainers: [{ command: ["sh", "-c", "exit 7"] }] }),
      );
      assert.equal(ended.status?.phase, "Failed");
      assert.equal(statusOf(ended, "i1")?.state.terminated?.exitCode, 7);
      assert.equal(statusOf(ended)?.state.waiting?.reason, "PodInitializing");
    });

    test("two containers share the network; one that ends leaves the other running and the pod unready", async () => {
      const pod = await home.create({
        restartPolicy: "Never",
        containers: [
          { command: ["sh", "-c", "echo hi | nc -l -p 8080; sleep 600"] },
          { name: "b", command: ["sh", "-c", "until nc 127.0.0.1 8080 </dev/null; do sleep 0.1; done"] },
        ],
      });
      const seen = await home.until(
        pod,
        "has one ended",
        (now) => statusOf(now, "b")?.state.terminated !== undefined,
      );
      await home.printed(pod, "hi\n", "container=b");
      const settled = await home.until(
        pod,
        "is unready",
        (now) =>
          conditionOf(now, "Ready")?.status === "False" && statusOf(now, "b")?.state.terminated !== undefined,
      );
      assert.equal(settled.status?.phase, "Running");
      assert.equal(conditionOf(settled, "Ready")?.message, "containers with unready status: [b]");
      assert.equal(statusOf(seen)?.restartCount, 0);
    });

    test("a readiness probe makes a pod ready, unready and ready again without restarting it", async () => {
      const pod = await home.script(forever, {
        readinessProbe: { exec: { command: ["ls", "/tmp/up"] }, periodSeconds: 1, failureThreshold: 1 },
      });
      await home.until(pod, "runs", (seen) => statusOf(seen)?.state.running !== undefined);
      assert.equal(conditionOf(home.get(pod)!, "Ready")?.status, "False");
      await home.exec(pod, "touch", "/tmp/up");
      await home.ready(pod);
      await home.exec(pod, "rm", "/tmp/up");
      const unready = await home.until(
        pod,
        "is unready again",
        (seen) => conditionOf(seen, "Ready")?.status === "False",
      );
      assert.equal(statusOf(unready)?.restartCount, 0);
      const unhealthy = (await home.events(pod, "Unhealthy")).find(({ reason }) => reason === "Unhealthy");
      assert.match(unhealthy?.message ?? "", /^Readiness probe failed: /);
    });

    test("a liveness probe that fails restarts the container", async () => {
      const { command, readinessProbe } = endsWhenTold();
      const livenessProbe = { ...patient("! test -e /tmp/ill"), failureThreshold: 1 };
      const pod = await home.create({
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 60,
        containers: [{ command, readinessProbe, livenessProbe }],
      });
      await home.ready(pod);
      await home.exec(pod, "touch", "/tmp/ill");
      const again = await home.until(
        pod,
        "restarts",
        (seen) => statusOf(seen)?.restartCount === 1 && statusOf(seen)?.state.running !== undefined,
      );
      assert.equal(statusOf(again)?.lastState.terminated?.exitCode, 0);
      const killing = (await home.events(pod, "Killing")).find(({ reason }) => reason === "Killing");
      assert.equal(killing?.message, "Container c failed liveness probe, will be restarted");
    });

    test("the other probes wait until the startup probe succeeds", async () => {
      const pod = await home.script(forever, {
        startupProbe: { ...patient("ls /tmp/up"), failureThreshold: 1000 },
        livenessProbe: { ...patient("ls /tmp/up"), failureThreshold: 1 },
      });
      await home.until(
        pod,
        "runs and has not started",
        (seen) => statusOf(seen)?.state.running !== undefined && statusOf(seen)?.started === false,
      );
      await home.events(pod, "Unhealthy");
      await home.exec(pod, "touch", "/tmp/up");
      const ready = await home.ready(pod);
      assert.equal(statusOf(ready)?.restartCount, 0);
    });

    test("HTTP and TCP probes reach the pod's own address", async () => {
      const server = "while :; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\n' | nc -l -p 8080 >/dev/null; done";
      const http = await home.script(server, {
        ports: [{ name: "web", containerPort: 8080 }],
        readinessProbe: { httpGet: { path: "/x", port: "web" }, periodSeconds: 1 },
      });
      const tcp = await home.script(server, {
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
      });
      const closed = await home.script(forever, {
        readinessProbe: { tcpSocket: { port: 8081 }, periodSeconds: 1, timeoutSeconds: 60 },
      });
      await Promise.all([home.ready(http), home.ready(tcp)]);
      const [event] = (await home.events(closed, "Unhealthy")).filter(({ reason }) => reason === "Unhealthy");
      assert.match(event?.message ?? "", /connection refused/);
    });

    test("a pod with a readiness gate is not ready until the condition is set", async () => {
      const pod = await home.script(forever, {}, { readinessGates: [{ conditionType: "example.com/go" }] });
      const held = await home.until(
        pod,
        "has ready containers",
        (seen) => conditionOf(seen, "ContainersReady")?.status === "True",
      );
      assert.equal(conditionOf(held, "Ready")?.reason, "ReadinessGatesNotReady");
      await cluster.client
        .of(kinds.pods)
        .patch(
          pod,
          "strategic",
          { status: { conditions: [{ type: "example.com/go", status: "True" }] } },
          { namespace: home.namespace, subresource: "status" },
        );
      const ready = await home.ready(pod);
      assert.equal(conditionOf(ready, "example.com/go")?.status, "True");
    });

    test("postStart runs before the pod is ready; one that fails restarts the container", async () => {
      const good = await home.script(`until [ -e /tmp/hook ]; do sleep 0.1; done; ${forever}`, {
        lifecycle: { postStart: { exec: { command: ["touch", "/tmp/hook"] } } },
      });
      await home.ready(good);
      assert.equal(await home.exec(good, "ls", "/tmp/hook"), "/tmp/hook\n");
      const bad = await home.script(
        forever,
        { lifecycle: { postStart: { exec: { command: ["sh", "-c", "exit 9"] } } } },
        { restartPolicy: "Always" },
      );
      await home.until(
        bad,
        "reports the hook",
        (seen) =>
          statusOf(seen)?.state.waiting?.reason === "PostStartHookError" ||
          statusOf(seen)?.state.waiting?.reason === "CrashLoopBackOff",
      );
      await home.events(bad, "FailedPostStartHook");
    });

    test("preStop completes before the container receives SIGTERM", async () => {
      const pod = await home.script(
        "trap 'echo term; exit 0' TERM; echo listens; while :; do sleep 0.1; done",
        { lifecycle: { preStop: { exec: { command: ["sh", "-c", "sleep 1; echo hook > /proc/1/fd/1"] } } } },
        { terminationGracePeriodSeconds: 60 },
      );
      await home.ready(pod);
      await using log = follow(cluster.apiserver.kubeconfig, ["-n", home.namespace, "logs", "-f", pod]);
      await log.until("listens\n");
      await home.remove(pod);
      assert.match(await log.until("term\n"), /hook\nterm\n$/);
    });

    test("a container that ignores the signal is killed after its grace period", async () => {
      const pod = await home.script(
        "trap '' TERM; while :; do sleep 0.1; done",
        {},
        { terminationGracePeriodSeconds: 2 },
      );
      await home.ready(pod);
      const began = Date.now();
      const last = await home.remove(pod);
      assert.ok(Date.now() - began >= 1900, "it was given its time");
      assert.equal(statusOf(last)?.state.terminated?.exitCode, 137);
      await home.events(pod, "Killing");
    });

    test("a second deletion shortens the grace period of the first", async () => {
      const pod = await home.script(
        "trap '' TERM; while :; do sleep 0.1; done",
        {},
        { terminationGracePeriodSeconds: 600 },
      );
      await home.ready(pod);
      await cluster.client.of(kinds.pods).delete(pod, { namespace: home.namespace });
      await home.until(pod, "is being deleted", (seen) => seen.metadata.deletionTimestamp !== undefined);
      await home.remove(pod, 1);
    });

    test("a finalizer keeps the object after its containers have exited", async () => {
      const pod = await home.create(
        { restartPolicy: "Never", terminationGracePeriodSeconds: 60, containers: [endsWhenTold()] },
        { finalizers: ["example.com/hold"] },
      );
      await home.ready(pod);
      await cluster.client.of(kinds.pods).delete(pod, { namespace: home.namespace });
      const held = await home.until(
        pod,
        "has ended",
        (seen) =>
          statusOf(seen)?.state.terminated !== undefined && seen.metadata.deletionTimestamp !== undefined,
      );
      assert.equal(held.status?.phase, "Succeeded");
      await cluster.client
        .of(kinds.pods)
        .patch(pod, "merge", { metadata: { finalizers: null } }, { namespace: home.namespace });
      await home.gone(pod);
    });

    test("a pod is terminated at its deadline", async () => {
      const ended = await home.ended(await home.script(forever, {}, { activeDeadlineSeconds: 2 }));
      assert.deepEqual([ended.status?.phase, ended.status?.reason], ["Failed", "DeadlineExceeded"]);
    });

    test("the termination message comes from its file, or from the log of a failed container", async () => {
      const file = await home.ended(await home.script("echo -n bye > /dev/termination-log"));
      assert.equal(statusOf(file)?.state.terminated?.message, "bye");
      const log = await home.ended(
        await home.script("echo last words; exit 1", { terminationMessagePolicy: "FallbackToLogsOnError" }),
      );
      assert.equal(statusOf(log)?.state.terminated?.message, "last words\n");
    });

    test("a container over its memory limit is reported as OOMKilled", async () => {
      const pod = await killedForMemory(home, "16Mi");
      assert.equal(statusOf(pod)?.state.terminated?.exitCode, 137);
    });

    test("an ephemeral container joins a running pod", async () => {
      const pod = await home.script(forever, {}, { shareProcessNamespace: true });
      await home.ready(pod);
      const ephemeral = {
        ephemeralContainers: [
          {
            name: "debug",
            image: home.image,
            command: ["sh", "-c", "ps | grep -q '[e]xit 0'"],
            targetContainerName: "c",
          },
        ],
      };
      await cluster.client
        .of(kinds.pods)
        .patch(
          pod,
          "strategic",
          { spec: ephemeral },
          { namespace: home.namespace, subresource: "ephemeralcontainers" },
        );
      const seen = await home.until(
        pod,
        "has run it",
        (now) => statusOf(now, "debug")?.state.terminated !== undefined,
      );
      assert.equal(statusOf(seen, "debug")?.state.terminated?.exitCode, 0, "it sees the other's process");
      assert.equal(seen.status?.phase, "Running");
    });

    test("a missing image is reported according to its pull policy, with its name and back-off", async () => {
      const never = await home.script("true", {
        image: `${cluster.containerd.registry.host}/absent:1`,
        imagePullPolicy: "Never",
      });
      await home.until(
        never,
        "tells why",
        (seen) => statusOf(seen)?.state.waiting?.reason === "ErrImageNeverPull",
      );
      const missing = await home.script("true", { image: `${cluster.containerd.registry.host}/absent:2` });
      await home.until(missing, "failed to pull", (seen) =>
        ["ErrImagePull", "ImagePullBackOff"].includes(statusOf(seen)?.state.waiting?.reason ?? ""),
      );
      await home.events(missing, "Pulling", "Failed", "BackOff");
      const bad = await home.script("true", { image: "UPPER CASE" });
      await home.until(
        bad,
        "reports the name",
        (seen) => statusOf(seen)?.state.waiting?.reason === "InvalidImageName",
      );
    });

    test("an image from a protected registry is pulled with the pod's image pull secret", async () => {
      const { registry } = cluster.containerd;
      const image = await registry.add("locked:1", { command: ["/bin/sh"] });
      const auth = Buffer.from("me:secret").toString("base64");
      const config = JSON.stringify({ auths: { [registry.host]: { auth } } });
      const type = name === "orch" ? "orch.io/dockerconfigjson" : "kubernetes.io/dockerconfigjson";
      await cluster.client.of(kinds.secrets).create(
        {
          metadata: { name: "pull" },
          type,
          data: { ".dockerconfigjson": Buffer.from(config).toString("base64") },
        },
        { namespace: home.namespace },
      );
      registry.protect({ username: "me", password: "secret" });
      try {
        const pod = await home.script(
          "echo in",
          { image, imagePullPolicy: "Always" },
          { imagePullSecrets: [{ name: "pull" }] },
        );
        assert.equal((await home.ended(pod)).status?.phase, "Succeeded");
      } finally {
        registry.protect(undefined);
      }
    });

    test("a changed label reaches the pod without a restart", async () => {
      const pod = await home.script(forever);
      const before_ = statusOf(await home.ready(pod))?.containerID;
      await cluster.client
        .of(kinds.pods)
        .patch(pod, "merge", { metadata: { labels: { a: "b" } } }, { namespace: home.namespace });
      const after_ = await home.until(pod, "has the label", (seen) => seen.metadata.labels?.["a"] === "b");
      assert.deepEqual([statusOf(after_)?.containerID, statusOf(after_)?.restartCount], [before_, 0]);
      assert.deepEqual(
        states(home.history(pod)).filter((state) => !state.startsWith("waiting")),
        ["running"],
      );
    });

    test("a pod that does not fit is rejected with a reason", async () => {
      const cases: [reason: string, spec: SpecPart, container: SpecPart][] = [
        ["OutOfcpu", {}, { resources: { requests: { cpu: "1000" } } }],
        ["OutOfmemory", {}, { resources: { requests: { memory: "1000Ti" } } }],
        ["NodeAffinity", { nodeSelector: { no: "such" } }, {}],
        ["SysctlForbidden", { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }, {}],
      ];
      for (const [reason, spec, container] of cases) {
        const pod = await home.script("true", container, spec);
        const ended = await home.ended(pod);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ["Failed", reason]);
        await home.events(pod, reason);
      }
    });

    test("of two pods with the same host port the second is rejected", async () => {
      const port = { ports: [{ containerPort: 80, hostPort: 24990 }] };
      await home.ready(await home.script(forever, port));
      const ended = await home.ended(await home.script(forever, port));
      assert.equal(ended.status?.reason, "NodePorts");
    });
  });
}
