// Short forms of kinds: their short resource names, or their capitals.

const known: Readonly<Record<string, string>> = {
  Pod: "pod",
  Deployment: "deploy",
  ReplicaSet: "rs",
  StatefulSet: "sts",
  DaemonSet: "ds",
  Job: "job",
  CronJob: "cj",
  Node: "node",
  Service: "svc",
  ConfigMap: "cm",
  Secret: "secret",
  Namespace: "ns",
  ServiceAccount: "sa",
  PersistentVolumeClaim: "pvc",
  PersistentVolume: "pv",
  HorizontalPodAutoscaler: "hpa",
  Ingress: "ing",
  Endpoints: "ep",
  PodDisruptionBudget: "pdb",
};

export const shortKind = (kind: string): string =>
  known[kind] ??
  (kind.length <= 7 ? kind.toLowerCase() : kind.replaceAll(/[^A-Z]/g, "").toLowerCase() || kind.slice(0, 6));
