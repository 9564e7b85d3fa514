// Fields of later releases on real containers: sidecars from start to end, a hook that sleeps, and the event
// of a container that was killed by the OOM killer.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Pod } from "#api";
import { kinds } from "#client";
import {
  type Cluster,
  type PodHome,
  endsWhenTold,
  killedForMemory,
  needsCluster,
  podHome,
  startCluster,
  until,
} from "#kit";

const gates = "--feature-gates=SidecarContainers=true,PodLifecycleSleepAction=true";
const shared = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
const volumes = [{ name: "v", emptyDir: {} }];
const shell = (text: string, more: object = {}): object => ({
  command: ["sh", "-c", text],
  ...shared,
  ...more,
});
/** Runs until SIGTERM, which it records in the shared volume. Ready once it handles the signal. */
const noting = (name: string): object =>
  shell(`trap 'echo ${name} ends >> /v/notes; exit 0' TERM; touch /v/${name}; while :; do sleep 0.1; done`, {
    readinessProbe: { exec: { command: ["test", "-e", `/v/${name}`] }, periodSeconds: 1 },
  });
const asSidecar = (container: object): object => ({ ...container, restartPolicy: "Always" });
const sidecar = (text: string, more: object = {}): object => asSidecar(shell(text, more));
const initOf = ({ status }: Pod, position = 0) => status?.initContainerStatuses?.[position];

describe("fields of later releases", { concurrency: 4, ...needsCluster() }, () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({ apiserverFlags: [gates] });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });

  test("containers start after the startup probe of a sidecar and run alongside it", async () => {
    const name = await home.create({
      volumes,
      restartPolicy: "Never",
      initContainers: [
        sidecar("sleep 1; touch /v/up; while :; do sleep 0.1; done", {
          startupProbe: {
            exec: { command: ["test", "-e", "/v/up"] },
            periodSeconds: 1,
            failureThreshold: 120,
          },
        }),
        shell("test -e /v/up"),
      ],
      containers: [shell("test -e /v/up && sleep 1")],
    });
    const pod = await home.ended(name);
    assert.equal(pod.status?.phase, "Succeeded");
    assert.equal(initOf(pod, 1)?.state.terminated?.exitCode, 0);
    assert.ok(initOf(pod)?.state.terminated, "the sidecar ended with the container");
    assert.ok(
      home.history(name).every((seen) => !initOf(seen, 1)?.state.running || initOf(seen)?.started === true),
      "the init container waited for the sidecar",
    );
  });

  test("a sidecar that exits is restarted while the container keeps running", async () => {
    const name = await home.create({
      volumes,
      restartPolicy: "Never",
      initContainers: [sidecar("test -e /v/once && sleep 100000; touch /v/once; exit 3")],
      containers: [shell("trap 'exit 0' TERM; while :; do sleep 0.1; done")],
    });
    const pod = await home.until(
      name,
      "has its sidecar back",
      (seen) => initOf(seen)?.state.running !== undefined && initOf(seen)!.restartCount === 1,
    );
    assert.equal(initOf(pod)?.lastState.terminated?.exitCode, 3);
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
    await home.remove(name, 1);
  });

  test("sidecars end after the containers, the last one first", async () => {
    const hostPath = { path: `${cluster.folder}/ends`, type: "DirectoryOrCreate" };
    const name = await home.create({
      volumes: [{ name: "v", hostPath }],
      terminationGracePeriodSeconds: 60,
      initContainers: [asSidecar(noting("first")), asSidecar(noting("second"))],
      containers: [noting("main")],
    });
    await home.ready(name);
    await home.remove(name, 60);
    const read = await home.output("cat /v/notes", shared, { volumes: [{ name: "v", hostPath }] });
    assert.equal(read, "main ends\nsecond ends\nfirst ends\n");
  });

  test("a hook that sleeps delays the end of its container", async () => {
    const lifecycle = { preStop: { sleep: { seconds: 3 } } };
    const name = await home.create({
      terminationGracePeriodSeconds: 60,
      containers: [{ ...endsWhenTold(), lifecycle }],
    });
    await home.ready(name);
    const from = Date.now();
    const last = await home.remove(name, 60);
    assert.ok(Date.now() - from >= 3000, "it was not signalled before");
    assert.equal(last.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 0);
  });

  test("a container killed by the OOM killer is reported in an event of the node", async () => {
    const name = (await killedForMemory(home, "32Mi")).metadata.name!;
    const found = await until("the event is written", async () => {
      const { items } = await cluster.client.of(kinds.coreEvents).list();
      return items.find(({ reason, message }) => reason === "OOMKilled" && message?.includes(name));
    });
    assert.equal(found.involvedObject?.kind, "Node");
    assert.match(found.message ?? "", /memory limit 32Mi/);
  });
});
