// From a path to its handler, with the answers that clients of this server know for paths and methods that
// have none.
//
// A plain route is one path and any method. A service owns a prefix: below it an unknown path or method is
// answered by the service, which means after authentication.
import { type Call, type Query, type Reply, parseQuery, plainReply } from "#http";
import { moved, text } from "./replies.ts";

export interface Request {
  readonly call: Call;
  readonly query: Query;
  readonly parts: Readonly<Record<string, string>>;
}
export type RouteHandler = (request: Request) => Promise<Reply> | Reply;

export interface ServiceRoute {
  /** Below the service's prefix: `/{namespace}/{pod}`; `/{rest*}` takes all that follows. */
  readonly path: string;
  readonly methods: readonly string[];
  readonly answer: RouteHandler;
}

export type Route =
  | { readonly path: string; readonly answer: RouteHandler }
  /**
   * `bare` answers the prefix without its slash by the service, too; otherwise it leads to the one with the
   * slash.
   */
  | { readonly prefix: string; readonly bare: boolean; readonly routes: readonly ServiceRoute[] }
  /** Every path below is answered the same. */
  | { readonly prefix: string; readonly answer: RouteHandler };

export type RouteMatch =
  | { readonly found: true; readonly answer: () => Promise<Reply> }
  | { readonly found: false; readonly reply: Reply };

/** Finds what answers a call. What is not found was answered here, before anyone asks who is calling. */
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
  // A slash at the end makes no other path, but for those that name folders.
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

/** Without empty parts, `.` and `..`; a slash at the end stays. */
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
