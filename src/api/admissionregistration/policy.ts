// Admission policies that check requests with expressions, and their bindings. Release 1.27 has one version
// of them; those of later releases have more fields.
import {
  type Fields,
  type TypeOf,
  embedded,
  inline,
  int64,
  list,
  optional,
  pointer,
  required,
  string,
} from "#schema";
import { hiddenDefault, mapList, openEnum, patchMerge, setList, atomicList } from "../extras.ts";
import { Condition } from "../meta/condition.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { StatusReason } from "../named-types.ts";
import {
  admissionregistration,
  admissionregistrationV1alpha1,
  admissionregistrationV1beta1,
} from "../packages.ts";
import { RuleWithOperations } from "./webhook.ts";

type Package = typeof admissionregistration;

/** Fields added by later releases. */
interface Later<S extends Fields, R extends Fields> {
  spec(message: Package["message"]): S;
  readonly paramRef: R;
}

function declare<S extends Fields, R extends Fields>({ message, kind, named }: Package, later: Later<S, R>) {
  const MatchCondition = message(
    "MatchCondition",
    "A condition that a request must fulfill to be processed.",
    {
      name: required(1, string, "Name of the condition, unique in its list, used in error messages."),
      expression: required(2, string, "CEL expression that must evaluate to a bool."),
    },
  );

  const NamedRuleWithOperations = message(
    "NamedRuleWithOperations",
    "Operations and resources that a policy matches.",
    {
      resourceNames: optional(
        1,
        list(string),
        "Names of the matched objects; all names if empty.",
        atomicList,
      ),
      ruleWithOperations: inline(2, RuleWithOperations),
    },
    { atomic: true },
  );

  const MatchResources = message(
    "MatchResources",
    "Criteria by which requests are matched.",
    {
      namespaceSelector: optional(
        1,
        LabelSelector,
        "Selector of the namespaces of matched objects; empty (default) matches all.",
        hiddenDefault({}),
      ),
      objectSelector: optional(
        2,
        LabelSelector,
        "Selector of matched objects by their labels, before or after the change; empty (default) " +
          "matches all.",
        hiddenDefault({}),
      ),
      resourceRules: optional(
        3,
        list(NamedRuleWithOperations),
        "Operations and resources to match; a request must match at least one rule.",
        atomicList,
      ),
      excludeResourceRules: optional(
        4,
        list(NamedRuleWithOperations),
        "Operations and resources to exclude; takes precedence over resourceRules.",
        atomicList,
      ),
      matchPolicy: pointer(
        7,
        named("MatchPolicyType", string),
        "Whether rules also match equivalent versions of a resource: Exact, or Equivalent (default).",
        { ...openEnum("Equivalent", "Exact"), ...hiddenDefault("Equivalent") },
      ),
    },
    { atomic: true },
  );

  const ParamKind = message(
    "ParamKind",
    "Kind of the parameter objects of a policy.",
    {
      apiVersion: optional(1, string, "API version (group and version) of the kind."),
      kind: optional(2, string, "Name of the kind."),
    },
    { atomic: true },
  );

  const PolicyValidation = message("Validation", "A CEL expression that validates requests.", {
    expression: required(1, string, "CEL expression that must evaluate to true for the request to be valid."),
    message: optional(2, string, "Message returned if the validation fails."),
    reason: pointer(3, StatusReason, "Reason in the response if the validation fails; defaults to Invalid."),
    messageExpression: optional(
      4,
      string,
      "CEL expression that evaluates to the message; takes precedence over message.",
    ),
  });

  const AuditAnnotation = message("AuditAnnotation", "An annotation added to audit events.", {
    key: required(1, string, "Key of the annotation, to which the name of the policy is prefixed."),
    valueExpression: required(
      2,
      string,
      "CEL expression of the value; an empty string or null omits the annotation.",
    ),
  });

  const ValidatingAdmissionPolicySpec = message(
    "ValidatingAdmissionPolicySpec",
    "Specification of a validating admission policy.",
    {
      paramKind: optional(1, ParamKind, "Kind of the parameter objects; unset if the policy takes none."),
      matchConstraints: optional(2, MatchResources, "Requests that the policy validates."),
      validations: optional(
        3,
        list(PolicyValidation),
        "CEL validations that requests must pass.",
        atomicList,
      ),
      failurePolicy: pointer(
        4,
        named("FailurePolicyType", string),
        "How errors in evaluating the policy are handled: Ignore or Fail (default).",
        {
          ...openEnum("Fail", "Ignore"),
          ...hiddenDefault("Fail"),
        },
      ),
      auditAnnotations: optional(
        5,
        list(AuditAnnotation),
        "Annotations added to audit events of validated requests.",
        atomicList,
      ),
      matchConditions: optional(
        6,
        list(MatchCondition),
        "Conditions that must all be met for a request to be validated.",
        {
          ...patchMerge("name"),
          ...mapList("name"),
        },
      ),
      ...later.spec(message),
    },
  );

  const ExpressionWarning = message("ExpressionWarning", "A warning from type checking an expression.", {
    fieldRef: required(2, string, "Path of the field that contains the expression."),
    warning: required(3, string, "Text of the warning."),
  });

  const TypeChecking = message("TypeChecking", "Result of type checking the expressions of a policy.", {
    expressionWarnings: optional(1, list(ExpressionWarning), "Warnings for the expressions.", atomicList),
  });

  const ValidatingAdmissionPolicyStatus = message(
    "ValidatingAdmissionPolicyStatus",
    "Current status of a validating admission policy.",
    {
      observedGeneration: optional(1, int64, "Generation of the policy that the controller last processed."),
      typeChecking: optional(2, TypeChecking, "Result of type checking the expressions."),
      conditions: optional(3, list(Condition), "Latest observed conditions of the policy.", mapList("type")),
    },
  );

  const ValidatingAdmissionPolicy = kind(
    "ValidatingAdmissionPolicy",
    "A policy that admits or rejects requests without changing them.",
    {
      metadata: embedded(1, ObjectMeta, "Standard object metadata."),
      spec: embedded(
        2,
        ValidatingAdmissionPolicySpec,
        "Specification of the desired behavior of the policy.",
      ),
      status: embedded(
        3,
        ValidatingAdmissionPolicyStatus,
        "Current status of the policy, such as type checking warnings.",
      ),
    },
  );

  const ParamRef = message(
    "ParamRef",
    "Reference to the parameter objects of a binding.",
    {
      name: optional(1, string, "Name of the parameter object."),
      namespace: optional(2, string, "Namespace of the parameter object; unset for cluster-scoped kinds."),
      ...later.paramRef,
    },
    { atomic: true },
  );

  const ValidatingAdmissionPolicyBindingSpec = message(
    "ValidatingAdmissionPolicyBindingSpec",
    "Specification of a validating admission policy binding.",
    {
      policyName: optional(1, string, "Name of the policy to bind."),
      paramRef: optional(2, ParamRef, "Parameters with which the policy is evaluated."),
      matchResources: optional(
        3,
        MatchResources,
        "Further criteria, which requests must match in addition to those of the policy.",
      ),
      validationActions: optional(
        4,
        list(named("ValidationAction", string)),
        "Actions taken if a validation fails: Deny, Warn or Audit.",
        setList,
      ),
    },
  );

  const ValidatingAdmissionPolicyBinding = kind(
    "ValidatingAdmissionPolicyBinding",
    "Binds a validating admission policy to parameters and resources.",
    {
      metadata: embedded(1, ObjectMeta, "Standard object metadata."),
      spec: embedded(2, ValidatingAdmissionPolicyBindingSpec, "Specification of the binding."),
    },
  );

  return {
    NamedRuleWithOperations,
    MatchResources,
    ParamKind,
    PolicyValidation,
    AuditAnnotation,
    ValidatingAdmissionPolicySpec,
    ValidatingAdmissionPolicy,
    ParamRef,
    ValidatingAdmissionPolicyBindingSpec,
    ValidatingAdmissionPolicyBinding,
  };
}

