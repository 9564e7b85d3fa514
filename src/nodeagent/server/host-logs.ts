// `/logs/`: the host's log directory, and queries for service logs if enabled. Paths are confined to the
// directory: `..` cannot leave it, and symbolic links that lead out of it are not found.
import { execFile, spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { type Reply, type Sink, fileReply, plainReply } from "#http";
import { fsErrorText } from "../errors.ts";
import {
  type SystemLogQuery,
  hasOptions,
  journalArguments,
  logQueryProblem,
  parseLogQuery,
  queryOf,
} from "./log-query.ts";
import type { RouteHandler } from "./routes.ts";

const run = promisify(execFile);
/** Time limit of a query. */
const maxMilliseconds = 30_000;
const maxUnitListBytes = 16 << 20;
const journal = "journalctl";

export function hostLogs(folder: string, answersQueries = false): RouteHandler {
  return async ({ call, parts: { rest = "" } }) => {
    if (!answersQueries) return await file(rest);
    const parsed = parseLogQuery(queryOf(call.search));
    if ("error" in parsed) return plainReply(400, parsed.error);
    const { query } = parsed;
    if (!query) return await file(rest);
    if (rest !== "" && rest !== "/") return plainReply(406, "path not allowed in query mode");
    const problem = await logQueryProblem(query, fileProblem);
    if (problem !== undefined) return plainReply(406, problem);
    const [name = ""] = query.files;
    return query.services.length > 0 ? servicesReply(folder, query) : await file(name, name);

    /**
     * Serves a file; `requestPath` is the original path, whose trailing slash decides whether a directory is meant.
     */
    async function file(path: string, requestPath = call.path): Promise<Reply> {
      const wanted = join(folder, join("/", path));
      if (!(await isInside(folder, wanted))) return plainReply(404, "404 page not found");
      return await fileReply(wanted, { path: requestPath, headers: call.headers });
    }
  };

  async function fileProblem(name: string): Promise<string | undefined> {
    const path = join(folder, join("/", name));
    if (!(await isInside(folder, path))) return `stat ${path}: no such file or directory`;
    return await stat(path).then(
      () => undefined,
      (error: Error) => fsErrorText(error),
    );
  }
}

/** Returns the journal entries of services, and the log files of those without a journal unit. */
function servicesReply(folder: string, query: SystemLogQuery): Reply {
  return {
    status: 200,
    headers: { "content-type": "text/plain;charset=UTF-8" },
    body: {
      stream: async (sink) => {
        const signal = AbortSignal.any([sink.closed, AbortSignal.timeout(maxMilliseconds)]);
        const units = await unitsOfJournal(signal);
        const isNative = (service: string): boolean => units.includes(`${service}.service`);
        const natives = query.services.filter(isNative);
        const others = query.services.filter((service) => !isNative(service));
        if (natives.length > 0) await copyJournal(journalArguments(query, natives), sink, signal);
        if (others.length === 0) return;
        if (hasOptions(query)) {
          const which = `[${others.join(" ")}]`;
          writeText(
            sink,
            `\noptions present and query resolved to log files for ${which}\ntry without specifying options\n`,
          );
          return;
        }
        for (const service of others) await copyFile(folder, service, sink, signal);
      },
    },
  };
}

/** Lists the units in the journal; empty if the host has none. */
const unitsOfJournal = (signal: AbortSignal): Promise<string> =>
  run(journal, ["--field", "_SYSTEMD_UNIT"], { signal, maxBuffer: maxUnitListBytes }).then(
    ({ stdout }) => stdout,
    () => "",
  );

async function copyJournal(args: readonly string[], sink: Sink, signal: AbortSignal): Promise<void> {
  const child = spawn(journal, [...args], { stdio: ["ignore", "pipe", "pipe"], signal });
  const failed = new Promise<void>((resolve) => child.on("error", () => resolve()));
  const copied = Promise.all([child.stdout, child.stderr].map((output) => copy(output, sink)));
  await Promise.race([copied.catch(() => undefined), failed]);
  if (child.pid === undefined) writeText(sink, "\nerror: journal output not available\n");
}

/** Copies the first existing log file of a service. */
async function copyFile(folder: string, service: string, sink: Sink, signal: AbortSignal): Promise<void> {
  for (const name of [service, `${service}.log`, join(service, `${service}.log`)]) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile() || !(await isInside(folder, path))) continue;
    await copy(createReadStream(path, { signal }), sink).catch((error: Error) =>
      writeText(sink, `\nerror getting log for ${service}: ${fsErrorText(error)}\n`),
    );
    return;
  }
  writeText(sink, `\nlog not found for ${service}\n`);
}

async function copy(from: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  for await (const chunk of from) {
    sink.write(chunk);
    await sink.drained();
  }
}

const writeText = (sink: Sink, text: string): void => sink.write(Buffer.from(text));

/** Reports whether a path is inside the directory; a path that does not exist counts as inside. */
async function isInside(folder: string, path: string): Promise<boolean> {
  const [base, real] = await Promise.all([folder, path].map((one) => realpath(one).catch(() => undefined)));
  if (base === undefined || real === undefined) return true;
  const way = relative(base, real);
  return way !== ".." && !way.startsWith("../");
}
