// Resource quota admission: charges new objects to the quotas of their namespace, and refuses those that
// exceed one. Quotas without a status are not enforced yet.
import {
  type QuotaAmounts,
  type QuotaEvaluator,
  type ResourceQuota,
  type ScopedResourceSelectorRequirement,
  quotaEvaluator,
  quotaMath,
} from "#api";
import { compareQuantity, conflict, forbidden, plainError } from "#base";
import type { Dialect } from "#dialect";
import type { AdmissionPlugin, AdmissionAttributes } from "../../attributes.ts";

const { amountsOf, changeOf, excessOf, isNegative, isZero, only, shown, sumOf, written } = quotaMath;

export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Substrings of resource names. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopedResourceSelectorRequirement[];
}

export interface QuotaOptions {
  readonly dialect: Dialect;
  readonly now: () => number;
  readonly quotasIn: (namespace: string) => Promise<readonly ResourceQuota[]>;
  /** Resources that may be consumed only if a quota covers them. */
  readonly limited?: readonly LimitedResource[];
  /** Whether pods are resizable: then a change of their requests is charged or released. */
  readonly podResize?: boolean;
  /** Writes the usage against the revision that was read; returns false on a conflict. */
  readonly write: (quota: ResourceQuota, used: Readonly<Record<string, string>>) => Promise<boolean>;
}

/** Resources that are not stored or never counted. */
const uncounted: ReadonlySet<string> = new Set([
  "namespaces",
  "bindings",
  "componentstatuses",
  "events",
  "tokenreviews",
  "selfsubjectreviews",
  "subjectaccessreviews",
  "selfsubjectaccessreviews",
  "localsubjectaccessreviews",
  "selfsubjectrulesreviews",
]);
/**
 * Maximum number of attempts. An attempt fails only if another one succeeded; with several servers on one
 * store that happens a few times in a row.
 */
const maxAttempts = 32;

