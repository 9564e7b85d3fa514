// Volumes of pods on a real runtime: their content in containers, updates while the pod runs, and the cleanup
// after its end.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { Pod } from "#api";
import { kinds } from "#client";
import { type Cluster, needsCluster, startCluster, saidWhole, until } from "#kit";

const run = promisify(execFile);
const namespace = "volumes";
const needed = needsCluster();

describe("volumes of pods", needed, () => {
  let cluster: Cluster;
  let count = 0;
  before(async () => {
    cluster = await startCluster();
    await cluster.client.of(kinds.namespaces).create({ metadata: { name: namespace } });
    await until("the namespace is furnished", () =>
      cluster.client
        .of(kinds.serviceAccounts)
        .get("default", { namespace })
        .then(Boolean, () => false),
    );
  });
  after(() => cluster?.stop());

  const get = (name: string): Promise<Pod | undefined> =>
    cluster.client
      .of(kinds.pods)
      .get(name, { namespace })
      .catch(() => undefined);
  const command = (script: string): object => ({
    image: cluster.containerd.images.busybox,
    command: ["/bin/sh", "-c", script],
  });
  const mounts = (...paths: string[]): object[] =>
    paths.map((mountPath, i) => ({ name: `v${i}`, mountPath }));

  async function create(spec: object, metadata: object = {}): Promise<string> {
    const name = `p${++count}`;
    const whole = {
      nodeName: cluster.nodeName,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      ...spec,
    };
    await cluster.client
      .of(kinds.pods)
      .create({ metadata: { name, ...metadata }, spec: whole } as never, { namespace });
    return name;
  }
  async function logOf(name: string, container = "c"): Promise<string> {
    const { stdout } = await cluster.kubectl(["logs", "-n", namespace, name, "-c", container]);
    return stdout;
  }
  /** The runtime writes the last output of a container shortly after it reports its exit. */
  async function logged(name: string, expected: string): Promise<void> {
    await until(
      async () => `${name} says ${JSON.stringify(expected)}; it says ${JSON.stringify(await logOf(name))}`,
      async () => (await logOf(name)) === expected,
    );
  }
  async function finished(name: string): Promise<Pod> {
    return await until(`${name} ends`, async () => {
      const pod = await get(name);
      return (pod?.status?.phase === "Succeeded" || pod?.status?.phase === "Failed") && pod;
    });
  }
  /** Runs a script to its end with one volume at /v and returns its output. */
  async function printed(script: string, volume: object, spec: object = {}): Promise<string> {
    const name = await create({
      volumes: [{ name: "v0", ...volume }],
      containers: [{ name: "c", ...command(saidWhole.script(script)), volumeMounts: mounts("/v") }],
      ...spec,
    });
    await finished(name);
    return (await until(`${name} has said everything`, async () => saidWhole.textOf(await logOf(name)))).text;
  }
  async function mountProblem(volume: object): Promise<string> {
    const name = await create({
      volumes: [{ name: "v0", ...volume }],
      containers: [{ name: "c", ...command("true"), volumeMounts: mounts("/v") }],
    });
    const event = await until(`${name} has trouble`, async () => {
      const { items } = await cluster.client.of(kinds.coreEvents).list({ namespace });
      return items.find(
        ({ involvedObject, reason }) => involvedObject.name === name && reason === "FailedMount",
      );
    });
    assert.equal((await get(name))?.status?.phase, "Pending");
    await cluster.client.of(kinds.pods).delete(name, { namespace, graceSeconds: 0 });
    return event.message ?? "";
  }

  test("an emptyDir is shared by the containers of a pod, and writable by all users", async () => {
    const name = await create({
      volumes: [{ name: "v0", emptyDir: {} }],
      containers: [
        { name: "a", ...command("echo data > /v/f"), volumeMounts: mounts("/v") },
        {
          name: "c",
          ...command('while [ ! -s /v/f ]; do sleep 0.1; done; cat /v/f; stat -c "%u %g %a" /v'),
          volumeMounts: mounts("/v"),
        },
      ],
    });
    await finished(name);
    await logged(name, "data\n0 0 777\n");
  });

  test("an emptyDir in memory is a tmpfs of its size", async () => {
    assert.equal(
      await printed("grep ' /v ' /proc/mounts | cut -d' ' -f3; df -k /v | tail -1 | awk '{print $2}'", {
        emptyDir: { medium: "Memory", sizeLimit: "8Mi" },
      }),
      "tmpfs\n8192\n",
    );
  });

  test("config maps and secrets become files with their modes", async () => {
    await cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name: "cm" }, data: { a: "1", b: "2" } }, { namespace });
    await cluster.client
      .of(kinds.secrets)
      .create({ metadata: { name: "sec" }, data: { s: Buffer.from("S").toString("base64") } }, { namespace });
    const show = 'for f in /v/*; do echo "$f $(stat -L -c %a $f) $(cat $f)"; done';
    assert.equal(await printed(show, { configMap: { name: "cm" } }), "/v/a 644 1\n/v/b 644 2\n");
    assert.equal(await printed(show, { secret: { secretName: "sec", defaultMode: 0o400 } }), "/v/s 400 S\n");
    assert.equal(
      await printed(show, { configMap: { name: "cm", items: [{ key: "a", path: "x", mode: 0o600 }] } }),
      "/v/x 600 1\n",
    );
    assert.equal(
      await printed("touch /v/new 2>&1 | grep -o 'Read-only'", { configMap: { name: "cm" } }),
      "Read-only\n",
    );
  });

  test("the downward API provides labels and limits", async () => {
    const items = [
      { path: "name", fieldRef: { fieldPath: "metadata.name" } },
      { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
      {
        path: "cpu",
        mode: 0o600,
        resourceFieldRef: { containerName: "c", resource: "limits.cpu", divisor: "1m" },
      },
    ];
    const name = await create(
      {
        volumes: [{ name: "v0", downwardAPI: { items } }],
        containers: [
          {
            name: "c",
            ...command('for f in /v/*; do echo "$f $(stat -L -c %a $f) $(cat $f)"; done'),
            resources: { limits: { cpu: "250m" } },
            volumeMounts: mounts("/v"),
          },
        ],
      },
      { labels: { a: "one", b: "2" } },
    );
    await finished(name);
    await logged(name, `/v/cpu 600 250\n/v/labels 644 a="one"\nb="2"\n/v/name 644 ${name}\n`);
  });

  test("a projected token has its audience", async () => {
    const script = `cut -d. -f2 /v/tok | tr _- /+ | sed "s/$/==/" | base64 -d 2>/dev/null | grep -o '"aud":\\["me"\\]'; stat -L -c %a /v/tok`;
    assert.equal(
      await printed(script, {
        projected: {
          sources: [{ serviceAccountToken: { path: "tok", audience: "me", expirationSeconds: 600 } }],
        },
      }),
      '"aud":["me"]\n644\n',
    );
  });

  test("in a projection later sources take precedence", async () => {
    const sources = [{ configMap: { name: "both-cm" } }, { secret: { name: "both-sec" } }];
    await cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name: "both-cm" }, data: { a: "from cm" } }, { namespace });
    await cluster.client
      .of(kinds.secrets)
      .create(
        { metadata: { name: "both-sec" }, data: { a: Buffer.from("from secret").toString("base64") } },
        { namespace },
      );
    assert.equal(await printed("cat /v/a", { projected: { sources } }), "from secret");
  });

  test("volumes are owned by the pod's fsGroup", async () => {
    const securityContext = { runAsUser: 1000, fsGroup: 2222, supplementalGroups: [3333] };
    assert.equal(
      await printed(
        'stat -c "%g %a" /v; touch /v/f; stat -c "%u %g" /v/f',
        { emptyDir: {} },
        { securityContext },
      ),
      "2222 2777\n1000 2222\n",
    );
    assert.equal(
      await printed('stat -L -c "%g %a" /v/s', { secret: { secretName: "sec" } }, { securityContext }),
      "2222 644\n",
    );
  });

  test("host paths are created or checked according to their type", async () => {
    const folder = join(cluster.folder, "host");
    await mkdir(folder);
    assert.equal(
      await printed('touch /v/f && stat -c "%a %F" /v', {
        hostPath: { path: join(folder, "made"), type: "DirectoryOrCreate" },
      }),
      "755 directory\n",
    );
    assert.equal(
      await printed('stat -c "%F %a" /v', { hostPath: { path: join(folder, "file"), type: "FileOrCreate" } }),
      "regular empty file 644\n",
    );
    assert.equal(
      await printed("[ -c /v ] && echo char", { hostPath: { path: "/dev/null", type: "CharDevice" } }),
      "char\n",
    );
    assert.ok(existsSync(join(folder, "made", "f")), "a directory created for it stays on the host");
    assert.match(
      await mountProblem({ hostPath: { path: "/etc", type: "File" } }),
      /hostPath type check failed: \/etc is not a file/,
    );
  });

  test("a missing config map delays the pod until it exists", async () => {
    const name = await create({
      volumes: [{ name: "v0", configMap: { name: "late" } }],
      containers: [{ name: "c", ...command("cat /v/k"), volumeMounts: mounts("/v") }],
    });
    await until("the failure is reported", async () =>
      (await cluster.client.of(kinds.coreEvents).list({ namespace })).items.some(
        ({ involvedObject, reason }) => involvedObject.name === name && reason === "FailedMount",
      ),
    );
    await cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name: "late" }, data: { k: "at last" } }, { namespace });
    await finished(name);
    await logged(name, "at last");
  });

  test("a change of a config map reaches the running container atomically", async () => {
    await cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name: "live" }, data: { a: "1", b: "1" } }, { namespace });
    const script =
      'cat /v/a /v/b; echo; while [ "$(cat /v/a)" = 1 ]; do sleep 0.1; done; cat /v/a /v/b; echo';
    const name = await create({
      volumes: [{ name: "v0", configMap: { name: "live" } }],
      containers: [{ name: "c", ...command(script), volumeMounts: mounts("/v") }],
    });
    await until("the first look", async () => (await logOf(name).catch(() => "")) === "11\n");
    await cluster.client
      .of(kinds.configMaps)
      .patch("live", "merge", { data: { a: "2", b: "2" } }, { namespace });
    await finished(name);
    await logged(name, "11\n22\n");
  });

  test("subpaths of volumes are bind-mounted, and cannot leave the volume", async () => {
    await cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name: "sub" }, data: { k: "cmval\n" } }, { namespace });
    const name = await create({
      volumes: [
        { name: "v0", emptyDir: {} },
        { name: "v1", configMap: { name: "sub" } },
      ],
      initContainers: [
        {
          name: "i",
          ...command("mkdir -p /v/in/er; echo deep > /v/in/er/f; ln -s /etc /v/l"),
          volumeMounts: mounts("/v"),
        },
      ],
      containers: [
        {
          name: "c",
          ...command("cat /x/f; cat /one; echo new > /mk/f && ls /mk"),
          volumeMounts: [
            { name: "v0", mountPath: "/x", subPath: "in/er" },
            { name: "v1", mountPath: "/one", subPath: "k" },
            { name: "v0", mountPath: "/mk", subPath: "made" },
          ],
        },
      ],
    });
    await finished(name);
    await logged(name, "deep\ncmval\nf\n");
    const bad = await create({
      volumes: [{ name: "v0", emptyDir: {} }],
      initContainers: [{ name: "i", ...command("ln -s /etc /v/l"), volumeMounts: mounts("/v") }],
      containers: [
        { name: "c", ...command("echo no"), volumeMounts: [{ name: "v0", mountPath: "/x", subPath: "l" }] },
      ],
    });
    const waiting = await until("the container is refused", async () => {
      const state = (await get(bad))?.status?.containerStatuses?.[0]?.state?.waiting;
      return state?.message !== undefined && state;
    });
    assert.deepEqual(
      [waiting.reason, waiting.message],
      ["CreateContainerConfigError", 'failed to prepare subPath for volumeMount "v0" of container "c"'],
    );
    await cluster.client.of(kinds.pods).delete(bad, { namespace });
  });

  /** Creates a claim on a local path, bound as a controller would bind it. */
  async function claimOn(path: string, name: string, volumeMode: "Filesystem" | "Block"): Promise<void> {
    const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    const size = { storage: "1Mi" };
    const claim = (await cluster.client.request("POST", claims, {
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: size },
        volumeName: name,
        volumeMode,
        storageClassName: "",
      },
    })) as { metadata: { uid: string } };
    await cluster.client.request("POST", "/api/v1/persistentvolumes", {
      metadata: { name },
      spec: {
        capacity: size,
        accessModes: ["ReadWriteOnce"],
        volumeMode,
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: cluster.dialect.names.labels.hostname, operator: "In", values: [cluster.nodeName] },
                ],
              },
            ],
          },
        },
        claimRef: { kind: "PersistentVolumeClaim", namespace, name, uid: claim.metadata.uid },
      },
    });
    await cluster.client.request(
      "PATCH",
      `${claims}/${name}/status`,
      { status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: size } },
      { "content-type": "application/merge-patch+json" },
    );
  }

  test("a claim on a block device provides the device to containers, read-only if requested", async (t) => {
    const file = join(cluster.folder, "disk");
    await writeFile(file, Buffer.alloc(1 << 20));
    const device = (await run("losetup", ["--find", "--show", file])).stdout.trim();
    t.after(() => run("losetup", ["--detach", device]));
    await claimOn(device, "disk", "Block");
    const spec = (readOnly: boolean, script: string): object => ({
      volumes: [{ name: "v0", persistentVolumeClaim: { claimName: "disk", readOnly } }],
      containers: [
        { name: "c", ...command(script), volumeDevices: [{ name: "v0", devicePath: "/dev/own" }] },
      ],
    });
    const writer = await create(spec(false, "test -b /dev/own && echo hello > /dev/own && sync"));
    assert.equal((await finished(writer)).status?.phase, "Succeeded");
    const reader = await create(
      spec(true, "head -c 5 /dev/own; (echo x > /dev/own) 2>/dev/null && echo wrote"),
    );
    await finished(reader);
    await logged(reader, "hello");
    for (const name of [writer, reader]) await cluster.client.of(kinds.pods).delete(name, { namespace });
    await until("the pods are gone", async () => !(await get(writer)) && !(await get(reader)));
    assert.equal((await readFile(file)).toString("utf8", 0, 5), "hello");
  });

  test("a claim provides the folder that its volume names", async () => {
    const folder = join(cluster.folder, "pv");
    await mkdir(folder);
    await writeFile(join(folder, "precious"), "mine\n");
    await claimOn(folder, "claim", "Filesystem");
    assert.equal(
      await printed("cat /v/precious; echo more > /v/added", {
        persistentVolumeClaim: { claimName: "claim" },
      }),
      "mine\n",
    );
    await cluster.client.of(kinds.pods).delete(`p${count}`, { namespace });
    await until("the pod is gone", async () => !(await get(`p${count}`)));
    assert.deepEqual(
      (await readdir(folder)).toSorted(),
      ["added", "precious"],
      "the volume outlives the pod",
    );
  });

  test("a pod whose emptyDir exceeds its limit is evicted", async () => {
    const name = await create({
      volumes: [{ name: "v0", emptyDir: { sizeLimit: "1Mi" } }],
      containers: [
        {
          name: "c",
          ...command("dd if=/dev/zero of=/v/f bs=1M count=5 2>/dev/null; sleep 3600"),
          volumeMounts: mounts("/v"),
        },
      ],
    });
    const { status } = await finished(name);
    assert.deepEqual(
      [status?.phase, status?.reason, status?.message],
      ["Failed", "Evicted", 'Usage of EmptyDir volume "v0" exceeds the limit "1Mi". '],
    );
    await until("its container and its log have given back their room", async () =>
      (await logOf(name)).startsWith("unable to retrieve container logs for containerd://"),
    );
  });

  test("after an agent's restart running pods keep their volumes, and those of deleted pods are removed", async () => {
    const running = await create({
      volumes: [
        { name: "v0", emptyDir: { medium: "Memory" } },
        { name: "v1", secret: { secretName: "sec" } },
      ],
      containers: [
        { name: "c", ...command("echo kept > /v/f; sleep 3600"), volumeMounts: mounts("/v", "/s") },
      ],
    });
    await until(`${running} runs`, async () => (await get(running))?.status?.phase === "Running");
    await cluster.agent.kill9();
    await cluster.agent.start();
    const { stdout } = await until("exec works again", () =>
      cluster.kubectl(["exec", "-n", namespace, running, "--", "cat", "/v/f", "/s/s"]).catch(() => undefined),
    );
    assert.equal(stdout, "kept\nS");
    const { items } = await cluster.client.of(kinds.pods).list({ namespace });
    for (const { metadata } of items)
      await cluster.client.of(kinds.pods).delete(metadata.name!, { namespace });
    await until(
      "all pods are gone",
      async () => (await cluster.client.of(kinds.pods).list({ namespace })).items.length === 0,
    );
    await until(
      "no mount of theirs is left",
      async () =>
        !(await readFile("/proc/self/mountinfo", "utf8")).includes(`${cluster.agent.rootDir}/pods/`),
    );
    await until(
      "no folder of theirs is left",
      async () => (await readdir(join(cluster.agent.rootDir, "pods"))).length === 0,
    );
  });
});
