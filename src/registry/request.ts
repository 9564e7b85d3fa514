// The parameters of a write besides the object: the user, the endpoint, the options, and the receiver of
// warnings.
import type { AdmissionChain, UserInfo } from "#admission";
import { flatText } from "#base";
import type { Span } from "#tracing";
import type { YieldBudget } from "./yield-budget.ts";
import { dropRepeatedOwners } from "./object-meta.ts";
import type { Endpoint } from "./resource.ts";
import type { ApiObject, RegistrySettings } from "./strategy.ts";

export interface WriteRequest {
  readonly endpoint: Endpoint;
  readonly namespace: string;
  /** Name in the path of the request; empty if it was sent to a collection, absent for the server's own writes. */
  readonly pathName?: string;
  readonly subresource: string;
  /**
   * Set for each deletion that is part of a collection request: admission sees no name, since the request has
   * none.
   */
  readonly unnamed?: boolean;
  /** Called when a deletion has been admitted and its write begins, possibly more than once. */
  readonly admitted?: () => void;
  readonly user: UserInfo;
  readonly now: Date;
  readonly dryRun: boolean;
  /** Field manager that owns the fields this write sets. */
  readonly manager: string;
  readonly admission: AdmissionChain;
  readonly settings: RegistrySettings;
  /** Lets other work run between the steps of this write; absent for the server's own writes. */
  readonly yieldBudget?: YieldBudget;
  /** The options as shown to admission. */
  options(): Readonly<Record<string, unknown>>;
  /** The trace span of the request; steps of the write become child spans. */
  readonly span?: Span | undefined;
  /** Deadline of the response in milliseconds since the epoch. */
  readonly deadline?: number;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request, if it has at least the given level. */
  annotate(key: string, value: string, level?: "Request"): void;
}

/**
 * Drops repeated owner references and warns the client: called for a received object before any further
 * processing, and again for every object after mutating admission.
 */
export function normalizeOwnerReferences(
  request: WriteRequest,
  { metadata }: ApiObject,
  after?: "admission",
): void {
  const repeated = dropRepeatedOwners(metadata);
  if (repeated.length === 0) return;
  const when = after ? " after mutating admission happens" : "";
  request.warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`,
  );
}

let lastSecond = { second: Number.NaN, text: "" };

/** Formats a time with a precision of one second; the text is cached for the current second. */
export function timestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond.second)
    lastSecond = { second, text: flatText(`${date.toISOString().slice(0, 19)}Z`) };
  return lastSecond.text;
}
