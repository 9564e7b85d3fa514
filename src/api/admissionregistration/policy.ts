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
  const MatchCondition = message("MatchCondition", "A condition on the request.", {
    name: required(1, string, "Name of the condition, for messages."),
    expression: required(2, string, "The condition, in CEL."),
  });

  const NamedRuleWithOperations = message(
    "NamedRuleWithOperations",
    "Requests that a policy looks at.",
    {
      resourceNames: optional(1, list(string), "Only objects of these names.", atomicList),
      ruleWithOperations: inline(2, RuleWithOperations),
    },
    { atomic: true },
  );

  const MatchResources = message(
    "MatchResources",
    "Which requests are looked at.",
    {
      namespaceSelector: optional(1, LabelSelector, "Only objects in these namespaces.", hiddenDefault({})),
      objectSelector: optional(2, LabelSelector, "Only objects with these labels.", hiddenDefault({})),
      resourceRules: optional(3, list(NamedRuleWithOperations), "Requests that are looked at.", atomicList),
      excludeResourceRules: optional(4, list(NamedRuleWithOperations), "Requests that are not.", atomicList),
      matchPolicy: pointer(
        7,
        named("MatchPolicyType", string),
        "Whether rules also match other versions of a resource: Exact or Equivalent.",
        { ...openEnum("Equivalent", "Exact"), ...hiddenDefault("Equivalent") },
      ),
    },
    { atomic: true },
  );

  const ParamKind = message(
    "ParamKind",
    "The kind of a policy's parameters.",
    {
      apiVersion: optional(1, string, "Group and version of the kind."),
      kind: optional(2, string, "The kind."),
    },
    { atomic: true },
  );

  const PolicyValidation = message("Validation", "A rule that requests must keep.", {
    expression: required(1, string, "What must hold, in CEL."),
    message: optional(2, string, "What to say when it does not."),
    reason: pointer(3, StatusReason, "The reason of the refusal."),
    messageExpression: optional(4, string, "What to say, in CEL."),
  });

  const AuditAnnotation = message("AuditAnnotation", "A note in the audit log.", {
    key: required(1, string, "Key of the annotation, after the name of the policy."),
    valueExpression: required(2, string, "Its value, in CEL; empty or null for none."),
  });

  const ValidatingAdmissionPolicySpec = message("ValidatingAdmissionPolicySpec", "What a policy asks.", {
    paramKind: optional(1, ParamKind, "Kind of its parameters, if it has any."),
    matchConstraints: optional(2, MatchResources, "Which requests it looks at."),
    validations: optional(3, list(PolicyValidation), "Rules that requests must keep.", atomicList),
    failurePolicy: pointer(
      4,
      named("FailurePolicyType", string),
      "What if it cannot be evaluated: Ignore or Fail.",
      {
        ...openEnum("Fail", "Ignore"),
        ...hiddenDefault("Fail"),
      },
    ),
    auditAnnotations: optional(5, list(AuditAnnotation), "Notes for the audit log.", atomicList),
    matchConditions: optional(6, list(MatchCondition), "Only requests for which all of these hold.", {
      ...patchMerge("name"),
      ...mapList("name"),
    }),
    ...later.spec(message),
  });

  const ExpressionWarning = message("ExpressionWarning", "What is odd about an expression.", {
    fieldRef: required(2, string, "Where it is."),
    warning: required(3, string, "What is odd."),
  });

  const TypeChecking = message("TypeChecking", "What the types of the expressions show.", {
    expressionWarnings: optional(1, list(ExpressionWarning), "What is odd.", atomicList),
  });

  const ValidatingAdmissionPolicyStatus = message(
    "ValidatingAdmissionPolicyStatus",
    "What is known of a policy.",
    {
      observedGeneration: optional(1, int64, "The generation that was looked at."),
      typeChecking: optional(2, TypeChecking, "What its types show."),
      conditions: optional(3, list(Condition), "Aspects of its state.", mapList("type")),
    },
  );

  const ValidatingAdmissionPolicy = kind("ValidatingAdmissionPolicy", "Rules for requests.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, ValidatingAdmissionPolicySpec, "What it asks."),
    status: embedded(3, ValidatingAdmissionPolicyStatus, "What is known of it."),
  });

  const ParamRef = message(
    "ParamRef",
    "The parameters of a binding.",
    {
      name: optional(1, string, "Name of the object."),
      namespace: optional(2, string, "Its namespace, if it has one."),
      ...later.paramRef,
    },
    { atomic: true },
  );

  const ValidatingAdmissionPolicyBindingSpec = message(
    "ValidatingAdmissionPolicyBindingSpec",
    "Where a policy holds.",
    {
      policyName: optional(1, string, "Name of the policy."),
      paramRef: optional(2, ParamRef, "Its parameters."),
      matchResources: optional(3, MatchResources, "Further limits on what it looks at."),
      validationActions: optional(
        4,
        list(named("ValidationAction", string)),
        "What a broken rule leads to: Deny, Warn, Audit.",
        setList,
      ),
    },
  );

  const ValidatingAdmissionPolicyBinding = kind("ValidatingAdmissionPolicyBinding", "Where a policy holds.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    spec: embedded(2, ValidatingAdmissionPolicyBindingSpec, "Where it holds."),
  });

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
    const Variable = message("Variable", "A value with a name, for the expressions that follow it.", {
      name: required(1, string, "Its name: `variables.name` in expressions."),
      expression: required(2, string, "What it is, in CEL."),
    });
    return {
      variables: optional(7, list(Variable), "Values that expressions share.", {
        ...patchMerge("name"),
        ...mapList("name"),
      }),
    };
  },
  paramRef: {
    selector: optional(3, LabelSelector, "All objects with these labels, instead of one by its name."),
    parameterNotFoundAction: pointer(4, string, "What if there are none: Allow or Deny."),
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
