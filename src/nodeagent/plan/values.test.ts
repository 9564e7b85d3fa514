import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod, Service } from "#api";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { samplePod } from "../pod.fixture.ts";
import { hugepageLimits, oomScoreOf, quotaOf, sharesOf } from "./amounts.ts";
import { backOff } from "./backoff.ts";
import { parseResolvConf, podDns } from "./dns.ts";
import { podField, resourceField } from "./downward.ts";
import { expand } from "./expand.ts";
import { podHostname, sandboxHostname } from "./hostname.ts";
import { hostsFile } from "./hosts-file.ts";
import { qosClass } from "./qos.ts";
import { containerSecurity, groupsOf } from "./security.ts";
import { servicesEnvironment, servicesFor } from "./services-env.ts";

const known: Readonly<Record<string, string>> = { A: "one", B: "$(A)" };
const expansions: [text: string, result: string][] = [
  ["plain", "plain"],
  ["$(A)", "one"],
  ["a$(A)b$(A)", "aonebone"],
  ["$(B)", "$(A)"],
  ["$(NOPE)", "$(NOPE)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$one"],
  ["$$", "$"],
  ["$", "$"],
  ["a$", "a$"],
  ["$(A", "$(A"],
  ["$A", "$A"],
  ["$()", "$()"],
];
for (const [text, result] of expansions)
  test(`${text} expands to ${result}`, () =>
    assert.equal(
      expand(text, (name) => known[name]),
      result,
    ));

