// A typical pod of about 3 KB in canonical form.

import type { Pod } from "#api";

const at = (second: number): string => `2026-03-14T09:26:${String(second).padStart(2, "0")}Z`;

export const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: {
    name: "web-6d4b75cb6d-hx2kp",
    generateName: "web-6d4b75cb6d-",
    namespace: "production",
    uid: "5a0b1f5e-6f0c-4f6e-9a3f-0d8f5a3c2b11",
    resourceVersion: "184467",
    creationTimestamp: at(10),
    labels: { app: "web", "pod-template-hash": "6d4b75cb6d", tier: "frontend" },
    annotations: {
      "example.com/checksum": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "example.com/revision": "17",
    },
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "web-6d4b75cb6d",
        uid: "d9607e19-f88f-11e6-a518-42010a800195",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    volumes: [
      { name: "config", configMap: { name: "web-config", defaultMode: 420 } },
      { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
      {
        name: "api-access",
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            {
              downwardAPI: {
                items: [
                  { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: ["web"].map((name) => ({
      name,
      image: `registry.example.com/${name}:1.27.3`,
      args: ["--port=8080", "--log-level=info"],
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      env: [
        { name: "MODE", value: "production" },
        { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
      ],
      resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
      volumeMounts: [
        { name: "config", readOnly: true, mountPath: "/etc/web" },
        { name: "cache", mountPath: "/var/cache/web" },
      ],
      livenessProbe: {
        httpGet: { path: "/healthz", port: "http", scheme: "HTTP" },
        initialDelaySeconds: 5,
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
    })),
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: "default",
    serviceAccount: "default",
    nodeName: "node-1",
    securityContext: {},
    schedulerName: "default-scheduler",
    tolerations: [
      { key: "node.example.com/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      {
        key: "node.example.com/unreachable",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
    ],
    priority: 0,
    enableServiceLinks: true,
  },
  status: {
    phase: "Running",
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type, i) => ({
      type,
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: at(12 + i),
    })),
    hostIP: "10.0.0.5",
    podIP: "10.244.1.17",
    podIPs: [{ ip: "10.244.1.17" }],
    startTime: at(11),
    containerStatuses: ["web"].map((name) => ({
      name,
      state: { running: { startedAt: at(14) } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: `registry.example.com/${name}:1.27.3`,
      imageID: `registry.example.com/${name}@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
      containerID: "containerd://60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
      started: true,
    })),
    qosClass: "Burstable",
  },
};
