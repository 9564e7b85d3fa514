// Authorization: checks that the user may perform the request, or responds with 403.
import {
  type AccessExplainer,
  type Attributes,
  type Authorizer,
  type Decision,
  explainHeader,
  forbiddenError,
  selectorsOf,
  escapeMarkup,
} from "#authz";
import type { Log } from "#base";
import type { Dialect } from "#dialect";
import type { ApiCall } from "#endpoints";
import { type Reply, header } from "#http";
import type { Filter } from "./filter.ts";

export interface AuthorizeOptions {
  readonly explainer?: Pick<AccessExplainer, "refusal">;
  /** Whether authorizers consider the selectors of requests. */
  readonly selectors?: boolean;
}

/**
 * Denials are explained to clients that request it and may know, and logged from -v=4 on, as in
 * kube-apiserver.
 */
export function authorize(
  authorizer: Authorizer,
  dialect: Dialect,
  log: Log,
  { explainer, selectors = false }: AuthorizeOptions = {},
): Filter {
  const keys = dialect.names.audit;
  return {
    name: "authorization",
    // Most decisions are made synchronously: no promise is created for them.
    run: (call, next) => {
      const decision = authorizer.decide(attributesOf(call, selectors));
      return decision instanceof Promise
        ? decision.then((decided) => act(call, decided, next))
        : act(call, decision, next);
    },
  };

  function act(
    call: ApiCall,
    { verdict, reason, internalError }: Decision,
    next: () => Promise<Reply>,
  ): Promise<Reply> {
    const failed = verdict !== "allow" && internalError !== undefined;
    if (!failed) call.audit?.annotate(keys.decision, verdict === "allow" ? "allow" : "forbid");
    call.audit?.annotate(keys.reason, failed ? "internal error" : reason);
    if (verdict === "allow") return next();
    if (failed) return Promise.resolve(internalErrorReply(call, internalError));
    log.verbose(4, "Forbidden", {
      URI: uriOf(call),
      user: call.user?.name,
      reason,
      "audit-ID": call.auditId,
    });
    call.setHeader("x-content-type-options", "nosniff");
    const attributes = attributesOf(call, selectors);
    if (explainer && header(call.call.headers, explainHeader) === "true")
      return explainer.refusal(attributes).then((why) => {
        throw forbiddenError(attributes, [reason, why].filter((text) => text !== "").join("; "));
      });
    throw forbiddenError(attributes, reason);
  }
}

/**
 * The response if no authorizer reached a decision because of an error: neither the client's fault nor a
 * denial.
 */
export const internalErrorReply = (call: ApiCall, error: string): Reply => ({
  status: 500,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: Buffer.from(escapeMarkup(`Internal Server Error: ${JSON.stringify(uriOf(call))}: ${error}\n`)),
});

/** The requested path with its query. */
export const uriOf = ({ call: { path, search } }: ApiCall): string =>
  search === "" ? path : `${path}?${search}`;

const verbsWithSelectors = new Set(["list", "watch", "deletecollection"]);

export function attributesOf(call: ApiCall, withSelectors = false): Attributes {
  const { target } = call;
  const user = call.user!;
  if (!target.isResource) return { user, verb: target.verb, path: target.path };
  return {
    user,
    verb: target.verb,
    resource: {
      group: target.group,
      version: target.version,
      resource: target.resource,
      subresource: target.subresource,
      namespace: target.namespace,
      name: target.name,
    },
    ...(withSelectors && verbsWithSelectors.has(target.verb) && selectorsIn(call)),
  };
}

/** Returns the selectors of the query, except with deprecated watch paths, some of which ignore them. */
function selectorsIn({ target, query }: ApiCall): Pick<Attributes, "selectors"> {
  const root = target.group === "" ? `/api/${target.version}` : `/apis/${target.group}/${target.version}`;
  if (target.path.startsWith(`${root}/watch/`)) return {};
  return { selectors: selectorsOf(query.get("fieldSelector") ?? "", query.get("labelSelector") ?? "") };
}

/** Throws if access is denied. */
export async function authorizeOrThrow(authorizer: Authorizer, access: Attributes): Promise<void> {
  const decision = authorizer.decide(access);
  const { verdict, reason } = decision instanceof Promise ? await decision : decision;
  if (verdict !== "allow") throw forbiddenError(access, reason);
}
