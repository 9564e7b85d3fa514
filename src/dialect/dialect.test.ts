import assert from "node:assert/strict";
import { test } from "node:test";
import {
  apiVersionOf,
  componentAgent,
  componentName,
  chosenDialect,
  dialectArgument,
  dialectNamed,
  dialects,
  groupFrom,
  groupName,
  labelName,
} from "./index.ts";

const { orch, kubernetes } = dialects;

const names: [what: string, get: (d: typeof orch) => string, orch: string, kubernetes: string][] = [
  [
    "a branded group",
    (d) => groupName(d, { group: "events", branded: true }),
    "events.orch.io",
    "events.k8s.io",
  ],
  ["an unbranded group", (d) => groupName(d, { group: "apps", branded: false }), "apps", "apps"],
  ["the core version", (d) => apiVersionOf(d, { group: "", branded: false, version: "v1" }), "v1", "v1"],
  [
    "a branded version",
    (d) => apiVersionOf(d, { group: "rbac.authorization", branded: true, version: "v1" }),
    "rbac.authorization.orch.io/v1",
    "rbac.authorization.k8s.io/v1",
  ],
  [
    "the agent's configuration group",
    (d) => groupName(d, { group: "nodeagent.config", branded: true }),
    "nodeagent.config.orch.io",
    "kubelet.config.k8s.io",
  ],
  [
    "the credential provider group",
    (d) => groupName(d, { group: "credentialprovider.nodeagent", branded: true }),
    "credentialprovider.nodeagent.orch.io",
    "credentialprovider.kubelet.k8s.io",
  ],
  [
    "published schema names",
    (d) => `${d.wire.schemaPrefix}.api.core.v1.Pod`,
    "io.orch.api.core.v1.Pod",
    "io.k8s.api.core.v1.Pod",
  ],
  [
    "schema extensions",
    (d) => `${d.wire.extensionPrefix}list-type`,
    "x-orch-list-type",
    "x-kubernetes-list-type",
  ],
  [
    "the binary media type",
    (d) => d.wire.protobufMediaType,
    "application/vnd.orch.protobuf",
    "application/vnd.kubernetes.protobuf",
  ],
  [
    "the flow schema header",
    (d) => d.wire.flowSchemaHeader,
    "X-Orch-PF-FlowSchema-UID",
    "X-Kubernetes-PF-FlowSchema-UID",
  ],
  ["the store's health check", (d) => d.wire.storeHealthCheck, "store", "etcd"],
  ["a taint", (d) => d.names.taints.notReady, "node.orch.io/not-ready", "node.kubernetes.io/not-ready"],
  [
    "a label by its parts",
    (d) => labelName(d, "topology", "zone"),
    "topology.orch.io/zone",
    "topology.kubernetes.io/zone",
  ],
  [
    "a label without prefix",
    (d) => labelName(d, "", "hostname"),
    "orch.io/hostname",
    "kubernetes.io/hostname",
  ],
  ["the system namespace", (d) => d.data.systemNamespace, "orch-system", "kube-system"],
  ["the node lease namespace", (d) => d.data.nodeLeaseNamespace, "orch-node-lease", "kube-node-lease"],
  ["the API service", (d) => d.data.apiService, "orch", "kubernetes"],
  [
    "a bootstrap token's type",
    (d) => d.names.secretTypes.bootstrapToken,
    "bootstrap.orch.io/token",
    "bootstrap.kubernetes.io/token",
  ],
  [
    "the agents' client signer",
    (d) => d.names.signers.agentClient,
    "orch.io/orch-apiserver-client-nodeagent",
    "kubernetes.io/kube-apiserver-client-kubelet",
  ],
  [
    "the serving signer",
    (d) => d.names.signers.agentServing,
    "orch.io/nodeagent-serving",
    "kubernetes.io/kubelet-serving",
  ],
  [
    "a component's user agent",
    (d) => componentAgent(d, "proxy"),
    "orch-proxy/v1.27.16",
    "kube-proxy/v1.27.16",
  ],
  ["a component", (d) => componentName(d, "scheduler"), "orch-scheduler", "kube-scheduler"],
  ["the agent's root", (d) => d.paths.agentRoot, "/var/lib/nodeagent", "/var/lib/kubelet"],
  [
    "the volume plugins",
    (d) => d.paths.agentVolumePlugins,
    "/usr/libexec/orch/nodeagent-plugins/volume/exec/",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
  ],
  [
    "device plug-ins",
    (d) => d.paths.devicePlugins,
    "/var/lib/nodeagent/device-plugins",
    "/var/lib/kubelet/device-plugins",
  ],
  ["serving certificates", (d) => d.paths.servingCertificates, "/var/run/orch", "/var/run/kubernetes"],
  [
    "the token mount",
    (d) => d.paths.serviceAccountMount,
    "/var/run/secrets/orch.io/serviceaccount",
    "/var/run/secrets/kubernetes.io/serviceaccount",
  ],
  [
    "runtime labels",
    (d) => `${d.data.runtimeLabelPrefix}pod.name`,
    "io.orch.pod.name",
    "io.kubernetes.pod.name",
  ],
  ["a store flag", (d) => d.spelling.flag("store-servers"), "store-servers", "etcd-servers"],
  [
    "the client configuration flag",
    (d) => d.spelling.flag("bootstrap-orchconfig"),
    "bootstrap-orchconfig",
    "bootstrap-kubeconfig",
  ],
  [
    "a reserved flag",
    (d) => d.spelling.flag("orch-reserved-cgroup"),
    "orch-reserved-cgroup",
    "kube-reserved-cgroup",
  ],
  [
    "an agent flag",
    (d) => d.spelling.flag("nodeagent-preferred-address-types"),
    "nodeagent-preferred-address-types",
    "kubelet-preferred-address-types",
  ],
  [
    "the node port flag",
    (d) => d.spelling.flag("orch-service-node-port"),
    "orch-service-node-port",
    "kubernetes-service-node-port",
  ],
  [
    "a flag without a product name",
    (d) => d.spelling.flag("storage-backend"),
    "storage-backend",
    "storage-backend",
  ],
  ["a configuration field", (d) => d.spelling.field("orchAPIQPS"), "orchAPIQPS", "kubeAPIQPS"],
  [
    "another configuration field",
    (d) => d.spelling.field("nodeagentCgroups"),
    "nodeagentCgroups",
    "kubeletCgroups",
  ],
  [
    "a kind",
    (d) => d.spelling.word("NodeAgentConfiguration"),
    "NodeAgentConfiguration",
    "KubeletConfiguration",
  ],
  [
    "a gate",
    (d) => d.spelling.word("RotateNodeAgentServerCertificate"),
    "RotateNodeAgentServerCertificate",
    "RotateKubeletServerCertificate",
  ],
  ["a level", (d) => d.spelling.word("orch-reserved"), "orch-reserved", "kube-reserved"],
];
for (const [what, get, inOrch, inKubernetes] of names) {
  test(`${what} is spelled by the dialect`, () =>
    assert.deepEqual([get(orch), get(kubernetes)], [inOrch, inKubernetes]));
}

