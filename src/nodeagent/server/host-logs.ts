// `/logs/`: the host's log folder. Whoever asks for what lies above it gets what lies in it, if there is any.
import { join } from "node:path";
import { fileReply } from "#http";
import type { Answer } from "./routes.ts";

export function hostLogs(folder: string): Answer {
  return async ({ call, parts: { rest = "" } }) => await fileReply(join(folder, join("/", rest)), call);
}
