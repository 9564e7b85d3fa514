// Reservations of exclusive values (addresses and ports), made for a request before its service is written.
//
// A server with a private store keeps reservations in memory. Servers that share a store write each one to it
// for a short time, and the write of the service consumes it: either the reservation still exists and the
// service is stored, or neither. So no two services can have the same value:
//
//   server A   reserves 10.0.0.7 @8                           writes the service @10, consuming @8
//   server B                          10.0.0.7: held by A     10.0.0.7: free, but a server that knows all
//                                                             services up to revision 10 sees it in use
import type { PendingReservations } from "#registry";
import type { Reservation, Revision, Store } from "#store";

export interface ClaimReservations {
  /** Reports whether another owner has reserved the claim, to the knowledge of this server. */
  taken(claim: string, owner: string): boolean;
  /** Reserves all claims, or returns the one that is reserved by another owner. */
  take(claims: readonly string[], owner: string): Promise<Secured | { readonly lost: string }>;
}

export interface Secured extends PendingReservations {
  /** A server that has all services up to this revision has every service that held these claims before. */
  readonly revision: Revision;
}

interface MemoryReservation {
  readonly owner: string;
  /** Number of requests of the same owner that rely on the reservation. */
  holders: number;
  /** Revision at which the service was written; undefined until then. */
  written?: Revision;
}

/** Reservations of a server with a private store. `known` returns the revision of the cached services. */
export function reservationsInMemory(known: () => Revision): ClaimReservations {
  const reservations = new Map<string, MemoryReservation>();
  const dropVisible = (): void => {
    for (const [claim, { written }] of reservations)
      if (written !== undefined && written <= known()) reservations.delete(claim);
  };
  const taken = (claim: string, owner: string): boolean => {
    const reservation = reservations.get(claim);
    return (
      reservation !== undefined && reservation.owner !== owner && (reservation.written ?? Infinity) > known()
    );
  };
  return {
    taken,
    take: async (claims, owner) => {
      dropVisible();
      const lost = claims.find((claim) => taken(claim, owner));
      if (lost !== undefined) return { lost };
      for (const claim of claims)
        reservations.getOrInsertComputed(claim, () => ({ owner, holders: 0 })).holders++;
      const settle = (revision?: Revision): void => {
        for (const claim of claims) {
          const reservation = reservations.get(claim);
          if (reservation?.owner !== owner) continue;
          if (revision !== undefined) reservation.written = revision;
          else if (--reservation.holders === 0) reservations.delete(claim);
        }
      };
      return { revision: 0, consumes: [], settle };
    },
  };
}

/** Lifetime of a stored reservation; bounds how long a crashed or hanging server can block others. */
const reservationSeconds = 30;

/** Reservations of servers that share a store. */
export function reservationsInStore(store: Store, prefix: string): ClaimReservations {
  const release = (reservations: readonly Reservation[]): void => {
    // A reservation that cannot be deleted expires by itself.
    for (const { key, revision } of reservations)
      store.write({ key, value: null, expect: revision }).catch(() => undefined);
  };
  return {
    taken: () => false,
    take: async (claims, owner) => {
      const consumes: Reservation[] = [];
      const created: Reservation[] = [];
      try {
        // Reserve one by one in sorted order, so that of two competing requests one gets all claims.
        for (const claim of claims.toSorted()) {
          const key = prefix + claim.replace(" ", "/");
          const outcome = await store.write({
            key,
            value: Buffer.from(owner),
            expect: "absent",
            ttlSeconds: reservationSeconds,
          });
          if (outcome.done) created.push({ key, revision: outcome.revision });
          // Concurrent requests for the same service share a reservation; only one of them can consume it.
          else if (outcome.current && Buffer.from(outcome.current.value).toString() !== owner) {
            release(created);
            return { lost: claim };
          }
          consumes.push({ key, revision: outcome.done ? outcome.revision : outcome.current!.revision });
        }
      } catch (error) {
        release(created);
        throw error;
      }
      const settle = (revision?: Revision): void => {
        if (revision === undefined) release(created);
      };
      return { revision: Math.max(...consumes.map((each) => each.revision)), consumes, settle };
    },
  };
}
