// What a health path answers: its checks one by one for those who ask for details or when one fails. Why it
// fails is told on the check's own path only, because the common one is asked by everybody.
import type { Reply } from "./call.ts";
import { plainReply } from "./files.ts";
import type { Query } from "./query.ts";

export interface HealthCheck {
  readonly name: string;
  /** Another name by which it can be asked for and left out. */
  readonly alias?: string;
  /** Throws or rejects when something is wrong. */
  check(): void | Promise<void>;
}

export interface HealthObserver {
  /** Told of each check of a whole endpoint; whoever asks for one check alone wants just that. */
  found(endpoint: string, name: string, fine: boolean): void;
  /** Told of an endpoint that failed: of which checks, and what was found with their reasons. */
  failed?(endpoint: string, names: readonly string[], report: string): void;
}

export interface HealthQuestion {
  /** `healthz` and its like. */
  readonly endpoint: string;
  readonly checks: readonly HealthCheck[];
  readonly query: Query;
  /** What is worth knowing without being a reason to fail. */
  readonly notes?: readonly string[];
  readonly observer?: HealthObserver | undefined;
}

const plain = { "content-type": "text/plain; charset=utf-8" };
const unsniffed = { ...plain, "x-content-type-options": "nosniff" };

export const namesOfCheck = ({ name, alias }: HealthCheck): readonly string[] =>
  alias === undefined ? [name] : [name, alias];

/** One check alone. */
export async function checkReply(check: HealthCheck): Promise<Reply> {
  const wrong = await problemOf(check);
  if (wrong !== undefined) return plainReply(500, `internal server error: ${wrong}`);
  return { status: 200, headers: plain, body: Buffer.from("ok") };
}

/** All checks of an endpoint but those that the query leaves out. */
export async function checksReply(question: HealthQuestion): Promise<Reply> {
  const { endpoint, checks, query, notes = [], observer } = question;
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
    observer?.found(endpoint, check.name, wrong === undefined);
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
  return { status: 200, headers: unsniffed, body: Buffer.from(body) };
}

async function problemOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check();
    return undefined;
  } catch (error) {
    return (error as Error).message || "failed";
  }
}
