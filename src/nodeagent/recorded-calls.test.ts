// Syncs pods whose runtime calls have been recorded elsewhere, and compares the requests to the fake runtime
// with the recorded ones: maps and environments as sets, random parts replaced. The recordings are not part
// of this repository.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import type { ConfigMap, Pod, Secret, Service } from "#api";
import { dialects } from "#dialect";
import { harness } from "./harness.fixture.ts";

const folder = new URL("../../../shared/reference/node/cri/", import.meta.url);
const skip = existsSync(folder) ? false : "no recorded calls next to the repository";

interface Recorded {
  readonly pod: Pod;
  readonly calls: readonly { readonly method: string; readonly request: Json }[];
}
type Json = { [key: string]: unknown };

/**
 * Whether it was recorded with --seccomp-default and the static CPU policy, which sets a cpuset everywhere.
 */
const isPinned = ({ calls }: Recorded): boolean =>
  JSON.stringify(calls.find(({ method }) => method === "CreateContainer")?.request ?? "").includes(
    '"cpuset_cpus"',
  );
/** Rejected by node admission before any runtime call. */
const rejected = "sysctl-denied";

const service = (
  namespace: string,
  name: string,
  clusterIP: string,
  ports: { name: string; port: number }[],
): Service =>
  ({
    metadata: { namespace, name },
    spec: { clusterIP, ports: ports.map((port) => ({ ...port, protocol: "TCP" })) },
    status: {},
  }) as unknown as Service;
const services = [
  service("default", "orch", "10.0.0.1", [{ name: "https", port: 443 }]),
  service("t1", "svc-b", "10.0.5.5", [{ name: "80-8080", port: 80 }]),
  service("t1", "a-svc", "10.0.5.6", [
    { name: "81-8080", port: 81 },
    { name: "82-8082", port: 82 },
  ]),
  service("t1", "headless", "None", [{ name: "x", port: 1 }]),
];
const configMaps = [
  { metadata: { namespace: "t1", name: "cm1" }, data: { k1: "v1", k2: "v2", "bad.key": "z" } },
] as unknown as ConfigMap[];
const secrets = [
  { metadata: { namespace: "t1", name: "sec1" }, data: { pw: Buffer.from("s3cret").toString("base64") } },
] as unknown as Secret[];
/** The only registry secret that the recordings refer to; its password is masked in them. */
const pullSecret = (name: string): Secret =>
  ({
    metadata: { namespace: "t1", name },
    type: dialects.orch.names.secretTypes.dockerConfigJson,
    data: {
      ".dockerconfigjson": Buffer.from(
        JSON.stringify({ auths: { "registry.invalid": { username: "u", password: "…" } } }),
      ).toString("base64"),
    },
  }) as unknown as Secret;
const images = [
  "registry.orch.io/e2e-test-images/agnhost:2.47",
  "registry.orch.io/e2e-test-images/busybox:1.29-4",
].map((name) => ({ name, user: "0" }));

const files = skip ? [] : readdirSync(folder).filter((file) => !file.startsWith("_"));
for (const file of files) {
  const name = file.replace(".json", "");
  if (name === rejected) continue;
  test(`the runtime calls match the recorded ones for ${name}`, async () => {
    const recorded = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Recorded;
    const actualCalls = await play(recorded);
    for (const method of ["RunPodSandbox", "PullImage", "CreateContainer"]) {
      const [expected, found] = [firsts(recorded.calls, method), firsts(actualCalls, method)];
      assert.deepEqual([...found.keys()], [...expected.keys()], `made by ${method}`);
      for (const [key, request] of expected)
        assert.deepEqual(facts(found.get(key)!), facts(request), `${method} ${key}`);
    }
  });
}
if (skip) test("the runtime calls match the recorded ones", { skip }, () => undefined);