export function resourceQuota(options: QuotaOptions): AdmissionPlugin {
  const { dialect, now, quotasIn, write, limited = [], podResize = false } = options;
  const busy = new Map<string, Promise<void>>();
  return {
    name: "ResourceQuota",
    handles: ["CREATE", "UPDATE"],
    ignores: uncounted,
    validate: async (attributes) => {
      const { resource, subresource, namespace, operation } = attributes;
      if (subresource || !namespace) return [];
      const evaluator = quotaEvaluator(resource, dialect, now);
      const resized = podResize && resource.group === "" && resource.resource === "pods";
      if (!resized && !evaluator.operations.some((each) => each === operation)) return [];
      const limits = limited.filter(
        (each) => each.group === resource.group && each.resource === resource.resource,
      );
      const quotas = await quotasIn(namespace);
      if (limits.length > 0) checkCovered(attributes, evaluator, quotas, limits);
      if (quotas.length === 0) return [];
      await serialized(namespace, () => charge(attributes, evaluator));
      return [];
    },
  };

  /** Serializes the charges of each namespace, so that none is based on outdated usage. */
  async function serialized(namespace: string, work: () => Promise<void>): Promise<void> {
    const own = (busy.get(namespace) ?? Promise.resolve()).then(work);
    const settled = own.catch(() => undefined);
    busy.set(namespace, settled);
    try {
      await own;
    } finally {
      if (busy.get(namespace) === settled) busy.delete(namespace);
    }
  }

  async function charge(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Promise<void> {
    let left: readonly string[] | undefined;
    for (let tries = maxAttempts; ; tries--) {
      const quotas = (await quotasIn(attributes.namespace)).filter(
        ({ metadata }) => !left || left.includes(metadata.name!),
      );
      const due = newUsage(attributes, evaluator, quotas);
      if (attributes.dryRun) return;
      const failed: string[] = [];
      for (const [quota, used] of due)
        if (!(await write(quota, written(used)))) failed.push(quota.metadata.name!);
      if (failed.length === 0) return;
      if (tries === 1)
        throw conflict(
          { group: "", resource: "resourcequotas" },
          failed[0]!,
          "the quota was changed by others while it was charged",
        );
      left = failed;
    }
  }
}

const scopesOf = ({ spec }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
];

/** Refuses an object that consumes limited resources without a quota that covers them. */
function checkCovered(
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  quotas: readonly ResourceQuota[],
  limits: readonly LimitedResource[],
): void {
  const object = attributes.object!;
  const refused = (why: string): Error => forbidden(attributes.resource, attributes.name, why);
  // The whole usage, even if an update adds nothing.
  const needed = [...evaluator.usage(object)]
    .filter(([, amount]) => !isZero(amount) && !isNegative(amount))
    .map(([name]) => name)
    .filter((name) => limits.some(({ matchContains }) => matchContains.some((part) => name.includes(part))));
  const matching = quotas.filter((quota) =>
    scopesOf(quota).every((scope) => evaluator.inScope?.(scope, object)),
  );
  const uncovered = needed.filter(
    (name) => !matching.some(({ status }) => status.hard?.[name] !== undefined),
  );
  if (uncovered.length > 0) throw refused(`insufficient quota to consume: ${uncovered.toSorted().join(",")}`);
  const scopes = limits
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => evaluator.inScope?.(scope, object));
  const unmatched = scopes.filter(
    ({ scopeName }) =>
      !quotas.some((quota) =>
        scopesOf(quota).some((scope) => scope.scopeName === scopeName && evaluator.inScope?.(scope, object)),
      ),
  );
  if (unmatched.length > 0)
    throw plainError(
      `insufficient quota to match these scopes: [${unmatched
        .map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(" ")}]}`)
        .join(" ")}]`,
    );
}

/** Returns the new usage of each quota that changes; refuses an object that exceeds one. */
function newUsage(
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  quotas: readonly ResourceQuota[],
): readonly (readonly [ResourceQuota, QuotaAmounts])[] {
  const object = attributes.object!;
  const refused = (why: string): Error => forbidden(attributes.resource, attributes.name, why);
  const matching = quotas.filter((quota) => {
    const resources = Object.keys(quota.status.hard ?? {}).filter(evaluator.counts);
    if (resources.length === 0 || !scopesOf(quota).every((scope) => evaluator.inScope?.(scope, object)))
      return false;
    const missing = evaluator.missing?.(resources, object);
    if (missing) throw refused(`failed quota: ${quota.metadata.name}: ${missing}`);
    if (resources.some((name) => quota.status.used?.[name] === undefined))
      throw refused(
        `status unknown for quota: ${quota.metadata.name}, resources: ${resources.toSorted().join(",")}`,
      );
    return true;
  });
  const whole = evaluator.usage(object);
  const negative = [...whole].filter(([, amount]) => isNegative(amount)).map(([name]) => name);
  if (negative.length > 0)
    throw refused(`quota usage is negative for resource(s): ${negative.toSorted().join(",")}`);
  const added = attributes.operation === "UPDATE" ? changed() : whole;
  const delta = new Map([...added].filter(([, amount]) => !isZero(amount)));
  return matching.flatMap((quota) => {
    const { hard = {}, used = {} } = quota.status;
    const limits = amountsOf(hard);
    const requested = only(delta, (name) => limits.has(name));
    if (requested.size === 0) return [];
    const after = sumOf(amountsOf(used), requested);
    const exceeded = (name: string): boolean =>
      requested.has(name) && compareQuantity(after.get(name)!, limits.get(name)!) > 0;
    if ([...requested.keys()].some(exceeded)) {
      const [requestedText, before, limited] = [requested, amountsOf(used), limits].map((amounts) =>
        shown(only(amounts, exceeded)),
      );
      throw refused(
        `exceeded quota: ${quota.metadata.name}, requested: ${requestedText}, used: ${before}, limited: ${limited}`,
      );
    }
    return [[quota, after] as const];
  });

  /** Pods that request less release it at once; for other objects only increases count. */
  function changed(): QuotaAmounts {
    const before = evaluator.usage(attributes.oldObject!);
    return attributes.resource.resource === "pods" ? changeOf(whole, before) : excessOf(whole, before);
  }
}
