import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { applyDefaults, fromJsonValue } from "#schema";
import type { ApiObject, RequestContext, Strategy } from "../strategy.ts";
import { deployment } from "./deployment.ts";
import { pod } from "./pod.ts";
import { causesOf, contextOf } from "./strategy.fixture.ts";

const context = (podResize: boolean, strategy: Strategy = pod): RequestContext => {
  const ctx = contextOf(strategy);
  return { ...ctx, settings: { ...ctx.settings, podResize } };
};
type Resources = { requests?: object; limits?: object };

function created(container: object, status: object = {}, podResize = true): Pod {
  const sent = {
    metadata: { name: "p", namespace: "n" },
    spec: { containers: [{ name: "c", image: "i", terminationMessagePolicy: "File", ...container }] },
  };
  const object = fromJsonValue(pod.hub, sent).value as unknown as ApiObject;
  applyDefaults(pod.hub, object as never);
  pod.defaults!(object, context(podResize));
  pod.prepareForCreate!(object, context(podResize));
  const made = object as unknown as Pod;
  return { ...made, status: { ...made.status, ...status } };
}

const required = (resourceName: string) => ({ resourceName, restartPolicy: "RestartContainer" });
const notRequired = (resourceName: string) => ({ resourceName, restartPolicy: "NotRequired" });
const policies: [name: string, container: object, policy: object[] | undefined, podResize?: boolean][] = [
  [
    "requested resources are resized without a restart by default",
    { resources: { requests: { cpu: "1", memory: "1Gi" } } },
    [notRequired("cpu"), notRequired("memory")],
  ],
  [
    "limits that default requests count as well",
    { resources: { limits: { cpu: "1", "example.com/x": "1" } } },
    [notRequired("cpu")],
  ],
  [
    "policies of the pod are kept first",
    { resizePolicy: [required("memory")], resources: { requests: { cpu: "1", memory: "1Gi" } } },
    [required("memory"), notRequired("cpu")],
  ],
  ["without requests no policy is added", {}, undefined],
  [
    "with the gate off policies are dropped",
    { resizePolicy: [required("memory")], resources: { requests: { cpu: "1" } } },
    undefined,
    false,
  ],
];
for (const [name, container, policy, podResize] of policies)
  test(`resize policy: ${name}`, () =>
    assert.deepEqual(created(container, {}, podResize).spec.containers![0]!.resizePolicy, policy));

test("templates keep policies with the gate on, but get no defaults", () => {
  const template = (container: object) => ({
    metadata: { labels: { a: "b" } },
    spec: { containers: [{ name: "c", image: "i", ...container }] },
  });
  const made = (container: object, podResize: boolean): unknown => {
    const sent = { metadata: {}, spec: { selector: {}, template: template(container) } };
    const object = fromJsonValue(deployment.hub, sent).value as unknown as ApiObject;
    applyDefaults(deployment.hub, object as never);
    deployment.defaults?.(object, context(podResize, deployment));
    deployment.prepareForCreate!(object, context(podResize, deployment));
    const { spec } = object as unknown as { spec: { template: { spec: Pod["spec"] } } };
    return spec.template.spec.containers![0]!.resizePolicy;
  };
  assert.deepEqual(made({ resizePolicy: [required("cpu")] }, true), [required("cpu")]);
  assert.equal(made({ resizePolicy: [required("cpu")] }, false), undefined);
  assert.equal(made({ resources: { requests: { cpu: "1" } } }, true), undefined);
});

const burstable = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } };
const guaranteed = { limits: { cpu: "1", memory: "1Gi" } };
const changes: [name: string, from: Resources, to: Resources, causes: readonly string[], off?: boolean][] = [
  ["CPU and memory", burstable, { requests: { cpu: "500m", memory: "2Gi" }, limits: burstable.limits }, []],
  ["limits", burstable, { requests: burstable.requests, limits: { cpu: "3", memory: "4Gi" } }, []],
  ["CPU and memory of a Guaranteed pod", guaranteed, { limits: { cpu: "2", memory: "2Gi" } }, []],
  [
    "a different QoS class is refused",
    guaranteed,
    { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "1Gi" } },
    ["Invalid metadata"],
  ],
  ["limits may be added", { requests: { cpu: "1" } }, { requests: { cpu: "1" }, limits: { cpu: "2" } }, []],
  [
    "other resources are refused",
    { requests: { cpu: "1", "ephemeral-storage": "1Gi" } },
    { requests: { cpu: "1", "ephemeral-storage": "2Gi" } },
    ["Forbidden spec"],
  ],
  [
    "any resize is refused with the gate off",
    burstable,
    { requests: { cpu: "500m", memory: "1Gi" }, limits: burstable.limits },
    ["Forbidden spec"],
    true,
  ],
];
for (const [name, from, to, causes, off] of changes)
  test(`resize of a container: ${name}`, () => {
    const ctx = context(!off);
    const old = created({ resources: from }, {}, !off);
    const next = created({ resources: to }, {}, !off);
    next.spec.containers![0]!.resizePolicy = old.spec.containers![0]!.resizePolicy;
    assert.deepEqual(causesOf(pod.validateUpdate!(next, old, ctx)), causes);
  });

const allocated = (cpu: string) => ({ containerStatuses: [{ name: "c", allocatedResources: { cpu } }] });
const proposals: [name: string, to: string, status: object, resize: string | undefined][] = [
  ["a change that the node has not allocated is proposed", "2", allocated("1"), "Proposed"],
  ["a change back to the allocated amount is not proposed", "1500m", allocated("1500m"), undefined],
  ["nothing is proposed without a change", "1", { ...allocated("3"), resize: "Deferred" }, "Deferred"],
  ["nothing is proposed before the container has a status", "2", {}, undefined],
];
for (const [name, to, status, resize] of proposals)
  test(`resize: ${name}`, () => {
    const old = created({ resources: { requests: { cpu: "1" } } }, status);
    const next = structuredClone(old);
    next.spec.containers![0]!.resources.requests = { cpu: to };
    pod.prepareForUpdate!(next, old, context(true));
    assert.equal(next.status.resize, resize);
    assert.deepEqual(next.status.containerStatuses, old.status.containerStatuses);
  });