async function play(recorded: Recorded): Promise<Recorded["calls"]> {
  const { pod, calls } = recorded;
  const dialect = dialects.orch;
  const isStatic = pod.metadata.name === "static";
  const uid = isStatic ? "${manifestHashUid}" : "${uid}";
  const given = structuredClone(pod) as Pod & { metadata: { annotations?: Record<string, string> } };
  const token = "orch-api-access-${rand5}";
  const mountsToken = JSON.stringify(calls).includes(token);
  given.metadata.uid = uid;
  given.spec.serviceAccountName ??= "default";
  if (isStatic) {
    given.metadata.name = "static-${nodeName}";
    given.metadata.annotations = {
      ...given.metadata.annotations,
      [dialect.names.annotations.configSource]: "file",
      [dialect.names.annotations.configHash]: "${configHash}",
    };
  }
  if (mountsToken) {
    // The API server's service account admission adds these.
    given.spec.volumes = [...(given.spec.volumes ?? []), { name: token, projected: { sources: [] } }];
    for (const container of [...(given.spec.initContainers ?? []), ...(given.spec.containers ?? [])]) {
      container.volumeMounts = [
        ...(container.volumeMounts ?? []),
        { name: token, mountPath: dialect.paths.serviceAccountMount, readOnly: true },
      ];
    }
  }
  const h = harness({
    dialect,
    folder: "${rootDir}",
    cgroupRoot: "${cgroupRoot}",
    nodeIp: "${nodeIP}",
    runtime: { images, events: false },
    services,
    configMaps,
    secrets: [...secrets, ...(given.spec.imagePullSecrets ?? []).map(({ name }) => pullSecret(name ?? ""))],
    settings: {
      hostDns: () => ({ servers: ["${hostDNS}"], searches: [], options: [] }),
      logFolder: "/var/log/pods",
      // The memory of the recorded machine; an OOM score adjustment depends on it.
      memoryCapacityBytes: 23.5 * 1024 ** 3,
      security: { dialect, seccompDefault: isPinned(recorded), seccompFolder: "" },
    },
  });
  // No registry was reachable.
  h.runtime.faults.fail("PullImage", new Error("dial tcp: lookup failed"), Infinity);
  h.run(given);
  await h.pass(6);
  await h.close();
  return h.runtime.calls.map(({ method, request }) => ({ method, request: wire(request) as Json }));
}

/** Returns the first request of a method for each container, or for the pod. */
function firsts(calls: Recorded["calls"], method: string): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const call of calls) {
    if (call.method !== method) continue;
    const name =
      method === "PullImage"
        ? "image"
        : (((call.request["config"] as Json)["metadata"] as Json)["name"] as string);
    if (!found.has(name)) found.set(name, call.request);
  }
  return found;
}

const enums: Readonly<Record<string, readonly string[]>> = {
  network: ["POD", "CONTAINER", "NODE", "TARGET"],
  pid: ["POD", "CONTAINER", "NODE", "TARGET"],
  ipc: ["POD", "CONTAINER", "NODE", "TARGET"],
  profile_type: ["RuntimeDefault", "Unconfined", "Localhost"],
  propagation: ["PROPAGATION_PRIVATE", "PROPAGATION_HOST_TO_CONTAINER", "PROPAGATION_BIDIRECTIONAL"],
  protocol: ["TCP", "UDP", "SCTP"],
};
const byKey = new Set(["labels", "annotations", "sysctls", "unified"]);

/** Converts a message to the recorded form: snake_case names, no zero values. */
function wire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (byKey.has(name)) return Object.keys(item as object).length > 0 ? [[name, item]] : [];
      if (
        item === undefined ||
        item === "" ||
        item === 0 ||
        item === 0n ||
        item === false ||
        (Array.isArray(item) && item.length === 0)
      )
        return [];
      return [[name, enums[name] && typeof item === "number" ? enums[name][item] : wire(item)]];
    }),
  );
}

/** Returns the comparable parts of a request in a canonical order. */
function facts(request: Json): unknown {
  const text = JSON.stringify(request)
    .replaceAll(/(\/containers\/[^/"]+\/)[^/"]+/g, "$1${rand8}")
    .replaceAll(/"sha256:[0-9a-f]{64}"/g, '"<image>"')
    .replaceAll(/("io\.orch\.container\.hash":)"[^"]*"/g, '$1"${containerHash}"')
    .replaceAll(/("orch\.io\/config\.seen":)"[^"]*"/g, '$1"${time}"')
    .replaceAll(/"cpuset_cpus":"[^"]*",?/g, "")
    .replaceAll(/10\.88\.\d+\.\d+/g, "${podIP}")
    .replaceAll("pod44df40eb70c61e00caf6c999dbe66b59", "pod${manifestHashUid}");
  const { pod_sandbox_id: _, ...rest } = JSON.parse(text) as Json;
  const config = (rest["config"] ?? {}) as {
    envs?: { key: string }[];
    mounts?: { container_path: string }[];
  };
  config.envs?.sort((a, b) => (a.key < b.key ? -1 : 1));
  config.mounts?.sort((a, b) => (a.container_path < b.container_path ? -1 : 1));
  return rest;
}
