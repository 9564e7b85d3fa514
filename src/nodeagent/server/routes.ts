// Dispatches paths to handlers, and responds to unknown paths and methods like the reference.
//
// A plain route is one path and any method. A service owns a prefix: unknown paths and methods below it are
// answered by the service, and thus only after authentication.
import { type Call, type Query, type Reply, parseQuery, plainReply } from "#http";
import { moved, text } from "./replies.ts";

export interface Request {
  readonly call: Call;
  readonly query: Query;
  readonly parts: Readonly<Record<string, string>>;
}
export type RouteHandler = (request: Request) => Promise<Reply> | Reply;

export interface ServiceRoute {
  /** Path below the service's prefix: `/{namespace}/{pod}`; `/{rest*}` matches the whole remainder. */
  readonly path: string;
  readonly methods: readonly string[];
  readonly answer: RouteHandler;
}

export type Route =
  | { readonly path: string; readonly answer: RouteHandler }
  /**
   * If `bare` is set, the service also handles the prefix without trailing slash; otherwise that redirects to
   * the one with the slash.
   */
  | { readonly prefix: string; readonly bare: boolean; readonly routes: readonly ServiceRoute[] }
  /** All paths below the prefix have the same handler. */
  | { readonly prefix: string; readonly answer: RouteHandler };

export type RouteMatch =
  | { readonly found: true; readonly answer: () => Promise<Reply> }
  | { readonly found: false; readonly reply: Reply };

/** Returns a function that routes a call. Unknown paths are answered immediately, without authentication. */
export function router(routes: readonly Route[]): (call: Call) => RouteMatch {
  const plain = new Map(
    routes.flatMap((route) => ("path" in route ? [[route.path, route.answer] as const] : [])),
  );
  const services = routes
    .filter((route) => "prefix" in route)
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return (call) => {
    const clean = cleanPath(call.path);
    const search = call.search === "" ? "" : `?${call.search}`;
    if (clean !== call.path) return { found: false, reply: moved(clean + search) };
    const query = parseQuery(call.search);
    const answered = (answer: RouteHandler, parts: Request["parts"] = {}): RouteMatch => ({
      found: true,
      answer: async () => await answer({ call, query, parts }),
    });
    const exact = plain.get(clean);
    if (exact) return answered(exact);
    for (const service of services) {
      if (clean !== service.prefix && !clean.startsWith(`${service.prefix}/`)) continue;
      if (clean === service.prefix && !("bare" in service && service.bare))
        return { found: false, reply: moved(`${clean}/${search}`) };
      if ("answer" in service) return answered(service.answer);
      return {
        found: true,
        answer: () => inService(service.routes, clean.slice(service.prefix.length), call, query),
      };
    }
    return { found: false, reply: plainReply(404, "404 page not found") };
  };
}

async function inService(
  routes: readonly ServiceRoute[],
  rest: string,
  call: Call,
  query: Query,
): Promise<Reply> {
  const fitting = routes.flatMap((route) => {
    const parts = matched(route.path, rest);
    return parts ? [{ route, parts }] : [];
  });
  if (fitting.length === 0) return text(404, "404: Page Not Found");
  const chosen = fitting.find(({ route }) => route.methods.includes(call.method));
  if (!chosen)
    return text(405, "405: Method Not Allowed", {
      allow: [...new Set(fitting.flatMap(({ route }) => route.methods))].join(", "),
    });
  return await chosen.route.answer({ call, query, parts: chosen.parts });
}

function matched(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/").slice(1);
  const given = path.split("/").slice(1);
  // A trailing slash is ignored, except by patterns that match directories.
  if (given.length > wanted.length && given.at(-1) === "" && !pattern.endsWith("*}")) given.pop();
  const parts: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    if (part.endsWith("*}")) {
      parts[part.slice(1, -2)] = decoded(given.slice(i).join("/"));
      return parts;
    }
    const value = given[i];
    if (value === undefined) return undefined;
    if (!part.startsWith("{")) {
      if (part !== value) return undefined;
    } else if (value === "") return undefined;
    else parts[part.slice(1, -1)] = decoded(value);
  }
  return given.length === wanted.length ? parts : undefined;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Removes empty components, `.` and `..`; a trailing slash is kept. */
function cleanPath(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  const clean = `/${kept.join("/")}`;
  return clean !== "/" && (path.endsWith("/") || path.endsWith("/.") || path.endsWith("/.."))
    ? `${clean}/`
    : clean;
}