const resources = (requests?: object, limits?: object): object => ({
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const qualities: [name: string, containers: object[], qos: string][] = [
  ["no resources", [{}], "BestEffort"],
  ["zeroes", [resources({ cpu: "0" }, { memory: "0" })], "BestEffort"],
  ["a request", [resources({ cpu: "1m" })], "Burstable"],
  ["limits for both in all containers", [resources(undefined, { cpu: "1", memory: "1Gi" })], "Guaranteed"],
  [
    "equal requests and limits in different notation",
    [resources({ cpu: "1000m", memory: "1024Mi" }, { cpu: "1", memory: "1Gi" })],
    "Guaranteed",
  ],
  [
    "a request below the limit",
    [resources({ cpu: "500m", memory: "1Gi" }, { cpu: "1", memory: "1Gi" })],
    "Burstable",
  ],
  ["one container without limits", [resources(undefined, { cpu: "1", memory: "1Gi" }), {}], "Burstable"],
  ["only other resources", [resources({ "ephemeral-storage": "1Gi" })], "BestEffort"],
];
for (const [name, containers, qos] of qualities) {
  test(`${name}: ${qos}`, () =>
    assert.equal(
      qosClass(samplePod({ containers: containers.map((more, at) => ({ name: `c${at}`, ...more })) })),
      qos,
    ));
}

test("CPU shares and quota are clamped", () => {
  assert.deepEqual([0, 1, 100, 1000, 10 ** 9].map(sharesOf), [2, 2, 102, 1024, 262_144]);
  assert.deepEqual(
    [0, 1, 250, 2000].map((milli) => quotaOf(milli, 100_000)),
    [0, 1000, 25_000, 200_000],
  );
});

test("OOM score adjustments follow QoS class and requests", () => {
  const gi = 1024 ** 3;
  const of = (container: object, spec: object = {}): number => {
    const pod = samplePod({ containers: [{ name: "c", ...container }], ...spec });
    return oomScoreOf(pod, pod.spec.containers![0]!, 4 * gi, dialects.orch);
  };
  assert.equal(of({}), 1000);
  assert.equal(of(resources(undefined, { cpu: "1", memory: "1Gi" })), -997);
  assert.equal(of(resources({ memory: "1Gi" })), 750);
  assert.equal(of(resources({ cpu: "1m" })), 999);
  assert.equal(of(resources({ memory: "4Gi" })), 3);
  assert.equal(of({}, { priority: 2_000_001_000, priorityClassName: "system-node-critical" }), -997);
  assert.equal(of({}, { priorityClassName: "system-node-critical" }), 1000);
  assert.equal(of({}, { priority: 2_000_000_000, priorityClassName: "system-cluster-critical" }), 1000);
  const fromFile = samplePod({ containers: [{ name: "c" }], priorityClassName: "system-node-critical" });
  fromFile.metadata.annotations = { [dialects.orch.names.annotations.configSource]: "file" };
  assert.equal(oomScoreOf(fromFile, fromFile.spec.containers![0]!, 4 * gi, dialects.orch), -997);
});

test("every page size of the kernel gets a limit", () => {
  const container = { name: "c", ...resources(undefined, { "hugepages-2Mi": "4Mi" }) } as Container;
  assert.deepEqual(hugepageLimits(container, ["64KB", "2MB", "1GB"]), [
    { pageSize: "64KB", limit: 0 },
    { pageSize: "2MB", limit: 4 * 1024 ** 2 },
    { pageSize: "1GB", limit: 0 },
  ]);
});

const hostnames: [name: string, pod: Pod, hostname: string, sandbox: string][] = [
  ["the pod's name", samplePod(), "a", "a"],
  ["the specified host name", samplePod({ hostname: "h" }), "h", "h"],
  [
    "a long name truncated, not ending in a hyphen",
    samplePod({}, { name: `${"x".repeat(62)}-tail` }),
    "x".repeat(62),
    "x".repeat(62),
  ],
  ["empty in the sandbox on the host network", samplePod({ hostNetwork: true }), "a", ""],
  [
    "the full name if requested",
    samplePod({ hostname: "h", subdomain: "s", setHostnameAsFQDN: true }),
    "h",
    "h.s.n.svc.cluster.local",
  ],
];
for (const [name, pod, hostname, sandbox] of hostnames) {
  test(`the host name of a pod is ${name}`, () => {
    assert.equal(podHostname(pod, "cluster.local").hostname, hostname);
    assert.equal(sandboxHostname(pod, "cluster.local"), sandbox);
  });
}
test("a host name that is too long is rejected", () => {
  assert.throws(
    () =>
      sandboxHostname(
        samplePod({ hostname: "h".repeat(60), subdomain: "s", setHostnameAsFQDN: true }),
        "cluster.local",
      ),
    /too long/,
  );
});

const host = { servers: ["9.9.9.9"], searches: ["node.test"], options: ["rotate"] };
const settings = { agent: "nodeagent", clusterServers: ["10.0.0.10"], clusterDomain: "cluster.local", host };
const cluster = {
  servers: ["10.0.0.10"],
  searches: ["n.svc.cluster.local", "svc.cluster.local", "cluster.local", "node.test"],
  options: ["ndots:5"],
};
const resolvers: [name: string, pod: Pod, config: object, reasons: string[], settings?: typeof settings][] = [
  ["the cluster's for ClusterFirst", samplePod({ dnsPolicy: "ClusterFirst" }), cluster, []],
  ["the node's for Default", samplePod({ dnsPolicy: "Default" }), host, []],
  [
    "the node's for ClusterFirst on the host network",
    samplePod({ dnsPolicy: "ClusterFirst", hostNetwork: true }),
    host,
    [],
  ],
  [
    "the cluster's for ClusterFirstWithHostNet",
    samplePod({ dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true }),
    cluster,
    [],
  ],
  [
    "only its own for None",
    samplePod({
      dnsPolicy: "None",
      dnsConfig: {
        nameservers: ["1.1.1.1"],
        searches: ["x"],
        options: [{ name: "a" }, { name: "b", value: "2" }],
      },
    }),
    { servers: ["1.1.1.1"], searches: ["x"], options: ["a", "b:2"] },
    [],
  ],
  [
    "its own options override the policy's",
    samplePod({ dnsConfig: { options: [{ name: "ndots", value: "2" }] } }),
    { ...cluster, options: ["ndots:2"] },
    [],
  ],
  [
    "no more than three servers, with a warning",
    samplePod({ dnsConfig: { nameservers: ["1.1.1.1", "2.2.2.2", "3.3.3.3"] } }),
    { ...cluster, servers: ["10.0.0.10", "1.1.1.1", "2.2.2.2"] },
    ["DNSConfigForming"],
  ],
  [
    "the node's if the cluster has none, with a warning",
    samplePod(),
    host,
    ["MissingClusterDNS"],
    { ...settings, clusterServers: [] },
  ],
];
test("falling back to the node's name servers yields the reference's warning", () => {
  const { warnings } = podDns(samplePod({ dnsPolicy: "ClusterFirstWithHostNet" }), {
    ...settings,
    clusterServers: [],
  });
  const text =
    'nodeagent does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  assert.deepEqual(warnings, [
    { reason: "MissingClusterDNS", message: `pod: "a_n(u)". ${text}`, nodeMessage: text },
  ]);
});

