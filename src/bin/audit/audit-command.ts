// `orch audit FILE…`: filters an audit log and formats it for display.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createGunzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { durationMillis } from "#base";
import type { Output } from "../output.ts";
import { type EventFilter, type LoggedEvent, lineOf, matches } from "./event-line.ts";
import { objectDiff } from "./object-diff.ts";

const usage = `Usage: orch audit [filters] FILE...

Prints a log that orch-apiserver wrote with --audit-log-path: who did what to which object, and the result.
Files that end in .gz are decompressed; - reads standard input. Pass rotated files oldest first.

  --user NAME              Requests of this user, or impersonating it.
  --verb VERB              get, list, create, patch, delete ...
  --resource RESOURCE      deployments, deployments.apps or pods/exec.
  --namespace NAMESPACE, --name NAME
  --code CODE              A status code such as 403, or 4xx for the whole class.
  --since TIME, --until TIME
                           2026-01-31T10:00:00Z, or 10m for ten minutes ago.
  --id ID                  The request with this audit id.
  --diff                   Show changes of objects, if bodies were logged (level RequestResponse).
  --json                   Print events as JSON, unchanged.
`;

/** Number of objects whose last state is remembered for diffs. */
const maxObjects = 10_000;

const flags = {
  user: { type: "string" },
  verb: { type: "string" },
  resource: { type: "string" },
  namespace: { type: "string", short: "n" },
  name: { type: "string" },
  code: { type: "string" },
  since: { type: "string" },
  until: { type: "string" },
  id: { type: "string" },
  diff: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export async function auditCommand(
  argv: readonly string[],
  { out, err }: Output,
  now: number = Date.now(),
): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: flags, allowPositionals: true });
    if (values.help) {
      out(usage);
      return 0;
    }
    if (positionals.length === 0) throw new Error("specify a log file, or - for standard input");
    const { since, until, diff = false, json = false, ...same } = values;
    const filter: EventFilter = {
      ...same,
      since: since === undefined ? undefined : timeOf("since", since, now),
      until: until === undefined ? undefined : timeOf("until", until, now),
    };
    const print = printer(filter, { diff, json }, out);
    let invalidLines = 0;
    for (const file of positionals)
      try {
        for await (const line of linesOf(file)) if (!print(line)) invalidLines++;
      } catch (error) {
        err(`error: ${file}: ${(error as Error).message}\n`);
        return 1;
      }
    if (invalidLines > 0) err(`lines that are not events in JSON were skipped: ${invalidLines}\n`);
    return 0;
  } catch (error) {
    err(`error: ${(error as Error).message}\n\n${usage}`);
    return 1;
  }
}

function timeOf(flag: string, given: string, now: number): number {
  const at = Date.parse(given);
  if (!Number.isNaN(at)) return at;
  try {
    return now - durationMillis(given);
  } catch (error) {
    throw new Error(`--${flag}: ${given} is neither a time nor a duration`, { cause: error });
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const raw = file === "-" ? process.stdin : createReadStream(file);
  const unpacked = file.endsWith(".gz") ? raw.pipe(createGunzip()) : raw;
  // Read errors are reported by the file stream, not by the decompressor.
  const failed = new Promise<never>((_, reject) => raw.once("error", reject));
  failed.catch(() => undefined);
  const lines = createInterface({ input: unpacked, crlfDelay: Infinity })[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([lines.next(), failed]);
    if (next.done) return;
    yield next.value;
  }
}

/**
 * Returns a function that prints a log line if it matches the filter; it returns false if the line is not an
 * event.
 */
export function printer(
  filter: EventFilter,
  { diff, json }: { readonly diff: boolean; readonly json: boolean },
  out: (text: string) => void,
): (line: string) => boolean {
  const states = new LRUCache<string, object>({ max: maxObjects });
  return (line) => {
    if (line.trim() === "") return true;
    const event = eventOf(line);
    if (!event) return false;
    // Earlier stages of a request contain less than the last one.
    if (event.stage !== "ResponseComplete" && event.stage !== "Panic") return true;
    const changes = diff ? changesOf(event, states) : [];
    if (!matches(event, filter)) return true;
    if (json) out(`${line}\n`);
    else out([lineOf(event), ...changes.map((change) => `    ${change}`), ""].join("\n"));
    return true;
  };
}

function eventOf(line: string): LoggedEvent | undefined {
  try {
    const event = JSON.parse(line) as LoggedEvent & { readonly kind?: unknown };
    return event.kind === "Event" ? event : undefined;
  } catch {
    return undefined;
  }
}

const writes = ["create", "update", "patch", "delete"];

/** Returns the changes since the object's last state in the log; a created object is not listed. */
function changesOf(event: LoggedEvent, states: LRUCache<string, object>): string[] {
  const { objectRef, responseObject: now, verb = "", responseStatus } = event;
  const failed = responseStatus?.code === undefined || responseStatus.code >= 300;
  if (!objectRef?.name || typeof now !== "object" || now === null || failed) return [];
  const { kind } = now as { kind?: unknown };
  if (typeof kind !== "string" || kind === "Status" || kind.endsWith("List")) return [];
  const { apiGroup = "", resource = "", namespace = "", name } = objectRef;
  const key = [apiGroup, resource, namespace, name].join("/");
  const before = states.get(key);
  if (objectRef.subresource && objectRef.subresource !== "status") return [];
  if (verb === "delete") states.delete(key);
  else states.set(key, now);
  if (!before || !writes.includes(verb) || verb === "delete") return [];
  return objectDiff(before, now, resource === "secrets" ? ["data", "stringData"] : []);
}
