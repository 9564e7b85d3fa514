// Exercises of common tutorials on a cluster started with one command, joined by a second node, in separate
// network namespaces: nothing is downloaded, and the machine's own network is not touched.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { kubectlProgram, needs, needsContainerd, programPath, until, writeImageArchive } from "#kit";

const orch = join(import.meta.dirname, "..", "..", "bin", "orch");
const run = promisify(execFile);
const skip = needsContainerd().skip || needs(kubectlProgram, "ctr", "nft", "curl", "nsenter").skip;
const image = "localhost/tutorials/busybox:1";
const id = `ot${process.pid.toString(36)}`;

/** A server that returns its host name and version, and a client that sends requests by name. */
const files = {
  "/www/cgi-bin/who": "#!/bin/sh\necho; echo $(hostname) ${VERSION:-none} $(cat /data/kept 2>/dev/null)\n",
  "/bin/serve": "#!/bin/sh\nexec httpd -f -p 8080 -h /www\n",
  "/bin/ask":
    "#!/bin/sh\naddress=$(nslookup -type=a $1 | awk '/^Address/ {a=$2} END {print a}')\nprintf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${address:-0.0.0.0} ${2:-80} | tail -n 1\n",
  "/bin/burn": "#!/bin/sh\nwhile :; do :; done\n",
};

