// ValidatingAdmissionPolicy: policies validate requests with expressions; bindings determine scope,
// parameters and enforcement.

import type {
  MatchResources,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "#api";
import { ApiError, type FieldError, forbidden } from "#base";
import type { Decide, Value } from "#cel";
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  type Equivalent,
  type UserInfo,
  type VersionedObjects,
  sharedVersions,
} from "../attributes.ts";
import type { Expressions } from "../expressions/expressions.ts";
import { apiVersionOf } from "../webhooks/hooks.ts";
import {
  type NamespaceLabels,
  matchedResource,
  namespaceMatches,
  namespaceOf,
  objectMatches,
} from "../webhooks/matching.ts";
import type { WebhookMetrics } from "../webhooks/metrics.ts";
import type { Enforcement, PolicyMetrics } from "./metrics.ts";
import { ParamKinds } from "./param-kinds.ts";
import { type CompiledPolicy, type Failure, compilePolicy } from "./policy.ts";

/** Returns the parameter objects of a binding, or an error. Policies of later releases may have several. */
export type FindParams = (
  kind: ParamKind,
  ref: ParamRef,
  /** Namespace of the request's object. */
  namespace: string,
) => Promise<{ readonly objects: readonly Record<string, unknown>[] } | { readonly error: string }>;

export interface PolicyOptions {
  readonly policies: () => readonly ValidatingAdmissionPolicy[];
  readonly bindings: () => readonly ValidatingAdmissionPolicyBinding[];
  readonly findParams: FindParams;
  /** Reports whether a kind of parameters is served. */
  readonly knowsKind: (kind: ParamKind) => boolean;
  readonly expressions: Expressions;
  readonly namespaceLabels: NamespaceLabels;
  readonly decide: (user: UserInfo) => Decide;
  readonly metrics: Pick<WebhookMetrics, "conditionFailed"> & PolicyMetrics;
  /** Set for policies of later releases, whose expressions can access the namespace of the object. */
  readonly namespace?: ((name: string) => Promise<object | undefined>) | undefined;
  /** API group of policies on the wire. */
  readonly registrationGroup: string;
  /** Key of the audit annotation for violated validations. */
  readonly failureAnnotation: string;
}

const maxAnnotationLength = 10 * 1024;
const policyResources = new Set(["validatingadmissionpolicies", "validatingadmissionpolicybindings"]);
const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

const enforcements: Readonly<Record<string, Enforcement>> = { Deny: "deny", Audit: "audit", Warn: "warn" };

interface Denial {
  readonly policy: string;
  readonly binding?: string;
  readonly message: string;
  readonly reason: string;
}

/** What the policies share about a request; expressions do not change its objects. */
interface PolicyRequest {
  readonly attributes: AdmissionAttributes;
  readonly denials: Denial[];
  /** Policies without their kind of parameters. */
  readonly misconfigured: ReadonlySet<ValidatingAdmissionPolicy>;
  readonly versioned: AdmissionAttributes["versioned"];
}

