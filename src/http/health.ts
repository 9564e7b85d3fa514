// Responses of health endpoints: the individual checks are listed if details are requested or a check fails.
// The reason of a failure is only shown on the check's own path, because any client may read the common one.
import type { Reply } from "./call.ts";
import { plainReply } from "./files.ts";
import type { Query } from "./query.ts";

export interface HealthCheck {
  readonly name: string;
  /** An alternative name by which the check can be requested and excluded. */
  readonly alias?: string;
  /** Throws or rejects if the check fails. */
  check(): void | Promise<void>;
}

export interface HealthObserver {
  /** Called for each check of a whole endpoint, but not when a single check is requested. */
  checked(endpoint: string, name: string, ok: boolean): void;
  /** Called when an endpoint failed, with the failed checks and a report that includes their reasons. */
  failed?(endpoint: string, names: readonly string[], report: string): void;
}

export interface HealthRequest {
  /** `healthz`, `livez` or `readyz`. */
  readonly endpoint: string;
  readonly checks: readonly HealthCheck[];
  readonly query: Query;
  /** Additional lines that do not make the check fail. */
  readonly notes?: readonly string[];
  readonly observer?: HealthObserver | undefined;
}

const plain = { "content-type": "text/plain; charset=utf-8" };
const noSniff = { ...plain, "x-content-type-options": "nosniff" };

export const namesOfCheck = ({ name, alias }: HealthCheck): readonly string[] =>
  alias === undefined ? [name] : [name, alias];

/** Responds with the result of a single check. */
export async function checkReply(check: HealthCheck): Promise<Reply> {
  const problem = await problemOf(check);
  if (problem !== undefined) return plainReply(500, `internal server error: ${problem}`);
  return { status: 200, headers: plain, body: Buffer.from("ok") };
}

/** Responds with all checks of an endpoint except those the query excludes. */
export async function checksReply(request: HealthRequest): Promise<Reply> {
  const { endpoint, checks, query, notes = [], observer } = request;
  const excluded = new Set(query.all("exclude"));
  const lines: string[] = [];
  const failed: string[] = [];
  const reasons: string[] = [];
  for (const check of checks) {
    if (namesOfCheck(check).filter((name) => excluded.delete(name)).length > 0) {
      lines.push(`[+]${check.name} excluded: ok`);
      continue;
    }
    const wrong = await problemOf(check);
    observer?.checked(endpoint, check.name, wrong === undefined);
    if (wrong !== undefined) {
      lines.push(`[-]${check.name} failed: reason withheld`);
      failed.push(check.name);
      reasons.push(`[-]${check.name} failed: ${wrong}`);
    } else lines.push(`[+]${check.name} ok`);
  }
  lines.push(...notes);
  if (excluded.size > 0) {
    const unknown = [...excluded].toSorted().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(",")}`);
  }
  if (failed.length > 0) {
    observer?.failed?.(endpoint, failed, reasons.join("\n"));
    return plainReply(500, `${lines.join("\n")}\n${endpoint} check failed`);
  }
  const body = query.has("verbose") ? `${lines.join("\n")}\n${endpoint} check passed\n` : "ok";
  return { status: 200, headers: noSniff, body: Buffer.from(body) };
}

async function problemOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check();
    return undefined;
  } catch (error) {
    return (error as Error).message || "failed";
  }
}
