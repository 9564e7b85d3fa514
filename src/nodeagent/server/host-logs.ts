// `/logs/`: the host's log folder. Whoever asks for what lies above it gets what lies in it, if there is any;
// symbolic links that lead out of it lead nowhere.
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileReply, plainReply } from "#http";
import type { Answer } from "./routes.ts";

export function hostLogs(folder: string): Answer {
  return async ({ call, parts: { rest = "" } }) => {
    const wanted = join(folder, join("/", rest));
    if (!(await isInside(folder, wanted))) return plainReply(404, "404 page not found");
    return await fileReply(wanted, call);
  };
}

/** What does not exist is not outside. */
async function isInside(folder: string, path: string): Promise<boolean> {
  const [base, real] = await Promise.all([folder, path].map((one) => realpath(one).catch(() => undefined)));
  if (base === undefined || real === undefined) return true;
  const way = relative(base, real);
  return way !== ".." && !way.startsWith("../");
}
