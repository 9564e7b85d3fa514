// What every write carries beside the object: who, through which version, under which options, and who hears
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
  readonly subresource: string;
  /** Set for one of many that a request deletes: admission sees no name, since the request had none. */
  readonly unnamed?: boolean;
  readonly user: UserInfo;
  readonly now: Date;
  readonly dryRun: boolean;
  /** Who owns the fields this write sets. */
  readonly manager: string;
  readonly admission: AdmissionChain;
  readonly settings: RegistrySettings;
  /** What this write lets others have between its steps; a write of the server's own takes none. */
  readonly yieldBudget?: YieldBudget;
  /** The options as admission shows them. */
  options(): Readonly<Record<string, unknown>>;
  /** The operation that the write belongs to; its steps become spans inside it. */
  readonly span?: Span | undefined;
  /** Milliseconds since the epoch by which the answer should be out. */
  readonly deadline?: number;
  warn(text: string): void;
  /** Adds to the audit event of the request. */
  annotate(key: string, value: string): void;
}

/**
 * Repeated owners are dropped with a word to the client: of an object that was sent, before anybody looks, and
 * of every object after admission had its say.
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

/** The second as objects carry it, made once for all that are written in it. */
export function timestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond.second)
    lastSecond = { second, text: flatText(`${date.toISOString().slice(0, 19)}Z`) };
  return lastSecond.text;
}
