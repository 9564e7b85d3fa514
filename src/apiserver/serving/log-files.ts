// /logs: the machine's log folder.
import { join } from "node:path";
import { methodNotAllowed } from "#base";
import { fileReply, plainReply } from "#http";
import { type PathHandler, checkRoute } from "#endpoints";

export function logFiles(path: string, folder: string): PathHandler {
  return async (call) => {
    const { path: asked } = call.target;
    if (asked !== path && !asked.startsWith(`${path}/`)) return undefined;
    if (call.method !== "GET") throw methodNotAllowed();
    // As in kube-apiserver: what a file holds is not known, so only clients that take anything get it.
    checkRoute(call.call, { produces: [] });
    const rest = decoded(asked.slice(path.length));
    if (rest === undefined || rest.split("/").includes("..")) return plainReply(400, "invalid URL path");
    return await fileReply(join(folder, rest), call.call);
  };
}

function decoded(path: string): string | undefined {
  try {
    const name = decodeURIComponent(path);
    return name.includes("\0") ? undefined : name;
  } catch {
    return undefined;
  }
}
