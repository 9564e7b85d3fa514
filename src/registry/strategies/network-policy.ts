// Network policies: allowed traffic of pods.
import { NetworkPolicy, type NetworkPolicyPeer, type NetworkPolicyPort, type NetworkPolicySpec } from "#api";
import { type FieldError, forbiddenField, invalidValue, required } from "#base";
import { portNameProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { selectorText } from "./cells/text.ts";
import { statusPart } from "./parts.ts";
import { isStrictPart, parseCidr } from "./rules/address.ts";
import { conditionErrors } from "./rules/conditions.ts";
import { formatErrors, portErrors } from "./rules/format.ts";
import { labelSelectorErrors } from "./rules/label-selector.ts";
import { supported } from "./rules/one-of.ts";

function portRuleErrors({ protocol, port, endPort }: NetworkPolicyPort, at: string): FieldError[] {
  const errors = protocol === undefined ? [] : supported(protocol, `${at}.protocol`, ["TCP", "UDP", "SCTP"]);
  const wrongEnd = (detail: string): FieldError => invalidValue(`${at}.endPort`, endPort, detail);
  if (port === undefined)
    return endPort === undefined
      ? errors
      : [...errors, wrongEnd("may not be specified when `port` is not specified")];
  if (typeof port === "string") {
    if (endPort !== undefined) errors.push(wrongEnd("may not be specified when `port` is non-numeric"));
    return [...errors, ...formatErrors(port, `${at}.port`, portNameProblems)];
  }
  errors.push(...portErrors(port, `${at}.port`));
  if (endPort === undefined) return errors;
  if (endPort < port)
    errors.push(invalidValue(`${at}.endPort`, port, "must be greater than or equal to `port`"));
  return [...errors, ...portErrors(endPort, `${at}.endPort`)];
}

function peerErrors(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  at: string,
): FieldError[] {
  const errors = [
    ...labelSelectorErrors(podSelector, `${at}.podSelector`),
    ...labelSelectorErrors(namespaceSelector, `${at}.namespaceSelector`),
  ];
  if (ipBlock) errors.push(...blockErrors(ipBlock, `${at}.ipBlock`));
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(at, "must specify a peer"));
  if (ipBlock && (podSelector || namespaceSelector))
    errors.push(forbiddenField(at, "may not specify both ipBlock and another peer"));
  return errors;
}

function blockErrors({ cidr, except }: NonNullable<NetworkPolicyPeer["ipBlock"]>, at: string): FieldError[] {
  if (!cidr) return [required(`${at}.cidr`)];
  const whole = parseCidr(cidr);
  if (!whole) return [invalidValue(`${at}.cidr`, cidr, "not a valid CIDR")];
  const errors: FieldError[] = [];
  for (const [position, text] of (except ?? []).entries()) {
    const part = parseCidr(text);
    if (!part) return [...errors, invalidValue(`${at}.except[${position}]`, text, "not a valid CIDR")];
    if (!isStrictPart(part, whole))
      errors.push(invalidValue(`${at}.except[${position}]`, text, "must be a strict subset of `cidr`"));
  }
  return errors;
}

function specErrors({ podSelector, ingress, egress, policyTypes }: NetworkPolicySpec): FieldError[] {
  const errors = labelSelectorErrors(podSelector, "spec.podSelector");
  const rules = (
    ports: readonly NetworkPolicyPort[] | undefined,
    peers: readonly NetworkPolicyPeer[] | undefined,
    at: string,
    side: string,
  ): FieldError[] => [
    ...(ports ?? []).flatMap((port, index) => portRuleErrors(port, `${at}.ports[${index}]`)),
    ...(peers ?? []).flatMap((peer, index) => peerErrors(peer, `${at}.${side}[${index}]`)),
  ];
  ingress?.forEach(({ ports, from }, position) =>
    errors.push(...rules(ports, from, `spec.ingress[${position}]`, "from")),
  );
  egress?.forEach(({ ports, to }, position) =>
    errors.push(...rules(ports, to, `spec.egress[${position}]`, "to")),
  );
  if ((policyTypes?.length ?? 0) > 2)
    return [
      ...errors,
      invalidValue("spec.policyTypes", policyTypes, "may not specify more than two policyTypes"),
    ];
  return [
    ...errors,
    ...(policyTypes ?? []).flatMap((type, position) =>
      supported(type, `spec.policyTypes[${position}]`, ["Ingress", "Egress"]),
    ),
  ];
}

export const networkPolicy = strategy<NetworkPolicy>({
  resource: "networkpolicies",
  singular: "networkpolicy",
  shortNames: ["netpol"],
  scope: "Namespaced",
  hub: NetworkPolicy,
  metaChecks: { asNew: 1 },
  generation: true,
  // Unless a feature gate enables the status of policies, a status sent on creation is kept, and the status
  // subresource accepts only an empty one.
  resets: ["status"],
  defaults: ({ spec }) => {
    if (!spec.policyTypes?.length)
      spec.policyTypes = spec.egress?.length ? ["Ingress", "Egress"] : ["Ingress"];
  },
  prepareForCreate: (obj, { settings }) => {
    if (settings.networkPolicyStatus) obj.status = {};
  },
  prepareForUpdate: (obj, old, { settings }) => {
    if (settings.networkPolicyStatus || old.status.conditions?.length) obj.status = old.status;
  },
  validate: ({ spec }) => specErrors(spec),
  // The reference validates a changed policy twice and reports every error twice.
  validateUpdate: ({ spec }) => [...specErrors(spec), ...specErrors(spec)],
  subresources: {
    status: {
      ...statusPart<NetworkPolicy>(({ status }) => conditionErrors(status.conditions, "status.conditions")),
      merge: ({ metadata, status }, old, { settings }) => {
        const unread = status.conditions?.length ? old.status : {};
        return { ...old, metadata, status: settings.networkPolicyStatus ? status : unread };
      },
      metaChecks: { asChange: 0 },
      untabled: true,
    },
  },
  columns: [
    nameColumn,
    {
      name: "Pod-Selector",
      type: "string",
      doc: "Label selector of the pods the policy applies to.",
      cell: ({ spec }: NetworkPolicy) => selectorText(spec.podSelector),
    },
    ageColumn,
  ],
});