for (const [name, pod, config, reasons, given] of resolvers) {
  test(`name servers of a pod: ${name}`, () => {
    const result = podDns(pod, given ?? settings);
    assert.deepEqual([result.config, result.warnings.map(({ reason }) => reason)], [config, reasons]);
  });
}
test("a resolver file is parsed", () => {
  assert.deepEqual(
    parseResolvConf(
      "# c\nnameserver 1.1.1.1\nnameserver  2.2.2.2\nsearch a.b c.d.\noptions ndots:1 rotate\noptions ndots:3\n",
    ),
    {
      servers: ["1.1.1.1", "2.2.2.2"],
      searches: ["a.b", "c.d"],
      options: ["ndots:3", "rotate"],
    },
  );
});

test("a hosts file contains the pod and its aliases", () => {
  const facts = {
    product: "P",
    clusterDomain: "cluster.local",
    podIps: ["10.0.0.1"],
    nodeFile: "127.0.0.1 me\n",
  };
  const pod = samplePod({ subdomain: "s", hostAliases: [{ ip: "1.2.3.4", hostnames: ["x", "y"] }] });
  assert.match(
    hostsFile(pod, facts),
    /^# P-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n[^]*10\.0\.0\.1\ta\.s\.n\.svc\.cluster\.local\ta\n\n# Entries added by HostAliases\.\n1\.2\.3\.4\tx\ty\n$/,
  );
  assert.equal(
    hostsFile(samplePod({ hostNetwork: true }), facts),
    "# P-managed hosts file (host network).\n127.0.0.1 me\n",
  );
});

const addresses = { hostIps: ["192.0.2.1"], podIps: ["10.0.0.1", "fd00::1"] };
const describedPod = samplePod(
  { nodeName: "n1", serviceAccountName: "sa" },
  { labels: { app: "x", b: 'q"' }, annotations: { k: "v" } },
);
const fields: [path: string, value: string][] = [
  ["metadata.name", "a"],
  ["metadata.namespace", "n"],
  ["metadata.uid", "u"],
  ["metadata.labels['app']", "x"],
  ["metadata.labels['none']", ""],
  ["metadata.annotations['k']", "v"],
  ["metadata.labels", 'app="x"\nb="q\\""'],
  ["spec.nodeName", "n1"],
  ["spec.serviceAccountName", "sa"],
  ["status.hostIP", "192.0.2.1"],
  ["status.podIP", "10.0.0.1"],
  ["status.podIPs", "10.0.0.1,fd00::1"],
];
for (const [path, value] of fields)
  test(`the downward API provides ${path}`, () =>
    assert.equal(podField(describedPod, path, addresses), value));
test("the downward API quotes the values of maps like Go", () => {
  const pod = samplePod();
  pod.metadata.annotations = { a: 'x\n"<é>\\', b: "\u0001\u000b\u007f\u200b" };
  assert.equal(
    podField(pod, "metadata.annotations", addresses),
    String.raw`a="x\n\"<é>\\"` + "\n" + String.raw`b="\x01\v\x7f\u200b"`,
  );
});
test("an unsupported field path is rejected", () =>
  assert.throws(() => podField(describedPod, "spec.none", addresses), /unsupported fieldPath/));

