// /healthz, /livez and /readyz: named checks, each also at a path of its own.
import type { Reply } from "#http";
import type { ApiCall } from "#endpoints";

export interface HealthCheck {
  readonly name: string;
  /** Another name by which it can be asked for and left out. */
  readonly alias?: string;
  /** Throws or rejects when something is wrong. */
  check(): void | Promise<void>;
}

export interface HealthPaths {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
  /** What is worth knowing without being a reason to fail, for those who ask /readyz for details. */
  notes?(): readonly string[];
}

export interface HealthObserver {
  /** Told of each check of a whole endpoint; whoever asks for one check alone wants just that. */
  found(endpoint: string, name: string, fine: boolean): void;
  /** Told of an endpoint that failed: of which checks, and what was found with their reasons. */
  failed?(endpoint: string, names: readonly string[], report: string): void;
}

const text = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

/** Answers a health path, or nothing when the path is not one. */
export async function healthReply(
  paths: HealthPaths,
  call: ApiCall,
  observer?: HealthObserver,
): Promise<Reply | undefined> {
  const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(call.target.path);
  if (!match) return undefined;
  const [, endpoint, one] = match as unknown as [string, "healthz" | "livez" | "readyz", string | undefined];
  const checks = paths[endpoint];
  if (one !== undefined) {
    const check = checks.find((each) => namesOf(each).includes(one));
    return check ? await single(check) : undefined;
  }
  const notes = endpoint === "readyz" ? (paths.notes?.() ?? []) : [];
  return await all(endpoint, checks, call, notes, observer);
}

const namesOf = ({ name, alias }: HealthCheck): readonly string[] =>
  alias === undefined ? [name] : [name, alias];

async function single(check: HealthCheck): Promise<Reply> {
  const wrong = await trouble(check);
  if (wrong) return { status: 500, headers: text, body: Buffer.from(`internal server error: ${wrong}\n`) };
  return { status: 200, headers: { "content-type": text["content-type"] }, body: Buffer.from("ok") };
}

async function all(
  endpoint: string,
  checks: readonly HealthCheck[],
  call: ApiCall,
  notes: readonly string[],
  observer: HealthObserver | undefined,
): Promise<Reply> {
  const excluded = new Set(
    call.query
      .all("exclude")
      .flatMap((names) => names.split(","))
      .filter(Boolean),
  );
  const lines: string[] = [];
  const failed: string[] = [];
  const reasons: string[] = [];
  for (const check of checks) {
    if (namesOf(check).filter((name) => excluded.delete(name)).length > 0) {
      lines.push(`[+]${check.name} excluded: ok`);
      continue;
    }
    const wrong = await trouble(check);
    observer?.found(endpoint, check.name, !wrong);
    if (wrong) {
      // The reason may tell too much; the log has it.
      lines.push(`[-]${check.name} failed: reason withheld`);
      failed.push(check.name);
      reasons.push(`[-]${check.name} failed: ${wrong}`);
    } else lines.push(`[+]${check.name} ok`);
  }
  lines.push(...notes);
  if (excluded.size > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${[...excluded].map((name) => JSON.stringify(name)).join(",")}`,
    );
  if (failed.length > 0) {
    observer?.failed?.(endpoint, failed, reasons.join("\n"));
    return {
      status: 500,
      headers: text,
      body: Buffer.from(`${lines.join("\n")}\n${endpoint} check failed\n`),
    };
  }
  const verbose = call.query.has("verbose");
  return {
    status: 200,
    headers: text,
    body: Buffer.from(verbose ? `${lines.join("\n")}\n${endpoint} check passed\n` : "ok"),
  };
}

async function trouble(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check();
    return undefined;
  } catch (error) {
    return (error as Error).message || "failed";
  }
}