const first = declare(admissionregistrationV1alpha1, { spec: () => ({}), paramRef: {} });
export const {
  NamedRuleWithOperations,
  MatchResources,
  ParamKind,
  PolicyValidation,
  AuditAnnotation,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicy,
  ParamRef,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicyBinding,
} = first;

const later = {
  spec: (message: Package["message"]) => {
    const Variable = message("Variable", "A named expression, which later expressions can refer to.", {
      name: required(1, string, "Name of the variable, which expressions refer to as `variables.name`."),
      expression: required(2, string, "CEL expression of the variable's value, evaluated on first use."),
    });
    return {
      variables: optional(7, list(Variable), "Variables that the other expressions of the policy can use.", {
        ...patchMerge("name"),
        ...mapList("name"),
      }),
    };
  },
  paramRef: {
    selector: optional(
      3,
      LabelSelector,
      "Selector of parameter objects by label, as an alternative to name.",
    ),
    parameterNotFoundAction: pointer(4, string, "How a missing parameter object is handled: Allow or Deny."),
  },
};

/** The policies of releases since 1.28, by version. */
export const laterPolicies = {
  v1: declare(admissionregistration, later),
  v1beta1: declare(admissionregistrationV1beta1, later),
  v1alpha1: declare(admissionregistrationV1alpha1, later),
};

type Declared = typeof laterPolicies.v1;
export type NamedRuleWithOperations = TypeOf<Declared["NamedRuleWithOperations"]>;
export type MatchResources = TypeOf<Declared["MatchResources"]>;
export type ParamKind = TypeOf<Declared["ParamKind"]>;
export type PolicyValidation = TypeOf<Declared["PolicyValidation"]>;
export type AuditAnnotation = TypeOf<Declared["AuditAnnotation"]>;
export type ValidatingAdmissionPolicySpec = TypeOf<Declared["ValidatingAdmissionPolicySpec"]>;
export type ValidatingAdmissionPolicy = TypeOf<Declared["ValidatingAdmissionPolicy"]>;
export type ParamRef = TypeOf<Declared["ParamRef"]>;
export type ValidatingAdmissionPolicyBindingSpec = TypeOf<Declared["ValidatingAdmissionPolicyBindingSpec"]>;
export type ValidatingAdmissionPolicyBinding = TypeOf<Declared["ValidatingAdmissionPolicyBinding"]>;