const container = (more: object = {}): object => ({
  name: "main",
  image,
  imagePullPolicy: "Never",
  command: ["/bin/serve"],
  ...more,
});
const podTemplate = (app: string, more: object = {}, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: { terminationGracePeriodSeconds: 0, containers: [container(more)], ...spec },
});
const workload = (kind: string, name: string, spec: object, template = podTemplate(name)): object => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template, ...spec },
});
const service = (name: string, spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

suite("tutorials", { skip, timeout: 900_000 }, () => {
  const folder = skip ? "" : mkdtempSync(join(tmpdir(), "orch-tutorials-"));
  const data = join(folder, "cluster");
  const started: ChildProcess[] = [];
  const inside = (namespace: string): string[] => [`--net=/run/netns/${id}${namespace}`];
  const tried = (namespace: string, ...command: string[]): Promise<{ stdout: string; stderr: string }> =>
    run("nsenter", [...inside(namespace), ...command], { timeout: 400_000 });
  const client = async (args: readonly string[], objects: readonly object[] = []): Promise<string> => {
    const child = spawn(
      "nsenter",
      [...inside("a"), programPath(kubectlProgram)!, `--kubeconfig=${join(data, "admin.conf")}`, ...args],
      { env: { ...process.env, HOME: folder } },
    );
    child.stdin.end(objects.map((object) => JSON.stringify(object)).join("\n"));
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [code] = (await once(child, "close")) as [number];
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  const start = async (
    namespace: string,
    ready: readonly RegExp[],
    args: readonly string[],
  ): Promise<ChildProcess> => {
    let output = "";
    const child = spawn("nsenter", [...inside(namespace), orch, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await until(
      () => Promise.resolve(`all is ready:\n${output}`),
      () => Promise.resolve(ready.every((each) => each.test(output))),
    );
    return child;
  };
  /** Every tutorial uses a separate namespace. */
  const inNamespace = async (namespace: string) => {
    await client(["create", "namespace", namespace]);
    await until(`${namespace} has its account`, async () =>
      (await client(["get", "serviceaccounts", "-n", namespace, "-o", "name"])).includes("default"),
    );
    const own = (...args: string[]): Promise<string> => client(["-n", namespace, ...args]);
    return {
      own,
      apply: (...objects: object[]) => client(["-n", namespace, "apply", "-f", "-"], objects),
      rolledOut: (what: string) => own("rollout", "status", what, "--timeout=300s"),
      /** Sends a request from inside a pod, by name. */
      ask: (pod: string, name: string): Promise<string> =>
        own("exec", pod, "--", "ask", `${name}.${namespace}.svc.cluster.local`),
    };
  };

  before(async () => {
    for (const namespace of ["a", "b"]) {
      await run("ip", ["netns", "add", `${id}${namespace}`]);
      await tried(namespace, "ip", "link", "set", "lo", "up");
    }
    await run("ip", ["link", "add", "eth0", "netns", `${id}a`, "type", "veth", "peer", "name", "eth0", "netns", `${id}b`]); // prettier-ignore
    for (const [namespace, address] of [["a", "192.0.2.1"], ["b", "192.0.2.2"]] as const) {
      await tried(namespace, "ip", "address", "add", `${address}/24`, "dev", "eth0");
      await tried(namespace, "ip", "link", "set", "eth0", "up");
    } // prettier-ignore
    await tried("a", "ip", "route", "add", "default", "via", "192.0.2.2");
    await tried("b", "ip", "route", "add", "default", "via", "192.0.2.1");
    const archive = join(folder, "image.tar");
    const writing = writeImageArchive(archive, image, { files });
    const up = await start(
      "a",
      [/node agent +ready/, /network +ready/],
      ["up", `--data-dir=${data}`, "--dialect=kubernetes", "--install-runtime", "--bind-address=0.0.0.0"],
    );
    started.push(up);
    const { stdout } = await tried("a", orch, "token", `--data-dir=${data}`, "--dialect=kubernetes");
    const [, ...words] = stdout.trim().split(" ");
    const flags = ["--node-name=second", `--data-dir=${join(folder, "second")}`];
    started.push(await start("b", [/network +ready/], [...words, ...flags]));
    await writing;
    for (const cluster of [data, join(folder, "second")]) {
      const config = readFileSync(join(cluster, "runtime", "config.toml"), "utf8");
      const socket = /address = "(.*)"/.exec(config)![1]!;
      await run("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "import", archive]);
    }
    await until(
      "both nodes are ready",
      async () => (await client(["get", "nodes", "--no-headers"])).match(/ Ready /g)?.length === 2,
    );
  });

  after(async () => {
    if (skip) return;
    for (const child of started.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGINT");
      await once(child, "exit");
    }
    for (const [namespace, of] of [["b", join(folder, "second")], ["a", data]] as const)
      await tried(namespace, orch, "down", "--purge", `--data-dir=${of}`, "--dialect=kubernetes").catch(
        () => undefined,
      ); // prettier-ignore
    for (const namespace of ["a", "b"]) await run("ip", ["netns", "del", `${id}${namespace}`]);
    rmSync(folder, { recursive: true, force: true });
  });

  suite("side by side", { concurrency: 4 }, () => {
    test("a cron job runs on its schedule", async () => {
      const { own, apply } = await inNamespace("cron");
      await apply({
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { name: "tick" },
        spec: {
          schedule: "* * * * *",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never", containers: [container({ command: ["echo", "tick"] })] },
              },
            },
          },
        },
      });
      const status = "jsonpath={.items[*].status.succeeded}";
      await until("the job has run", async () => (await own("get", "jobs", "-o", status)).includes("1"));
    });

    test("a guestbook: a service spreads over its pods and is found by name and port", async () => {
      const { own, apply, rolledOut, ask } = await inNamespace("guestbook");
      await apply(
        workload("Deployment", "book", { replicas: 2 }),
        workload("Deployment", "guest", { replicas: 1 }),
        service("book", { type: "NodePort" }),
      );
      await rolledOut("deployment/book");
      await rolledOut("deployment/guest");
      const seen = new Set<string>();
      await until(
        () => Promise.resolve(`both pods answered: ${[...seen].join(", ")}`),
        async () => {
          const answer = await ask("deployment/guest", "book");
          if (answer.startsWith("book-")) seen.add(answer.split(" ")[0]!);
          return seen.size === 2;
        },
      );
      const port = await own("get", "service", "book", "-o", "jsonpath={.spec.ports[0].nodePort}");
      for (const address of ["192.0.2.1", "127.0.0.1"]) {
        const { stdout } = await tried("a", "curl", "-sm5", `http://${address}:${port}/cgi-bin/who`);
        assert.match(stdout, /^book-/m);
      }
      const { stdout } = await tried("b", "curl", "-sm5", `http://192.0.2.1:${port}/cgi-bin/who`);
      assert.match(stdout, /^book-/m);
    });

    test("two nodes: pods reach each other by address and by name, and their logs are served", async () => {
      const { own, apply } = await inNamespace("two");
      const names = (await client(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
      await apply(
        ...names.map((nodeName, at) => ({
          apiVersion: "v1",
          kind: "Pod",
          ...podTemplate("two", { env: [{ name: "VERSION", value: `on-${nodeName}` }] }, { nodeName }),
          metadata: { name: `pod-${at}`, labels: { app: "two", at: `${at}` } },
        })),
        ...names.map((_, at) => service(`only-${at}`, { selector: { at: `${at}` } })),
      );
      await own("wait", "pod", "--all", "--for=condition=Ready", "--timeout=300s");
      const addresses = (await own("get", "pods", "-o", "jsonpath={.items[*].status.podIP}")).split(" ");
      for (const at of [0, 1]) {
        const to = 1 - at;
        const script = `ask only-${to}.two.svc.cluster.local; printf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${addresses[to]} 8080`;
        await until(`pod ${at} reaches pod ${to}`, async () => {
          const replies = await own("exec", `pod-${at}`, "--", "sh", "-c", script);
          return replies.split(`pod-${to} on-${names[to]}`).length === 3;
        });
        await own("logs", `pod-${at}`);
      }
    });

    test("a pod reaches the API server with its account, by its service", async () => {
      const { own, apply } = await inNamespace("inside");
      await apply({ apiVersion: "v1", kind: "Pod", ...podTemplate("inside"), metadata: { name: "inside" } });
      await own("wait", "pod/inside", "--for=condition=Ready", "--timeout=300s");
      const script =
        "nslookup -type=a kubernetes.default.svc.cluster.local && nc -w 3 10.96.0.1 443 </dev/null";
      assert.match(await own("exec", "inside", "--", "sh", "-c", script), /10\.96\.0\.1/);
    });

    test("a rolling update, and back", async () => {
      const { own, apply, rolledOut, ask } = await inNamespace("rolling");
      const version = (value: string): object =>
        workload(
          "Deployment",
          "web",
          { replicas: 2 },
          podTemplate("web", {
            env: [{ name: "VERSION", value }],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          }),
        );
      await apply(version("v1"), service("web"));
      await rolledOut("deployment/web");
      const answers = (value: string): Promise<unknown> =>
        until(`${value} answers`, async () => (await ask("deployment/web", "web")).includes(` ${value}`));
      await answers("v1");
      await apply(version("v2"));
      await rolledOut("deployment/web");
      await answers("v2");
      await own("rollout", "undo", "deployment/web");
      await rolledOut("deployment/web");
      await answers("v1");
      assert.equal((await own("get", "replicasets", "-o", "name")).split("\n").length, 2);
    });

    test("a stateful set keeps names and data", async () => {
      const { own, apply, rolledOut } = await inNamespace("stateful");
      const volume = (at: number): object => ({
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: `tutorial-${at}` },
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          storageClassName: "tutorial",
          hostPath: { path: join(folder, `volume-${at}`), type: "DirectoryOrCreate" },
        },
      });
      await apply(
        volume(0),
        volume(1),
        service("db", { clusterIP: "None" }),
        workload(
          "StatefulSet",
          "db",
          {
            serviceName: "db",
            replicas: 2,
            volumeClaimTemplates: [
              {
                metadata: { name: "data" },
                spec: {
                  accessModes: ["ReadWriteOnce"],
                  storageClassName: "tutorial",
                  resources: { requests: { storage: "1Gi" } },
                },
              },
            ],
          },
          podTemplate("db", { volumeMounts: [{ name: "data", mountPath: "/data" }] }),
        ),
      );
      await rolledOut("statefulset/db");
      await own("exec", "db-0", "--", "sh", "-c", "echo first > /data/kept");
      const kept = (): Promise<unknown> =>
        until("db-0 is found by its own name, with its data", async () =>
          /db-0 none first/.test(
            await own("exec", "db-1", "--", "ask", "db-0.db.stateful.svc.cluster.local", "8080"),
          ),
        );
      await kept();
      await own("delete", "pod", "db-0");
      await rolledOut("statefulset/db");
      await kept();
    });

    test("a job runs to its end, several times", async () => {
      const { own, apply } = await inNamespace("job");
      await apply({
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "sum" },
        spec: {
          completions: 3,
          parallelism: 2,
          template: {
            spec: {
              restartPolicy: "Never",
              containers: [container({ command: ["sh", "-c", "echo $((6*7))"] })],
            },
          },
        },
      });
      await own("wait", "job/sum", "--for=condition=Complete", "--timeout=300s");
      assert.match(await own("logs", "job/sum"), /42/);
    });

    test("a daemon runs on every node", async () => {
      const { own, apply, rolledOut } = await inNamespace("daemon");
      await apply(workload("DaemonSet", "eye", {}));
      await rolledOut("daemonset/eye");
      const nodes = (await client(["get", "nodes", "-o", "name"])).split("\n").length;
      assert.equal((await own("get", "pods", "-o", "name")).split("\n").length, nodes);
    });

    test("an ingress object is stored and shown, for any ingress controller", async () => {
      const { own, apply } = await inNamespace("ingress");
      const backend = { service: { name: "web", port: { number: 80 } } };
      await apply(service("web"), {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { name: "web" },
        spec: {
          ingressClassName: "any",
          rules: [{ host: "web.example.org", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
        },
      });
      assert.match(await own("get", "ingress", "web"), /any +web\.example\.org/);
      assert.match(await own("describe", "ingress", "web"), /\/ +web:80/);
    });

    test("an autoscaler follows the load", async () => {
      const { own, apply } = await inNamespace("scale");
      const busy = podTemplate("busy", { command: ["/bin/burn"], resources: { requests: { cpu: "20m" }, limits: { cpu: "60m" } } }); // prettier-ignore
      await apply(workload("Deployment", "busy", { replicas: 1 }, busy), {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "busy" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "busy" },
          minReplicas: 1,
          maxReplicas: 2,
          metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
        },
      }); // prettier-ignore
      await until(
        () => own("describe", "hpa", "busy"),
        async () => (await own("get", "deployment", "busy", "-o", "jsonpath={.spec.replicas}")) === "2",
      );
      await own("delete", "deployment,hpa", "--all");
    });
  });

  test("a drain respects a budget", async () => {
    const { own, apply, rolledOut } = await inNamespace("drain");
    const budget = (minAvailable: number): object => ({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web" },
      spec: { minAvailable, selector: { matchLabels: { app: "web" } } },
    });
    await apply(workload("Deployment", "web", { replicas: 2 }), budget(2));
    await rolledOut("deployment/web");
    const allowed = "jsonpath={.status.disruptionsAllowed}/{.status.currentHealthy}";
    await until("the budget is known", async () => (await own("get", "pdb", "web", "-o", allowed)) === "0/2");
    const [node] = (await client(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
    const drain = ["drain", node!, "--pod-selector=app=web", "--ignore-daemonsets", "--delete-emptydir-data"];
    await assert.rejects(client([...drain, "--timeout=2s"]), /disruption budget|timeout/);
    await apply(budget(0));
    await client([...drain, "--timeout=300s"]);
    await client(["uncordon", node!]);
    await rolledOut("deployment/web");
  });
});