const amounts: [resource: string, divisor: string, value: string][] = [
  ["limits.cpu", "1m", "1500"],
  ["limits.cpu", "1", "2"],
  ["limits.cpu", "", "2"],
  ["requests.memory", "1Mi", "32"],
  ["requests.memory", "", "33554432"],
  ["limits.memory", "1Gi", "4"],
  ["requests.cpu", "1m", "0"],
  ["limits.hugepages-2Mi", "1Mi", "0"],
];
for (const [resource, divisor, value] of amounts) {
  test(`${resource} in units of ${divisor || "one"} is ${value}`, () => {
    const container = { name: "c", ...resources({ memory: "32Mi" }, { cpu: "1500m" }) } as Container;
    assert.equal(
      resourceField(samplePod(), { resource, divisor }, container, {
        cpu: "8",
        memory: "4Gi",
        "hugepages-2Mi": "64Mi",
      }),
      value,
    );
  });
}

test("service variables cover the pod's namespace and the API server", () => {
  const service = (
    namespace: string,
    name: string,
    clusterIP: string,
    ports: object[] = [{ port: 80 }],
  ): Service => ({ metadata: { namespace, name }, spec: { clusterIP, ports } }) as unknown as Service;
  const all = [
    service("n", "b-svc", "10.0.0.5", [
      { name: "web", port: 80, protocol: "TCP" },
      { port: 53, protocol: "UDP" },
    ]),
    service("n", "none", "None"),
    service("other", "x", "10.0.0.6"),
    service("default", "api", "10.0.0.1"),
  ];
  assert.deepEqual(
    servicesFor("n", true, all, "api").map(({ metadata }) => metadata.name),
    ["api", "b-svc", "none"],
  );
  assert.deepEqual(
    servicesFor("n", false, all, "api").map(({ metadata }) => metadata.name),
    ["api"],
  );
  assert.deepEqual(Object.fromEntries(servicesEnvironment(servicesFor("n", true, all, "none-such"))), {
    B_SVC_SERVICE_HOST: "10.0.0.5",
    B_SVC_SERVICE_PORT: "80",
    B_SVC_SERVICE_PORT_WEB: "80",
    B_SVC_PORT: "tcp://10.0.0.5:80",
    B_SVC_PORT_80_TCP: "tcp://10.0.0.5:80",
    B_SVC_PORT_80_TCP_PROTO: "tcp",
    B_SVC_PORT_80_TCP_PORT: "80",
    B_SVC_PORT_80_TCP_ADDR: "10.0.0.5",
    B_SVC_PORT_53_UDP: "udp://10.0.0.5:53",
    B_SVC_PORT_53_UDP_PROTO: "udp",
    B_SVC_PORT_53_UDP_PORT: "53",
    B_SVC_PORT_53_UDP_ADDR: "10.0.0.5",
  });
});

test("a backoff doubles up to its maximum and resets after a calm period", async () => {
  const clock = virtualClock();
  const waits = backOff({ clock, firstMilliseconds: 10, longestMilliseconds: 50 });
  const seen: number[] = [];
  for (let i = 0; i < 5; i++) {
    waits.record("k", clock.now());
    seen.push(waits.delay("k"));
  }
  assert.deepEqual(seen, [10, 20, 40, 50, 50]);
  assert.equal(waits.remaining("k", clock.now() - 20), 30);
  assert.equal(waits.remainingSinceFailure("k"), 50);
  await clock.advance(101);
  assert.equal(waits.remainingSinceFailure("k"), 0);
  waits.record("k", clock.now());
  assert.equal(waits.delay("k"), 10);
  waits.forget("k");
  assert.equal(waits.delay("k"), 0);
});

test("a backoff ends also if the clock is set back", async () => {
  const clock = virtualClock(10_000);
  const waits = backOff({ clock, firstMilliseconds: 10, longestMilliseconds: 50 });
  const endedAt = clock.now();
  waits.record("k", endedAt);
  clock.set(5000);
  assert.deepEqual([waits.remaining("k", endedAt), waits.remainingSinceFailure("k")], [10, 10]);
  await clock.advance(10);
  assert.deepEqual([waits.remaining("k", endedAt), waits.remainingSinceFailure("k")], [0, 0]);
});

