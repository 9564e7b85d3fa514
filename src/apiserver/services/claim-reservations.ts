// Promises of what only one service can have, made to a request before its service is written.
//
// A server that has its store to itself remembers them. Servers that share one write each down in it, for a
// short while, and the service's own write consumes it: either the promise still stands and the service is
// there, or neither. So no two services can have the same:
//
//   server A   promise 10.0.0.7 @8                                   write service @10, spending @8
//   server B                        promise 10.0.0.7: A has it       …and once A's is spent, its service is known to whoever knows revision 10
import type { ReservedShare } from "#registry";
import type { Reservation, Revision, Store } from "#store";

export interface ClaimReservations {
  /** Whether somebody else was promised it, as far as this server knows without asking. */
  taken(claim: string, owner: string): boolean;
  /** Takes all of these, or says which one somebody else has. */
  take(claims: readonly string[], owner: string): Promise<Secured | { readonly lost: string }>;
}

export interface Secured extends ReservedShare {
  /** Whoever knows all services up to this revision knows all that were promised the same before. */
  readonly revision: Revision;
}

interface Remembered {
  readonly owner: string;
  /** Requests of the same owner that rely on it. */
  holders: number;
  /** Set once the service is written. */
  written?: Revision;
}

/** For a server that has its store to itself. `known` says up to which revision services are known. */
export function reservationsInMemory(known: () => Revision): ClaimReservations {
  const promises = new Map<string, Remembered>();
  const forgetKept = (): void => {
    for (const [claim, { written }] of promises)
      if (written !== undefined && written <= known()) promises.delete(claim);
  };
  const taken = (claim: string, owner: string): boolean => {
    const promised = promises.get(claim);
    return promised !== undefined && promised.owner !== owner && (promised.written ?? Infinity) > known();
  };
  return {
    taken,
    take: async (claims, owner) => {
      forgetKept();
      const lost = claims.find((claim) => taken(claim, owner));
      if (lost !== undefined) return { lost };
      for (const claim of claims)
        promises.getOrInsertComputed(claim, () => ({ owner, holders: 0 })).holders++;
      const settle = (revision?: Revision): void => {
        for (const claim of claims) {
          const promised = promises.get(claim);
          if (promised?.owner !== owner) continue;
          if (revision !== undefined) promised.written = revision;
          else if (--promised.holders === 0) promises.delete(claim);
        }
      };
      return { revision: 0, consumes: [], settle };
    },
  };
}

/** A server that is gone, or hangs, keeps nobody waiting for longer. */
const promiseSeconds = 30;

/** For servers that share a store. */
export function reservationsInStore(store: Store, prefix: string): ClaimReservations {
  const release = (promised: readonly Reservation[]): void => {
    // What cannot be given back ends by itself.
    for (const { key, revision } of promised)
      store.write({ key, value: null, expect: revision }).catch(() => undefined);
  };
  return {
    taken: () => false,
    take: async (claims, owner) => {
      const consumes: Reservation[] = [];
      const mine: Reservation[] = [];
      try {
        // One after another, all in the same order: of two that want the same, one gets all of it.
        for (const claim of claims.toSorted()) {
          const key = prefix + claim.replace(" ", "/");
          const outcome = await store.write({
            key,
            value: Buffer.from(owner),
            expect: "absent",
            ttlSeconds: promiseSeconds,
          });
          if (outcome.done) mine.push({ key, revision: outcome.revision });
          // Requests for the same service may rely on one promise: only one of them can spend it.
          else if (outcome.current && Buffer.from(outcome.current.value).toString() !== owner) {
            release(mine);
            return { lost: claim };
          }
          consumes.push({ key, revision: outcome.done ? outcome.revision : outcome.current!.revision });
        }
      } catch (error) {
        release(mine);
        throw error;
      }
      const settle = (revision?: Revision): void => {
        if (revision === undefined) release(mine);
      };
      return { revision: Math.max(...consumes.map((each) => each.revision)), consumes, settle };
    },
  };
}
