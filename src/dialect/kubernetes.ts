// The dialect of existing clients, controllers and conformance suites.

import { dialectFrom } from "./words.ts";

/** Flags whose original name follows no rule. */
const flags: Readonly<Record<string, string>> = {
  "orch-service-node-port": "kubernetes-service-node-port",
  "cloud-provider-vendor-l7lb-src-cidrs": "cloud-provider-gce-l7lb-src-cidrs",
  "cloud-provider-vendor-lb-src-cidrs": "cloud-provider-gce-lb-src-cidrs",
  "vendor-container-registry-config": "azure-container-registry-config",
};

/** Parts of feature gates and kinds whose original spelling follows no rule. */
const words: Readonly<Record<string, string>> = {
  CSIMigrationVendorP: "CSIMigrationPortworx",
  WinHostNetwork: "WindowsHostNetwork",
};

export const kubernetes = dialectFrom({
  name: "kubernetes",
  product: "kubernetes",
  Product: "Kubernetes",
  groupSuffix: "k8s.io",
  labelDomain: "kubernetes.io",
  componentPrefix: "kube-",
  agent: "kubelet",
  podsCgroup: "kubepods",
  clientConfigFlag: "kubeconfig",
  storeSpan: "etcd3",
  spelling: {
    flag: (neutral) =>
      flags[neutral] ??
      neutral
        .replace(/^store-/, "etcd-")
        .replace("nodeagent", "kubelet")
        .replace(/\borch/, "kube"),
    field: (neutral) => neutral.replace(/\bnodeagent/g, "kubelet").replace(/\borch/g, "kube"),
    word: (neutral) => words[neutral] ?? neutral.replace("NodeAgent", "Kubelet").replace(/^orch-/, "kube-"),
  },
});