export function admissionPolicies(options: PolicyOptions): AdmissionPlugin {
  const compiled = new WeakMap<ValidatingAdmissionPolicy, CompiledPolicy>();
  const compiledOf = (policy: ValidatingAdmissionPolicy): CompiledPolicy =>
    compiled.getOrInsertComputed(policy, () =>
      compilePolicy(options.expressions, policy, options.namespace !== undefined),
    );
  const paramKinds = new ParamKinds(options.knowsKind);
  let counted = new Set<string | undefined>();
  const count = (policies: readonly ValidatingAdmissionPolicy[]): void => {
    const names = new Set(policies.map(({ metadata }) => metadata.name));
    for (const name of names) if (!counted.has(name)) options.metrics.defined();
    counted = names;
  };
  return {
    name: "ValidatingAdmissionPolicy",
    handles: ["CREATE", "UPDATE", "DELETE", "CONNECT"],
    validate: (attributes) => {
      const policies = options.policies();
      const { group, resource } = attributes.resource;
      return policies.length === 0 || (group === options.registrationGroup && policyResources.has(resource))
        ? []
        : evaluateAll(policies, attributes);
    },
  };

  async function evaluateAll(
    policies: readonly ValidatingAdmissionPolicy[],
    attributes: AdmissionAttributes,
  ): Promise<readonly FieldError[]> {
    const bindings = options.bindings();
    const denials: Denial[] = [];
    count(policies);
    const misconfigured = paramKinds.missing(policies);
    const versioned = sharedVersions(attributes);
    const request: PolicyRequest = { attributes, denials, misconfigured, versioned };
    for (const policy of policies.toSorted(byName)) {
      const bound = bindings.filter(({ spec }) => spec.policyName === policy.metadata.name);
      // Policies of later releases are configured by their first binding.
      if (bound.length === 0 && options.namespace) continue;
      const evaluation = new PolicyEvaluation(options, request, policy, compiledOf(policy));
      await evaluation.run(bound.toSorted(byName));
    }
    const [first] = denials;
    if (first) throw refusal(attributes, first);
    return [];
  }
}

