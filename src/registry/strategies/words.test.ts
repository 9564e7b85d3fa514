// What is said of faults is read by people, and looked for by programs: words that clients know stay as they
// are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import type { Strategy } from "../strategy.ts";
import { horizontalPodAutoscaler } from "./autoscaler.ts";
import { csiDriver } from "./csi.ts";
import { endpoints } from "./endpoints.ts";
import { flowSchema } from "./flow-schema.ts";
import { ingressClass } from "./ingress.ts";
import { limitRange } from "./limit-range.ts";
import { priorityLevelConfiguration } from "./priority-level.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { runtimeClass } from "./runtime-class.ts";
import { contextOf, defaulted } from "./try-out.fixture.ts";

const metadata = { name: "x" };
const scaled = (metric: object): object => ({
  spec: { maxReplicas: 1, scaleTargetRef: { kind: "Deployment", name: "d" }, metrics: [metric] },
});
const flow = (rule: object): object => ({
  spec: { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9000, rules: [rule] },
});
const anyone = [{ kind: "User", user: { name: "u" } }];
const limits = (item: object): object => ({ spec: { limits: [{ type: "Container", ...item }] } });

const said: [strategy: Strategy, sent: object, text: string][] = [
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
];
for (const [strategy, sent, text] of said) {
  test(`${strategy.resource}: ${text}`, () => {
    const found = strategy.validate!(defaulted(strategy, { metadata, ...sent }), contextOf(strategy)).map(
      fieldErrorText,
    );
    assert.ok(found.includes(text), found.join("\n"));
  });
}
