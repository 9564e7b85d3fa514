// Test fixture of strategies: runs the hooks on plain objects in the order in which a request runs them.
import { WriteState } from "#admission";
import type { FieldError } from "#base";
import { type DialectName, dialects } from "#dialect";
import { applyDefaults, fromJsonValue } from "#schema";
import type { ApiObject, RequestContext, Strategy } from "../strategy.ts";

export interface Tried {
  readonly object: Record<string, unknown>;
  /** Such as `Invalid spec.replicas`, sorted. */
  readonly causes: readonly string[];
  readonly warnings: readonly string[];
}

export const now = new Date("2024-05-06T07:08:09Z");

export function contextOf(strategy: Strategy, dialect: DialectName = "orch"): RequestContext {
  return {
    dialect: dialects[dialect],
    now,
    user: "tester",
    identity: { name: "tester", groups: ["testers"] },
    dryRun: false,
    served: strategy.served?.[0] ?? { schema: strategy.hub },
    settings: { allowPrivileged: false, eventTtlSeconds: 3600 },
    state: new WriteState(),
  };
}

export const causesOf = (errors: readonly FieldError[]): string[] =>
  errors.map(({ type, field }) => `${type.replace("FieldValue", "")} ${field}`).toSorted();

/** Returns the object after decoding and defaulting. */
export function defaulted(strategy: Strategy, sent: object, dialect: DialectName = "orch"): ApiObject {
  const decoded = fromJsonValue(strategy.hub, { metadata: {}, ...structuredClone(sent) })
    .value as unknown as ApiObject;
  applyDefaults(strategy.hub, decoded as never);
  strategy.defaults?.(decoded, contextOf(strategy, dialect));
  return decoded;
}

export function tryCreate(strategy: Strategy, sent: object, dialect: DialectName = "orch"): Tried {
  const ctx = contextOf(strategy, dialect);
  const object = defaulted(strategy, sent, dialect);
  if (strategy.status === "cleared") delete (object as unknown as Record<string, unknown>)["status"];
  strategy.prepareForCreate?.(object, ctx);
  const causes = causesOf(
    strategy.precheck?.(object, undefined, ctx).length
      ? strategy.precheck(object, undefined, ctx)
      : (strategy.validate?.(object, ctx) ?? []),
  );
  const warnings = strategy.warnings?.(object, undefined, ctx) ?? [];
  strategy.restore?.(object);
  return { object: object as unknown as Record<string, unknown>, causes, warnings };
}

/** Creates an object from `before` and replaces it with `after`. */
export function tryUpdate(
  strategy: Strategy,
  before: object,
  after: object,
  dialect: DialectName = "orch",
): Tried {
  const ctx = contextOf(strategy, dialect);
  const old = tryCreate(strategy, before, dialect).object as unknown as ApiObject;
  const object = defaulted(strategy, after, dialect);
  if (strategy.status)
    (object as unknown as Record<string, unknown>)["status"] = structuredClone(
      (old as unknown as Record<string, unknown>)["status"],
    );
  strategy.prepareForUpdate?.(object, structuredClone(old), ctx);
  return {
    object: object as unknown as Record<string, unknown>,
    causes: causesOf(
      strategy.precheck?.(object, old, ctx).length
        ? strategy.precheck(object, old, ctx)
        : strategy.validateUpdate
          ? strategy.validateUpdate(object, old, ctx)
          : (strategy.validate?.(object, ctx) ?? []),
    ),
    warnings: strategy.warnings?.(object, old, ctx) ?? [],
  };
}

/** Creates an object from `before` and sends `sent` to a subresource. */
export function tryPart(strategy: Strategy, part: string, before: object, sent: object): Tried {
  const ctx = contextOf(strategy);
  const old = tryCreate(strategy, before).object as unknown as ApiObject;
  const subresource = strategy.subresources![part]!;
  const object = subresource.merge({ ...structuredClone(old), ...sent }, old, ctx);
  return {
    object: object as unknown as Record<string, unknown>,
    causes: causesOf(subresource.validate?.(object, old, ctx) ?? []),
    warnings: [],
  };
}

/** Returns the cells of the object's table row. */
export const cellsOf = (strategy: Strategy, sent: object): unknown[] => {
  const object = tryCreate(strategy, sent).object as unknown as ApiObject;
  Object.assign(object, "status" in sent ? { status: sent.status } : {});
  return (strategy.columns ?? []).map((column) => column.cell(object, now));
};
