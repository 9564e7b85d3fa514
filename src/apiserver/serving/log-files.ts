// /logs: the host's log directory.
import { join } from "node:path";
import { methodNotAllowed } from "#base";
import { fileReply, plainReply } from "#http";
import { type PathHandler, checkRoute } from "#endpoints";

export function logFiles(path: string, folder: string): PathHandler {
  return async (call) => {
    const { path: requested } = call.target;
    if (requested !== path && !requested.startsWith(`${path}/`)) return undefined;
    if (call.method !== "GET") throw methodNotAllowed();
    // As in kube-apiserver: the content type of a file is unknown, so only clients that accept any type are
    // served.
    checkRoute(call.call, { produces: [] });
    const rest = decodePath(requested.slice(path.length));
    if (rest === undefined || rest.split("/").includes("..")) return plainReply(400, "invalid URL path");
    return await fileReply(join(folder, rest), call.call);
  };
}

function decodePath(path: string): string | undefined {
  try {
    const name = decodeURIComponent(path);
    return name.includes("\0") ? undefined : name;
  } catch {
    return undefined;
  }
}
