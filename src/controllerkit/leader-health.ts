// The health of a leader: a process that hangs renews nothing, and ought to have ended. Whoever waits for its turn
// is well.
import type { Clock } from "#base";
import type { HealthCheck } from "#http";

export interface LeaderHealth extends HealthCheck {
  renewed(): void;
}

/** Beyond the end of the lease. */
const patienceMilliseconds = 20_000;

export function leaderHealth(clock: Clock, lease: string, leaseMilliseconds: number): LeaderHealth {
  let renewedAt: number | undefined;
  return {
    name: "leaderElection",
    renewed: () => (renewedAt = clock.now()),
    check: () => {
      if (renewedAt !== undefined && clock.now() - renewedAt > leaseMilliseconds + patienceMilliseconds)
        throw new Error(`failed election to renew leadership on lease ${lease}`);
    },
  };
}
