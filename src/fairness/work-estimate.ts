// Estimates the seats of a request, as in kube-apiserver 1.27: lists by the number of objects they process,
// writes by the number of watches they notify.
import type { RequestDigest } from "./request-digest.ts";

export interface WorkEstimate {
  /** Seats while the request is served. */
  readonly initialSeats: number;
  /** Seats for `additionalMilliseconds` after the response, while watches are notified. */
  readonly finalSeats: number;
  readonly additionalMilliseconds: number;
}

export interface WorkFacts {
  /** Returns the number of objects of a resource; undefined for an unknown resource. */
  readonly objectCount: (group: string, resource: string) => number | undefined;
  /** Returns the number of watches that receive a write's event. */
  readonly watchCount: (request: RequestDigest) => number;
}

const maxSeatsOfAny = 10;
const objectsPerSeat = 100;
const watchesPerSeat = 10;
const eventMilliseconds = 5;

const seats = (initialSeats: number): WorkEstimate => ({
  initialSeats,
  finalSeats: 0,
  additionalMilliseconds: 0,
});
const bySeats = Array.from({ length: maxSeatsOfAny + 1 }, (_, count) => seats(count));
const oneSeat = bySeats[1]!;
const writes = new Set(["create", "update", "patch", "delete"]);

/** `levelMaxSeats` is the level's maximum for one request. */
export function estimateWork(request: RequestDigest, facts: WorkFacts, levelMaxSeats: number): WorkEstimate {
  const maxSeats = levelMaxSeats === 0 ? maxSeatsOfAny : Math.min(levelMaxSeats, maxSeatsOfAny);
  if (request.verb === "list") return bySeats[listSeats(request, facts, maxSeats)]!;
  if (!writes.has(request.verb)) return oneSeat;
  if (request.resource === "serviceaccounts" && request.subresource === "token") return oneSeat;
  const watches = facts.watchCount(request);
  if (watches < watchesPerSeat) return oneSeat;
  const finalSeats = Math.ceil(watches / watchesPerSeat);
  const capped = Math.min(finalSeats, maxSeats);
  return {
    initialSeats: 1,
    finalSeats: capped,
    additionalMilliseconds: (finalSeats * eventMilliseconds) / capped,
  };
}

function listSeats(request: RequestDigest, facts: WorkFacts, maxSeats: number): number {
  // A list restricted to one name is read like a get.
  if (request.name !== "") return 1;
  const stored = facts.objectCount(request.group, request.resource);
  if (stored === undefined) return 1;
  const { limit, resourceVersion, continues, selects, exactMatch } = request.list();
  const returned = limit > 0 && limit < stored ? limit : stored;
  const fromStore =
    resourceVersion === "" || continues || (limit > 0 && resourceVersion !== "0") || exactMatch;
  const processed = fromStore ? (selects ? stored + returned : 2 * returned) : stored;
  return Math.max(1, Math.min(maxSeats, Math.ceil(processed / objectsPerSeat)));
}