const profiles: [
  name: string,
  seccompDefault: boolean,
  given: object | undefined,
  path: string | undefined,
][] = [
  ["a container without a profile is unconfined", false, undefined, undefined],
  [
    "with the default enabled, a container without a profile gets the runtime's",
    true,
    undefined,
    "runtime/default",
  ],
  [
    "with the default enabled, a container may still request Unconfined",
    true,
    { type: "Unconfined" },
    "unconfined",
  ],
  ["a container may request RuntimeDefault", false, { type: "RuntimeDefault" }, "runtime/default"],
  [
    "a Localhost profile is resolved in the profile directory",
    false,
    { type: "Localhost", localhostProfile: "p.json" },
    "localhost//seccomp/p.json",
  ],
];
for (const [name, seccompDefault, seccompProfile, path] of profiles) {
  test(`seccomp: ${name}`, () => {
    const container = {
      name: "c",
      ...(seccompProfile && { securityContext: { seccompProfile } }),
    } as Container;
    const settings = { dialect: dialects.orch, seccompDefault, seccompFolder: "/seccomp" };
    assert.equal(
      containerSecurity(samplePod(), container, { username: "" }, settings).seccompProfilePath,
      path,
    );
  });
}

const users: [image: string, user: Parameters<typeof containerSecurity>[2], own: object, expected: object][] =
  [
    ["sets no user", { username: "" }, {}, { runAsUser: { value: 0 } }],
    [
      "sets no user, with a group in the pod",
      { username: "" },
      { runAsGroup: 3000 },
      { runAsUser: { value: 0 }, runAsGroup: { value: 3000 } },
    ],
    ["sets a numeric user", { uid: 7, username: "" }, {}, { runAsUser: { value: 7 } }],
    ["sets a user name", { username: "web" }, {}, { runAsUsername: "web" }],
    [
      "sets a user name overridden by the pod",
      { username: "web" },
      { runAsUser: 8 },
      { runAsUser: { value: 8 } },
    ],
  ];
for (const [image, user, own, wanted] of users) {
  test(`the container user for an image that ${image}`, () => {
    const { runAsUser, runAsUsername, runAsGroup } = containerSecurity(
      samplePod(),
      { name: "c", securityContext: own } as Container,
      user,
      {
        dialect: dialects.orch,
        seccompDefault: false,
        seccompFolder: "/seccomp",
      },
    );
    assert.deepEqual(
      {
        ...(runAsUser && { runAsUser }),
        ...(runAsUsername && { runAsUsername }),
        ...(runAsGroup && { runAsGroup }),
      },
      wanted,
    );
  });
}

const kernelViews: [name: string, own: object, masked: string[], readonly: string[]][] = [
  [
    "gets masked and read-only kernel paths",
    {},
    ["/proc/kcore", "/sys/firmware"],
    ["/proc/sys", "/proc/sysrq-trigger"],
  ],
  ["may request unmasked paths", { procMount: "Unmasked" }, [], []],
];
for (const [name, own, masked, readonly] of kernelViews) {
  test(`a container ${name}`, () => {
    const settings = { dialect: dialects.orch, seccompDefault: false, seccompFolder: "/seccomp" };
    const { maskedPaths = [], readonlyPaths = [] } = containerSecurity(
      samplePod(),
      { name: "c", securityContext: own } as Container,
      { username: "" },
      settings,
    );
    for (const [paths, expected] of [
      [maskedPaths, masked],
      [readonlyPaths, readonly],
    ] as const) {
      assert.equal(paths.length > 0, expected.length > 0);
      for (const path of expected) assert.ok(paths.includes(path), path);
    }
  });
}

test("groups of volumes are added to those of the pod, unless they are listed or no numbers", () => {
  const pod = samplePod({ securityContext: { fsGroup: 5, supplementalGroups: [7, 8] } });
  assert.deepEqual(groupsOf(pod, ["30", "8", "x", "30", "2"]), [5, 7, 8, 2, 30]);
});