test("a group parsed from its wire name equals the declared one", () => {
  for (const dialect of Object.values(dialects)) {
    for (const group of [
      { group: "events", branded: true },
      { group: "apps", branded: false },
      { group: "", branded: false },
    ]) {
      assert.deepEqual(groupFrom(dialect, groupName(dialect, group)), group);
    }
  }
});

test("no well-known name of one dialect contains words of the other", () => {
  const texts = (value: unknown): string[] =>
    typeof value === "string" ? [value] : Object.values(value as object).flatMap(texts);
  assert.deepEqual(
    texts(orch.names).filter((name) => /kubernetes|k8s\.io|kube-|kubelet/.test(name)),
    [],
  );
  assert.deepEqual(
    texts(kubernetes.names).filter((name) => /orch|nodeagent/.test(name)),
    [],
  );
});

const arguments_: [argv: string[], found: string | undefined][] = [
  [[], undefined],
  [["--v=4"], undefined],
  [["--v=4", "--dialect=kubernetes"], "kubernetes"],
  [["--dialect", "kubernetes", "--v=4"], "kubernetes"],
  [["--dialect=kubernetes", "--dialect=orch"], "orch"],
  [["--", "--dialect=kubernetes"], undefined],
  [["--dialect"], ""],
];
for (const [argv, found] of arguments_) {
  test(`the dialect in [${argv.join(" ")}] is ${found ?? "not given"}`, () =>
    assert.equal(dialectArgument(argv), found));
}

test("only the names of the two dialects are accepted", () => {
  assert.equal(dialectNamed("orch"), orch);
  assert.equal(dialectNamed("kubernetes"), kubernetes);
  assert.equal(dialectNamed("constructor"), undefined);
});

test("a command line selects a dialect, orch by default, and rejects unknown names", () => {
  assert.deepEqual(chosenDialect([]), { dialect: orch });
  assert.deepEqual(chosenDialect(["--dialect=kubernetes"]), { dialect: kubernetes });
  assert.deepEqual(chosenDialect(["--dialect", "klingon"]), {
    problem: "--dialect=klingon: must be orch or kubernetes",
  });
});
