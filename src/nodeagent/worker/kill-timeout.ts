// How long whoever ends a pod for the node's sake waits for its containers, as the kubelet does: half as long
// again as the pod is given, and never less than the runtime needs to kill.
const leastSeconds = 10;

export const killTimeoutSeconds = (graceSeconds: number): number =>
  Math.max(leastSeconds, graceSeconds + Math.trunc(graceSeconds / 2));
