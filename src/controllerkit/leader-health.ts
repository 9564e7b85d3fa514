// Health check of the leader: a leader that hangs stops renewing and should have exited. Candidates waiting
// for the lease are healthy.
import type { Clock } from "#base";
import type { HealthCheck } from "#http";

export interface LeaderHealth extends HealthCheck {
  renewed(): void;
}

/** Tolerance after the lease expired before the leader is reported as unhealthy. */
const toleranceMilliseconds = 20_000;

export function leaderHealth(clock: Clock, lease: string, leaseMilliseconds: number): LeaderHealth {
  let renewedAt: number | undefined;
  return {
    name: "leaderElection",
    renewed: () => (renewedAt = clock.monotonic()),
    check: () => {
      if (
        renewedAt !== undefined &&
        clock.monotonic() - renewedAt > leaseMilliseconds + toleranceMilliseconds
      )
        throw new Error(`failed election to renew leadership on lease ${lease}`);
    },
  };
}
