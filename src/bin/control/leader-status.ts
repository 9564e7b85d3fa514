// The leader election metric, as exported by the original.
import type { Metrics } from "#base";

type Work = (signal: AbortSignal) => Promise<void>;

/** Wraps a leader's work with a gauge that is 1 while this process leads and 0 otherwise. */
export function leaderStatus(metrics: Metrics, lease: string, work: Work): Work {
  const status = metrics
    .gauge({
      name: "leader_election_master_status",
      help: "Whether this process is the leader: 1 if it is, 0 if it is a candidate.",
      stability: "ALPHA",
      labels: ["name"],
    })
    .with(lease);
  status.set(0);
  return async (signal) => {
    status.set(1);
    try {
      await work(signal);
    } finally {
      status.set(0);
    }
  };
}
