// The inside of a container: environment, users, limits, names, files and volumes.
import assert from "node:assert/strict";
import { lstat, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Pod } from "#api";
import { kinds } from "#client";
import { type Cluster, needsCluster, type PodHome, podHome, type SpecPart, startCluster, until } from "#kit";

describe("inside a container", { concurrency: 8, ...needsCluster() }, () => {
  let cluster: Cluster;
  let home: PodHome;
  before(async () => {
    cluster = await startCluster({
      agentConfig: { syncFrequency: "2s", allowedUnsafeSysctls: ["kernel.msg*"] },
    });
    home = await podHome(cluster);
  });
  after(async () => {
    home?.stop();
    await cluster?.stop();
  });
  const configMap = (name: string, data: Record<string, string>, more: object = {}) =>
    cluster.client
      .of(kinds.configMaps)
      .create({ metadata: { name }, data, ...more }, { namespace: home.namespace });
  const secret = (name: string, data: Record<string, string>) =>
    cluster.client
      .of(kinds.secrets)
      .create({ metadata: { name }, type: "Opaque", stringData: data }, { namespace: home.namespace });
  const volume = (source: SpecPart, mount: SpecPart = {}): [SpecPart, SpecPart] => [
    { volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] },
    { volumes: [{ name: "v", ...source }] },
  ];
  const waiting = (name: string, reason: string): Promise<Pod> =>
    home.until(
      name,
      `waits for ${reason}`,
      (pod) => pod.status?.containerStatuses?.[0]?.state.waiting?.reason === reason,
    );
  const folderOf = (name: string, ...rest: readonly string[]): string =>
    join(cluster.agent.rootDir, "pods", home.get(name)?.metadata.uid ?? "", ...rest);

  test("the environment comes from values, fields, resources, config maps and secrets", async () => {
    await configMap("env", { K: "from-map", other: "x", "1bad": "y" });
    await secret("env", { S: "from-secret" });
    const env = [
      { name: "A", value: "one" },
      { name: "B", value: "$(A) $$(A) $(NOPE)" },
      { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      { name: "CPU", valueFrom: { resourceFieldRef: { resource: "requests.cpu", divisor: "1m" } } },
      { name: "M", valueFrom: { configMapKeyRef: { name: "env", key: "K" } } },
      { name: "S", valueFrom: { secretKeyRef: { name: "env", key: "S" } } },
      { name: "O", valueFrom: { configMapKeyRef: { name: "env", key: "absent", optional: true } } },
    ];
    const printed = await home.output(
      'echo "$B|$NAME|$NODE|$CPU|$M|$S|$O|$X_other"; [ "$IP" = "$(hostname -i)" ] && echo same',
      {
        env,
        envFrom: [{ prefix: "X_", configMapRef: { name: "env" } }],
        resources: { requests: { cpu: "250m" } },
      },
      {},
      { name: "env-all" },
    );
    assert.equal(printed, "one $(A) $(NOPE)|env-all|n1|250|from-map|from-secret||x\nsame\n");
  });

  test("a missing config map delays the container until it exists", async () => {
    const pod = await home.script("echo $K", {
      env: [{ name: "K", valueFrom: { configMapKeyRef: { name: "late", key: "k" } } }],
    });
    const held = await waiting(pod, "CreateContainerConfigError");
    assert.match(
      held.status?.containerStatuses?.[0]?.state.waiting?.message ?? "",
      /configmap "late" not found/,
    );
    await configMap("late", { k: "came" });
    await home.ended(pod);
    await home.printed(pod, "came\n");
  });

  test("services of the namespace become environment variables, unless the pod disables them", async () => {
    await cluster.client
      .of(kinds.services)
      .create({ metadata: { name: "web-a" }, spec: { ports: [{ port: 80 }] } } as never, {
        namespace: home.namespace,
      });
    const { spec } = await cluster.client.of(kinds.services).get("web-a", { namespace: home.namespace });
    const printed = await home.output(
      "for i in 1 2 3; do env | grep -c WEB_A_SERVICE; done | tail -1; echo $WEB_A_SERVICE_HOST",
    );
    assert.match(printed, new RegExp(`^[1-9]\\n${spec?.clusterIP}\\n$`));
    assert.equal(await home.output("env | grep -c WEB_A || true", {}, { enableServiceLinks: false }), "0\n");
  });

  test("command, arguments and working folder are expanded and used", async () => {
    const pod = await home.create({
      restartPolicy: "Never",
      containers: [
        {
          command: ["sh", "-c", 'pwd; echo "$0 $1"'],
          args: ["$(A)", "$$(A)"],
          workingDir: "/made/here",
          env: [{ name: "A", value: "a" }],
        },
      ],
    });
    await home.ended(pod);
    await home.printed(pod, "/made/here\na $(A)\n");
  });

  test("users, groups and capabilities are set as specified", async () => {
    const cases: [container: SpecPart, pod: SpecPart, script: string, printed: RegExp][] = [
      [{}, {}, "id -u; grep CapEff /proc/self/status", /^0\nCapEff:\t00000000a80425fb\n$/],
      [
        {},
        { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000] },
        "id -u; id -G",
        /^1000\n3000 4000\n$/,
      ],
      [{ runAsUser: 65534 }, { runAsUser: 1000 }, "id -u", /^65534\n$/],
      [
        { capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] } },
        {},
        "grep CapEff /proc/self/status",
        /0000000000001000/,
      ],
      [
        { privileged: true },
        {},
        "grep CapEff /proc/self/status; ls /dev | wc -l",
        /CapEff:\t000001f[0-9a-f]{9}\n\d\d/,
      ],
      [{ readOnlyRootFilesystem: true }, {}, "touch /x 2>/dev/null || echo closed", /^closed\n$/],
      [{ allowPrivilegeEscalation: false, runAsUser: 1000 }, {}, "grep NoNewPrivs /proc/self/status", /1\n$/],
      [{ seccompProfile: { type: "RuntimeDefault" } }, {}, "grep Seccomp: /proc/self/status", /2\n$/],
      [
        {},
        { sysctls: [{ name: "kernel.msgmax", value: "4242" }] },
        "cat /proc/sys/kernel/msgmax",
        /^4242\n$/,
      ],
    ];
    await Promise.all(
      cases.map(async ([container, pod, script, printed]) =>
        assert.match(
          await home.output(script, { securityContext: container }, { securityContext: pod }),
          printed,
        ),
      ),
    );
  });

  test("runAsNonRoot refuses a container that would run as root", async () => {
    const pod = await home.script("id", { securityContext: { runAsNonRoot: true } });
    const held = await waiting(pod, "CreateContainerConfigError");
    assert.match(
      held.status?.containerStatuses?.[0]?.state.waiting?.message ?? "",
      /container has runAsNonRoot and image will run as root/,
    );
  });

  test("cgroups enforce requests and limits, by QoS class", async () => {
    const cases: [resources: SpecPart, quality: string, group: RegExp][] = [
      [{}, "BestEffort", /\/besteffort\/pod/],
      [{ requests: { cpu: "100m" }, limits: { memory: "64Mi" } }, "Burstable", /\/burstable\/pod/],
      [{ limits: { cpu: "300m", memory: "64Mi" } }, "Guaranteed", /pods\/pod/],
    ];
    for (const [resources, quality, group] of cases) {
      const pod = await home.script(
        "cat /proc/self/cgroup; sleep 600",
        { resources },
        { hostPID: true, terminationGracePeriodSeconds: 0 },
      );
      const ready = await home.ready(pod);
      assert.equal(ready.status?.qosClass, quality);
      await until(`${pod} prints its cgroup`, async () => group.test(await home.logs(pod)));
    }
    const limited = { resources: { requests: { cpu: "100m" }, limits: { cpu: "300m", memory: "64Mi" } } };
    const group = "/sys/fs/cgroup";
    const printed = await home.output(
      `cat ${group}/cpu/cpu.shares ${group}/cpu/cpu.cfs_quota_us ${group}/memory/memory.limit_in_bytes 2>/dev/null || cat ${group}/cpu.weight ${group}/cpu.max ${group}/memory.max; cat /proc/self/oom_score_adj`,
      limited,
    );
    assert.match(printed, /^(102\n30000|4\n30000 100000)\n67108864\n9\d\d\n$/);
  });

  test("host names and name servers follow the pod's DNS settings and host aliases", async () => {
    const cluster_ = await home.output(
      "cat /etc/resolv.conf; hostname -f",
      {},
      { hostname: "h", subdomain: "s" },
    );
    assert.equal(
      cluster_,
      `search ${home.namespace}.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.10\noptions ndots:5\nh.s.${home.namespace}.svc.cluster.local\n`,
    );
    const own = await home.output(
      "cat /etc/resolv.conf",
      {},
      {
        dnsPolicy: "None",
        dnsConfig: {
          nameservers: ["9.9.9.9"],
          searches: ["a.test"],
          options: [{ name: "ndots", value: "2" }],
        },
      },
    );
    assert.equal(own, "search a.test\nnameserver 9.9.9.9\noptions ndots:2\n");
    const hosts = await home.output(
      "cat /etc/hosts",
      {},
      { hostAliases: [{ ip: "10.1.2.3", hostnames: ["foo.local", "bar"] }] },
      { name: "hosts-file" },
    );
    assert.match(hosts, /^10\.\d+\.\d+\.\d+\thosts-file$/m);
    assert.match(hosts, /^10\.1\.2\.3\tfoo\.local\tbar$/m);
  });

  test("the node's namespaces are shared where requested", async () => {
    const pod = await home.script(
      `hostname -i >/dev/null; ip -4 addr show | grep -c "${cluster.nodeIp}/"; [ $$$$ -ne 1 ] && echo shared`,
      {},
      { hostNetwork: true, hostPID: true },
    );
    const ended = await home.ended(pod);
    await home.printed(pod, "1\nshared\n");
    assert.equal(ended.status?.podIP, cluster.nodeIp);
  });

  test("emptyDir is shared by the pod's containers, on disk or in memory, and removed with the pod", async () => {
    const [mount, volumes] = volume({ emptyDir: {} });
    const pod = await home.create({
      ...volumes,
      containers: [
        { command: ["sh", "-c", "echo data > /v/f; sleep 600"], ...mount },
        { command: ["sh", "-c", "until cat /v/f; do sleep 0.1; done; sleep 600"], ...mount },
      ],
    });
    await home.ready(pod);
    const folder = folderOf(pod);
    assert.equal(await readFile(folderOf(pod, "volumes", "orch.io~empty-dir", "v", "f"), "utf8"), "data\n");
    await home.remove(pod);
    await assert.rejects(lstat(folder), { code: "ENOENT" });
    const [memory, inMemory] = volume({ emptyDir: { medium: "Memory", sizeLimit: "1Mi" } });
    assert.match(
      await home.output(
        "grep ' /v ' /proc/mounts; df -k /v | tail -1 | tr -s ' ' | cut -d' ' -f2; dd if=/dev/zero of=/v/big bs=1k count=2000 2>/dev/null || echo full",
        memory,
        inMemory,
      ),
      /^tmpfs \/v tmpfs .*\n1024\nfull\n$/,
    );
  });

  test("hostPath types are created, checked and never removed", async () => {
    const place = join(cluster.folder, "host");
    await mkdir(place, { recursive: true });
    await writeFile(join(place, "file"), "kept");
    assert.equal(
      await home.output("cat /v/file; touch /v/new", ...volume({ hostPath: { path: place } })),
      "kept",
    );
    assert.equal(
      await home.output(
        "stat -c '%a %F' /v",
        ...volume({ hostPath: { path: join(place, "made"), type: "DirectoryOrCreate" } }),
      ),
      "755 directory\n",
    );
    const wrong = await home.script(
      "true",
      ...volume({ hostPath: { path: join(place, "file"), type: "Directory" } }),
    );
    const [problem] = (await home.events(wrong, "FailedMount")).filter(
      ({ reason }) => reason === "FailedMount",
    );
    assert.match(problem?.message ?? "", /hostPath type check failed: .* is not a directory/);
    await home.remove(wrong);
    assert.deepEqual((await readdir(place)).toSorted(), ["file", "made", "new"]);
  });

  test("config maps, secrets and downward values become files with modes; changes reach a running pod atomically", async () => {
    await configMap("files", { a: "1", b: "2" });
    await secret("files", { s: "hidden" });
    const sources = [
      { configMap: { name: "files", items: [{ key: "a", path: "in/a", mode: 0o400 }] } },
      { secret: { name: "files" } },
      { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    ];
    const [mount, volumes] = volume({ projected: { sources, defaultMode: 0o440 } });
    const pod = await home.script("sleep 600", mount, volumes, { labels: { tier: "one" } });
    await home.ready(pod);
    assert.equal(
      await home.exec(pod, "sh", "-c", "cd /v; stat -L -c '%n %a' in/a s labels; cat in/a s labels"),
      'in/a 400\ns 440\nlabels 440\n1hiddentier="one"',
    );
    const link = await home.exec(pod, "readlink", "/v/..data");
    await cluster.client
      .of(kinds.configMaps)
      .patch("files", "merge", { data: { a: "changed" } }, { namespace: home.namespace });
    await cluster.client
      .of(kinds.pods)
      .patch(pod, "merge", { metadata: { labels: { tier: "two" } } }, { namespace: home.namespace });
    await until(
      "the change is there",
      async () => (await home.exec(pod, "sh", "-c", "cat /v/in/a /v/labels")) === 'changedtier="two"',
    );
    assert.notEqual(await home.exec(pod, "readlink", "/v/..data"), link);
  });

  test("an optional source may be absent; an absent required one delays the pod", async () => {
    assert.equal(
      await home.output("ls /v | wc -l", ...volume({ configMap: { name: "nowhere", optional: true } })),
      "0\n",
    );
    const pod = await home.script("true", ...volume({ secret: { secretName: "nowhere" } }));
    const [event] = (await home.events(pod, "FailedMount")).filter(({ reason }) => reason === "FailedMount");
    assert.equal(event?.message, 'MountVolume.SetUp failed for volume "v" : secret "nowhere" not found');
    assert.equal(home.get(pod)?.status?.containerStatuses?.[0]?.state.waiting?.reason, "ContainerCreating");
  });

  test("a service account token is mounted, has its audience, and is accepted by the API", async () => {
    const read = "/var/run/secrets/orch.io/serviceaccount";
    const name = "with-token";
    const spec = { automountServiceAccountToken: true };
    const printed = await home.output(`cat ${read}/namespace; echo; cat ${read}/token`, {}, spec, { name });
    const [namespace, token = ""] = printed.split("\n");
    assert.equal(namespace, home.namespace);
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
      sub: string;
      "orch.io": { pod: { name: string } };
    };
    assert.equal(claims.sub, `system:serviceaccount:${home.namespace}:default`);
    assert.equal(claims["orch.io"].pod.name, name);
  });

  test("a subpath of a volume is mounted alone, and may not leave the volume", async () => {
    const mounts = {
      volumeMounts: [
        { name: "v", mountPath: "/v", subPath: "deep/er" },
        { name: "v", mountPath: "/w", subPathExpr: "x-$(N)" },
      ],
      env: [{ name: "N", value: "n" }],
    };
    const init = {
      initContainers: [
        {
          command: ["sh", "-c", "mkdir -p /v/deep/er; echo in > /v/deep/er/f"],
          volumeMounts: [{ name: "v", mountPath: "/v" }],
        },
      ],
    };
    assert.equal(
      await home.output("cat /v/f; touch /w/g; ls -d /w/g", mounts, {
        ...volume({ emptyDir: {} })[1],
        ...init,
      }),
      "in\n/w/g\n",
    );
    const evil = {
      initContainers: [
        { command: ["ln", "-s", "/etc", "/v/l"], volumeMounts: [{ name: "v", mountPath: "/v" }] },
      ],
    };
    const pod = await home.script(
      "ls /v",
      { volumeMounts: [{ name: "v", mountPath: "/v", subPath: "l" }] },
      { ...volume({ emptyDir: {} })[1], ...evil },
    );
    await waiting(pod, "CreateContainerConfigError");
  });

  test("fsGroup owns the volumes of a pod that does not run as root", async () => {
    const printed = await home.output(
      "stat -c '%g %a' /v; touch /v/f; stat -c %g /v/f",
      ...((): [SpecPart, SpecPart] => {
        const [mount, volumes] = volume({ emptyDir: {} });
        return [mount, { ...volumes, securityContext: { runAsUser: 1000, fsGroup: 2222 } }];
      })(),
    );
    assert.equal(printed, "2222 2777\n2222\n");
  });

  test("a claim on a host folder is mounted once it is bound", async () => {
    const path = join(cluster.folder, "claimed");
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "f"), "on disk");
    const quantity = { storage: "1Gi" };
    const post = (to: string, body: object) => cluster.client.request("POST", to, body);
    await post("/api/v1/persistentvolumes", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pv" },
      spec: {
        capacity: quantity,
        accessModes: ["ReadWriteOnce"],
        hostPath: { path },
        claimRef: { kind: "PersistentVolumeClaim", namespace: home.namespace, name: "claim" },
      },
    });
    await post(`/api/v1/namespaces/${home.namespace}/persistentvolumeclaims`, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "claim" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: quantity }, volumeName: "pv" },
    });
    const pod = await home.script("cat /v/f", ...volume({ persistentVolumeClaim: { claimName: "claim" } }));
    await home.events(pod, "FailedMount");
    const patch = (to: string) =>
      cluster.client.request(
        "PATCH",
        to,
        { status: { phase: "Bound" } },
        { "content-type": "application/merge-patch+json" },
      );
    const claim = (await cluster.client.request(
      "GET",
      `/api/v1/namespaces/${home.namespace}/persistentvolumeclaims/claim`,
    )) as { metadata: { uid: string } };
    await cluster.client.request(
      "PATCH",
      "/api/v1/persistentvolumes/pv",
      { spec: { claimRef: { uid: claim.metadata.uid } } },
      { "content-type": "application/merge-patch+json" },
    );
    await patch("/api/v1/persistentvolumes/pv/status");
    await patch(`/api/v1/namespaces/${home.namespace}/persistentvolumeclaims/claim/status`);
    await home.ended(pod);
    await home.printed(pod, "on disk");
    await home.remove(pod);
    assert.equal(await readFile(join(path, "f"), "utf8"), "on disk");
  });

  test("a pod that exceeds the limit of its emptyDir is evicted", async () => {
    const [mount, volumes] = volume({ emptyDir: { sizeLimit: "1Mi" } });
    const pod = await home.script(
      "dd if=/dev/zero of=/v/f bs=1M count=3 2>/dev/null; sleep 600",
      mount,
      volumes,
    );
    const ended = await home.ended(pod);
    assert.deepEqual([ended.status?.phase, ended.status?.reason], ["Failed", "Evicted"]);
    assert.match(ended.status?.message ?? "", /Usage of EmptyDir volume "v" exceeds the limit "1Mi"/);
  });
});
