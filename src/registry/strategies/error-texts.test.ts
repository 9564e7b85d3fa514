// Checks validation error texts that clients may match on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import type { Strategy } from "../strategy.ts";
import { horizontalPodAutoscaler } from "./autoscaler.ts";
import { cronJob } from "./cron-job.ts";
import { csiDriver } from "./csi.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment } from "./deployment.ts";
import { endpoints } from "./endpoints.ts";
import { flowSchema } from "./flow-schema.ts";
import { ingressClass } from "./ingress.ts";
import { job } from "./job.ts";
import { limitRange } from "./limit-range.ts";
import { node } from "./node.ts";
import { priorityLevelConfiguration } from "./priority-level.ts";
import { replicationController } from "./replication-controller.ts";
import { resourceQuota } from "./resource-quota.ts";
import { service } from "./service.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { runtimeClass } from "./runtime-class.ts";
import { statefulSet } from "./stateful-set.ts";
import { contextOf, defaulted } from "./strategy.fixture.ts";

const metadata = { name: "x" };
const scaled = (metric: object): object => ({
  spec: { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" }, metrics: [metric] },
});
const flow = (rule: object): object => ({
  spec: { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9000, rules: [rule] },
});
const anyone = [{ kind: "User", user: { name: "u" } }];
const limits = (item: object): object => ({ spec: { limits: [{ type: "Container", ...item }] } });

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

const cases: [strategy: Strategy, sent: object, text: string][] = [
  [
    resourceQuota,
    { spec: { hard: { configmaps: "1" }, scopes: ["BestEffort"] } },
    'spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource',
  ],
  [
    resourceQuota,
    {
      spec: {
        hard: { configmaps: "1" },
        scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists" }] },
      },
    },
    'spec.scopeSelector.matchExpressions: Invalid value: core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{core.ScopedResourceSelectorRequirement{ScopeName:"BestEffort", Operator:"Exists", Values:[]string(nil)}}}: unsupported scope applied to resource',
  ],
  [
    horizontalPodAutoscaler,
    scaled({
      type: "Pods",
      pods: { metric: { name: "" }, target: { type: "AverageValue", averageValue: "1" } },
    }),
    "spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
  ],
  [
    horizontalPodAutoscaler,
    scaled({ type: "Odd" }),
    'spec.metrics[0].type: Unsupported value: "Odd": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
  ],
  [
    horizontalPodAutoscaler,
    scaled({ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }),
    "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
  ],
  [
    flowSchema,
    flow({ subjects: [{ kind: "Odd" }] }),
    'spec.rules[0].subjects[0].kind: Unsupported value: "Odd": supported values: "Group", "ServiceAccount", "User"',
  ],
  [
    flowSchema,
    flow({ subjects: anyone, resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] }),
    "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
  ],
  [
    flowSchema,
    flow({
      subjects: anyone,
      resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["a.b"] }],
    }),
    `spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "a.b": each member of this list must be '*' or a DNS-1123 label; must not contain dots`,
  ],
  [
    priorityLevelConfiguration,
    { spec: { type: "Limited" } },
    "spec.limited: Required value: must not be empty when type is Limited",
  ],
  [
    limitRange,
    limits({ min: { cpu: "2" }, max: { cpu: "1" } }),
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
  ],
  [
    limitRange,
    limits({ defaultRequest: { cpu: "2" }, default: { cpu: "500m" } }),
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 500m',
  ],
  [
    limitRange,
    limits({ min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }),
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
  ],
  [
    endpoints,
    { subsets: [{ addresses: [{ ip: "x" }] }] },
    'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    csiDriver,
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 1 }] } },
    "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
  ],
  [
    csiDriver,
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 2 ** 33 }] } },
    "spec.tokenRequests[0].expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds",
  ],
  [
    certificateSigningRequest,
    { spec: { request: "", signerName: "a.b/c", usages: ["any"], expirationSeconds: 599 } },
    "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)",
  ],
  [
    ingressClass,
    { spec: { controller: "a/b", parameters: { kind: "K", name: "n", scope: "Namespace" } } },
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ],
  [
    runtimeClass,
    { handler: "h", scheduling: { tolerations: [{ key: "a", operator: "Exists", effect: "Odd" }] } },
    'scheduling.tolerations.tolerations[0].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  [
    flowSchema,
    flow({ subjects: [{ kind: "User", user: { name: "u" }, group: { name: "g" } }] }),
    "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
  ],
  [
    flowSchema,
    flow({ subjects: anyone, nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["*", "/x"] }] }),
    `spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: []string{"*", "/x"}: if '*' is present, must not specify other non-resource URLs`,
  ],
  [
    priorityLevelConfiguration,
    { spec: { type: "Limited", limited: { limitResponse: { type: "Reject", queuing: {} } } } },
    "spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited",
  ],
  [
    runtimeClass,
    { handler: "h", overhead: { podFixed: { "hugepages-2Mi": "1" } } },
    "overhead: Forbidden: HugePages require cpu or memory",
  ],
  [
    runtimeClass,
    { handler: "h", overhead: { podFixed: { "hugepages-2Mi": "1", cpu: "1" } } },
    'overhead.limits[hugepages-2Mi]: Invalid value: "1": 1 is not positive integer multiple of hugepages-2Mi',
  ],
  [
    resourceQuota,
    {
      spec: {
        scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists", values: ["a"] }] },
      },
    },
    `spec.scopeSelector.matchExpressions.values: Invalid value: []string{"a"}: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
  ],
  [
    deployment,
    { spec: { selector: {}, template } },
    "spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for deployment",
  ],
  [
    statefulSet,
    { spec: { selector: {}, template, serviceName: "s" } },
    "spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for statefulset",
  ],
  [
    daemonSet,
    { spec: { selector: {}, template } },
    "spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for daemonset",
  ],
  [
    replicationController,
    { spec: { selector: { a: "b" }, template: { ...template, spec: { activeDeadlineSeconds: 1 } } } },
    "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported",
  ],
  [
    job,
    { spec: { template, podFailurePolicy: { rules: [{}] } } },
    'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailJob" "Ignore"]',
  ],
  [
    job,
    { spec: { template, podFailurePolicy: { rules: [{ action: "Count" }] } } },
    "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
  ],
  [
    cronJob,
    { spec: { schedule: "0 1", jobTemplate: { spec: { template } } } },
    'spec.schedule: Invalid value: "0 1": expected exactly 5 fields, found 2: [0 1]',
  ],
  [
    service,
    { spec: { type: "LoadBalancer", ports: [{ port: 1 }], loadBalancerSourceRanges: ["", "10.0.0.0/8"] } },
    'spec.LoadBalancerSourceRanges: Invalid value: "[ 10.0.0.0/8]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
  ],
  [
    node,
    { spec: { podCIDRs: ["10.0.0.0/8", "x"] } },
    "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)",
  ],
];
for (const [strategy, sent, text] of cases) {
  test(`${strategy.resource}: ${text}`, () => {
    const found = strategy.validate!(defaulted(strategy, { metadata, ...sent }), contextOf(strategy)).map(
      fieldErrorText,
    );
    assert.ok(found.includes(text), found.join("\n"));
  });
}