type Named = { readonly metadata: { readonly name?: string | undefined } };
const byName = (left: Named, right: Named): number =>
  (left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1;

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): ApiError {
  const where = binding === undefined ? "" : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${where} denied request: ${message}`;
  const { message: whole, details } = forbidden(attributes.resource, attributes.name || "Unknown", text);
  return new ApiError(codes[reason] ?? 422, reason, whole, { ...details, causes: [{ message: text }] });
}

/** The evaluation of one policy for one request. */
class PolicyEvaluation {
  readonly #options: PolicyOptions;
  readonly #request: PolicyRequest;
  readonly #attributes: AdmissionAttributes;
  readonly #policy: ValidatingAdmissionPolicy;
  readonly #compiled: CompiledPolicy;
  readonly #annotations = new Map<string, string[]>();

  constructor(
    options: PolicyOptions,
    request: PolicyRequest,
    policy: ValidatingAdmissionPolicy,
    compiled: CompiledPolicy,
  ) {
    this.#options = options;
    this.#request = request;
    this.#attributes = request.attributes;
    this.#policy = policy;
    this.#compiled = compiled;
  }

  get #name(): string {
    return this.#policy.metadata.name ?? "";
  }

  async run(bindings: readonly ValidatingAdmissionPolicyBinding[]): Promise<void> {
    const matched = await this.#matches(this.#policy.spec.matchConstraints ?? {}, undefined);
    if (!matched) return;
    const { paramKind } = this.#policy.spec;
    if (paramKind && this.#request.misconfigured.has(this.#policy)) {
      const shown = `${paramKind.apiVersion ?? ""}, Kind=${paramKind.kind ?? ""}`;
      return this.#misconfigured(`failed to find resource referenced by paramKind: '${shown}'`, undefined);
    }
    for (const binding of bindings) await this.#bound(binding, matched);
    for (const [key, values] of this.#annotations)
      this.#attributes.annotate(`${this.#name}/${key}`, values.join(", "));
  }

  /** Handles an invalid configuration: ignored with the failure policy Ignore, else a denial. */
  #misconfigured(message: string, binding: string | undefined): void {
    if (this.#policy.spec.failurePolicy === "Ignore") return;
    const what = binding === undefined ? "policy" : "binding";
    this.#deny(`failed to configure ${what}: ${message}`, "Invalid", binding);
  }

  #deny(message: string, reason: string, binding: string | undefined): void {
    this.#request.denials.push({
      policy: this.#name,
      message,
      reason,
      ...(binding !== undefined && { binding }),
    });
  }

  async #matches(wanted: MatchResources, binding: string | undefined): Promise<Equivalent | undefined> {
    const attributes = this.#attributes;
    const { resource, requestKind, name } = attributes;
    const equivalent = wanted.matchPolicy === "Equivalent";
    const covered = (rules: MatchResources["resourceRules"]) =>
      matchedResource(
        (rules ?? []).filter(({ resourceNames }) => !resourceNames?.length || resourceNames.includes(name)),
        equivalent,
        attributes,
      );
    if (covered(wanted.excludeResourceRules)) return undefined;
    const matched = wanted.resourceRules?.length
      ? covered(wanted.resourceRules)
      : { resource, kind: requestKind };
    if (!matched || !objectMatches(wanted.objectSelector, attributes)) return undefined;
    try {
      const { namespaceLabels } = this.#options;
      return (await namespaceMatches(wanted.namespaceSelector, attributes, namespaceLabels))
        ? matched
        : undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#misconfigured(error.message, binding);
      return undefined;
    }
  }

  async #bound(binding: ValidatingAdmissionPolicyBinding, matched: Equivalent): Promise<void> {
    const { spec, metadata } = binding;
    const name = metadata.name ?? "";
    if (spec.matchResources && !(await this.#matches(spec.matchResources, name))) return;
    const { paramKind } = this.#policy.spec;
    if (!paramKind || !spec.paramRef) return await this.#evaluate(binding, name, matched, null);
    const found = await this.#options.findParams(paramKind, spec.paramRef, namespaceOf(this.#attributes));
    if ("error" in found) return this.#misconfigured(found.error, name);
    for (const params of found.objects) await this.#evaluate(binding, name, matched, params as Value);
  }

  async #evaluate(
    { spec }: ValidatingAdmissionPolicyBinding,
    name: string,
    matched: Equivalent,
    params: Value,
  ): Promise<void> {
    const attributes = this.#attributes;
    const namespace = namespaceOf(attributes);
    const objects = await this.#objectsIn(apiVersionOf(matched), name);
    if (!objects) return;
    const view = {
      attributes,
      matched,
      objects,
      params,
      namespace: ((namespace && (await this.#options.namespace?.(namespace))) || null) as Value,
      decide: this.#options.decide(attributes.user),
    };
    const onError = () => this.#options.metrics.conditionFailed(this.#name, "validating");
    const { failures, denials, annotations, ignored } = await this.#compiled.evaluate(view, onError);
    const enforced = (enforcement: Enforcement, { seconds }: Failure): void =>
      this.#options.metrics.enforced(this.#name, name, enforcement, seconds);
    const actions = spec.validationActions ?? [];
    for (const failure of ignored) enforced("allow", failure);
    for (const failure of failures) {
      for (const action of actions) enforced(enforcements[action] ?? "deny", failure);
      const { message, reason, index } = failure;
      if (actions.includes("Deny")) this.#deny(message, reason, name);
      if (actions.includes("Audit"))
        attributes.annotate(
          this.#options.failureAnnotation,
          JSON.stringify([
            {
              message,
              policy: this.#name,
              binding: name,
              expressionIndex: index,
              validationActions: actions,
            },
          ]),
        );
      if (actions.includes("Warn"))
        attributes.warn(
          `Validation failed for ValidatingAdmissionPolicy '${this.#name}' with binding '${name}': ${message}`,
        );
    }
    for (const denial of denials) {
      enforced("deny", denial);
      this.#deny(denial.message, denial.reason, name);
    }
    for (const { key, value } of annotations) this.#addAnnotation(key, value.slice(0, maxAnnotationLength));
  }

  async #objectsIn(apiVersion: string, binding: string): Promise<VersionedObjects | undefined> {
    try {
      return await this.#request.versioned(apiVersion);
    } catch (error) {
      this.#misconfigured(`failed to convert object version: ${(error as Error).message}`, binding);
      return undefined;
    }
  }

  #addAnnotation(key: string, value: string): void {
    const values = this.#annotations.get(key) ?? [];
    if (!values.includes(value)) values.push(value);
    this.#annotations.set(key, values);
  }
}
