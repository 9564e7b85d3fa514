// The pipeline: what happens to every request before its endpoint, in this order.
import { randomUUID } from "node:crypto";
import { type Attributes, type Authorizer, forbiddenError, impersonation } from "#authz";
import { type Authenticator, BadCredential, type Credentials, bearerToken, isBehindSpaces } from "#authn";
import { ApiError, unauthorized } from "#base";
import type { Dialect } from "#dialect";
import { type Call, type Reply, type Step, header, headerList } from "#http";
import { StoreBusy, StoreClosed } from "#store";
import type { ApiCall } from "./api-call.ts";
import { negotiate } from "./represent/negotiate.ts";
import { statusObject, statusReply } from "./represent/status.ts";
import { storeErrorToStatus } from "./storage/store-trouble.ts";

export type ApiStep = Step<ApiCall>;

export interface StepOptions {
  readonly dialect: Dialect;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Told about a handler that threw something unexpected; gives the id under which it was logged. */
  readonly surprised: (error: unknown, call: ApiCall) => string;
}

export const newAuditId = (call: Call): string => {
  const given = header(call.headers, "audit-id");
  return given !== undefined && given.length <= 64 && /^[\x21-\x7e]+$/.test(given) ? given : randomUUID();
};

export function recover({ dialect, surprised }: StepOptions): ApiStep {
  return {
    name: "rescue",
    run: async (call, next) => {
      try {
        return await next();
      } catch (error) {
        return errorReply(call, known(error), dialect);
      }
      function known(error: unknown): ApiError {
        if (error instanceof ApiError) return error;
        const trouble = storeErrorToStatus(error, call.method !== "GET");
        // What passes by itself needs nobody's attention.
        if (trouble && (error instanceof StoreBusy || error instanceof StoreClosed)) return trouble;
        const id = surprised(error, call);
        return (
          trouble ??
          new ApiError(500, "InternalError", `Internal error occurred: ${id}`, {
            causes: [{ message: "see the server's log" }],
          })
        );
      }
    },
  };
}

/** Errors come in a media type the client takes for plain objects, or in JSON when it takes none. */
export function errorReply(call: ApiCall, error: ApiError, dialect: Dialect): Reply {
  let choice;
  try {
    choice = negotiate(call.call, call.query, dialect, { forms: ["object"] });
  } catch {
    choice = { media: "json", form: "object", formVersion: "", pretty: false } as const;
  }
  const reply = statusReply(error.code, statusObject(error), choice, dialect);
  const seconds = error.details?.retryAfterSeconds;
  return seconds ? { ...reply, headers: { ...reply.headers, "retry-after": String(seconds) } } : reply;
}

/** Headers that every answer carries: the audit id, what not to cache, and warnings. */
export const commonHeaders: ApiStep = {
  name: "common headers",
  run: async (call, next) => {
    const reply = await next();
    const warnings = call.warnings.length > 0 ? { warning: warningValues(call.warnings) } : undefined;
    return {
      ...reply,
      headers: {
        "audit-id": call.auditId,
        "cache-control": "no-cache, private",
        ...call.headers,
        ...reply.headers,
        ...warnings,
      },
    };
  },
};

const mostWarningCharacters = 4096;
const longestShortened = 256;

/**
 * Warnings as header values. When they are too much together, each is shortened, and the last ones are left
 * out.
 */
export function warningValues(texts: readonly string[]): string[] {
  const fits = texts.reduce((sum, text) => sum + text.length, 0) <= mostWarningCharacters;
  const values: string[] = [];
  let left = mostWarningCharacters;
  for (const text of texts) {
    if (left <= 0) break;
    const said = fits ? text : text.slice(0, longestShortened);
    left -= said.length;
    values.push(`299 - ${quoted(said)}`);
  }
  return values;
}

const quoted = (text: string): string => `"${text.replace(/[^\x20-\x7e]/g, "?").replace(/[\\"]/g, "\\$&")}"`;

/** A call as authenticators see it. */
class CallCredentials implements Credentials {
  readonly #call: Call;
  readonly bearerToken: string | undefined;
  constructor(call: Call) {
    this.#call = call;
    this.bearerToken = bearerToken(header(call.headers, "authorization"));
  }
  headers(name: string): readonly string[] {
    return headerList(this.#call.headers, name);
  }
  headerNames(): Iterable<string> {
    return Object.keys(this.#call.headers);
  }
  get certificates(): Credentials["certificates"] {
    return this.#call.peer.certificates();
  }
}

export function authenticate({ authenticator }: StepOptions): ApiStep {
  return {
    name: "authentication",
    run: async (call, next) => {
      if (call.call.peer.trusted) call.user = call.call.peer.trusted as NonNullable<ApiCall["user"]>;
      else {
        try {
          const credentials = new CallCredentials(call.call);
          if (
            credentials.bearerToken === undefined &&
            isBehindSpaces(header(call.call.headers, "authorization") ?? "")
          )
            call.warn(
              "the provided Authorization header contains extra space before the bearer token, and is ignored",
            );
          const identity = await authenticator.authenticate(credentials);
          if (!identity) throw unauthorized();
          call.user = identity.user;
          for (const text of identity.warnings ?? []) call.warn(text);
        } catch (error) {
          if (error instanceof BadCredential) throw unauthorized();
          throw error;
        }
      }
      return await next();
    },
  };
}

function mayImpersonate({ headers }: Call): boolean {
  for (const name in headers) if (name.charCodeAt(0) === 105 && name.startsWith("impersonate-")) return true;
  return false;
}

export function impersonate(options: StepOptions): ApiStep {
  return {
    name: "impersonation",
    run: async (call, next) => {
      if (!mayImpersonate(call.call)) return await next();
      const wanted = impersonation(new CallCredentials(call.call), options.dialect);
      if (!wanted) return await next();
      call.setHeader("x-content-type-options", "nosniff");
      for (const check of wanted.checks) await allowed(options.authorizer, { user: call.user!, ...check });
      call.setHeader("x-content-type-options", undefined);
      call.user = wanted.user;
      return await next();
    },
  };
}

export function authorize({ authorizer }: StepOptions): ApiStep {
  return {
    name: "authorization",
    run: async (call, next) => {
      const decision = authorizer.decide(accessOf(call));
      const { verdict, reason } = decision instanceof Promise ? await decision : decision;
      if (verdict === "allow") return await next();
      call.setHeader("x-content-type-options", "nosniff");
      throw forbiddenError(accessOf(call), reason);
    },
  };
}

export function accessOf(call: ApiCall): Attributes {
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
  };
}

/** Throws when the answer is no. */
export async function allowed(authorizer: Authorizer, access: Attributes): Promise<void> {
  const decision = authorizer.decide(access);
  const { verdict, reason } = decision instanceof Promise ? await decision : decision;
  if (verdict !== "allow") throw forbiddenError(access, reason);
}
