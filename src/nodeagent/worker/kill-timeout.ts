// How long the node waits for the containers of a pod that it evicts or preempts, as in the kubelet: one and
// a half times the grace period, and never less than the runtime needs to kill.
const minSeconds = 10;

export const killTimeoutSeconds = (graceSeconds: number): number =>
  Math.max(minSeconds, graceSeconds + Math.trunc(graceSeconds / 2));
