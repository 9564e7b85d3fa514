import assert from "node:assert/strict";
import { test } from "node:test";
import type { Namespace, ObjectMeta, Pod, PodSpec } from "#api";
import { ApiError } from "#base";
import { dialects } from "#dialect";
import type { AdmissionAttributes } from "../../attributes.ts";
import { attributesOf } from "../../attributes.fixture.ts";
import { podSecurity } from "./pod-security.ts";
import { type PodSecurityLevel, policyOf, standardText } from "./policy.ts";
import { detailsText, findings } from "./standards.ts";

const dialect = dialects.orch;
const prefix = dialect.names.labels.podSecurityPrefix;
const labelled = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [prefix + key, value]));

const policies: [labels: Record<string, string>, expected: string, wrong: string[]][] = [
  [{}, "privileged:latest privileged:latest privileged:latest", []],
  [{ enforce: "baseline" }, "baseline:latest privileged:latest baseline:latest", []],
  [
    { enforce: "baseline", "enforce-version": "v1.22" },
    "baseline:v1.22 privileged:latest baseline:v1.22",
    [],
  ],
  [
    { enforce: "restricted", warn: "baseline", "warn-version": "v1.0" },
    "restricted:latest privileged:latest baseline:v1.0",
    [],
  ],
  [
    { enforce: "baseline", "enforce-version": "v1.9", "warn-version": "latest" },
    "baseline:v1.9 privileged:latest baseline:latest",
    [],
  ],
  [{ audit: "restricted" }, "privileged:latest restricted:latest privileged:latest", []],
  [
    { enforce: "odd", audit: "odd", warn: "odd" },
    "restricted:latest privileged:latest privileged:latest",
    ["enforce", "audit", "warn"],
  ],
  [
    { "enforce-version": "1.27", "warn-version": "v1.01" },
    "privileged:latest privileged:latest privileged:latest",
    ["enforce-version", "warn-version"],
  ],
];
for (const [labels, expected, wrong] of policies) {
  test(`labels ${JSON.stringify(labels)} mean ${expected}`, () => {
    const { policy, errors } = policyOf(labelled(labels), prefix);
    assert.equal([policy.enforce, policy.audit, policy.warn].map(standardText).join(" "), expected);
    assert.deepEqual(
      errors.map(({ field }) => field),
      wrong.map((name) => `metadata.labels[${prefix}${name}]`),
    );
  });
}

const c = "c";
const fine = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const pod = (
  context: object | undefined,
  spec: object = {},
  annotations: Record<string, string> = {},
): { metadata: ObjectMeta; spec: PodSpec } =>
  ({
    metadata: { annotations },
    spec: { containers: [{ name: c, ...(context && { securityContext: context }) }], ...spec },
  }) as unknown as Pod;

const evaluations: [name: string, level: PodSecurityLevel, version: number | "latest", pod: ReturnType<typeof pod>, expected: string][] = [
  ["the privileged standard allows everything", "privileged", "latest", pod({ privileged: true }), ""],
  ["a plain pod meets the baseline standard", "baseline", "latest", pod(undefined), ""],
  ["a hardened pod meets the restricted standard", "restricted", "latest", pod(fine), ""],
  ["a plain pod does not meet the restricted standard", "restricted", "latest", pod(undefined), 'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'],
  ["an old version of the standard has fewer checks", "restricted", 7, pod(undefined), 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)'],
  ["recent versions exempt Windows pods from some checks", "restricted", "latest", pod({ runAsNonRoot: true }, { os: { name: "windows" } }), ""],
  ["older versions do not exempt Windows pods", "restricted", 24, pod({ ...fine, seccompProfile: undefined }, { os: { name: "windows" } }), 'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'],
  ["host namespaces", "baseline", "latest", pod(undefined, { hostNetwork: true, hostPID: true, hostIPC: true }), "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"],
  ["hostPath volumes", "baseline", "latest", pod(undefined, { volumes: [{ name: "a", hostPath: {} }, { name: "b", hostPath: {} }] }), 'hostPath volumes (volumes "a", "b")'],
  ["hostPath volumes in the restricted standard", "restricted", "latest", pod(fine, { volumes: [{ name: "a", hostPath: {} }, { name: "b", nfs: {} }, { name: "s", secret: {} }] }), 'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")'],
  ["host ports", "baseline", "latest", { metadata: {}, spec: { containers: [{ name: c, ports: [{ hostPort: 80 }, { hostPort: 9 }, { containerPort: 1 }] }] } } as never, 'hostPort (container "c" uses hostPorts 80, 9)'],
  ["privileged containers of all kinds", "baseline", "latest", pod({ privileged: true }, { initContainers: [{ name: "i", securityContext: { privileged: true } }] }), 'privileged (containers "i", "c" must not set securityContext.privileged=true)'],
  ["additional capabilities", "baseline", "latest", pod({ capabilities: { add: ["NET_RAW", "CHOWN", "ALL"] } }), 'non-default capabilities (container "c" must not include "ALL", "NET_RAW" in securityContext.capabilities.add)'],
  ["the restricted standard allows one additional capability", "restricted", "latest", pod({ ...fine, capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE", "CHOWN"] } }), 'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)'],
  ["procMount", "baseline", "latest", pod({ procMount: "Unmasked" }), 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'],
  ["SELinux options", "baseline", "latest", pod({ seLinuxOptions: { type: "x", user: "u" } }, { securityContext: { seLinuxOptions: { role: "r" } } }), 'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)'],
  ["unconfined seccomp profiles", "baseline", "latest", pod(undefined, { securityContext: { seccompProfile: { type: "Unconfined" } } }), 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")'],
  ["unconfined seccomp profiles in annotations", "baseline", 18, pod(undefined, {}, { [dialect.names.annotations.seccompPod]: "unconfined" }), `seccompProfile (forbidden annotation ${dialect.names.annotations.seccompPod}="unconfined")`],
  ["unconfined AppArmor profiles", "baseline", "latest", pod(undefined, {}, { [`${dialect.names.annotations.appArmorContainerPrefix}c`]: "unconfined" }), `forbidden AppArmor profile (${dialect.names.annotations.appArmorContainerPrefix}c="unconfined")`],
  ["allowed AppArmor profiles", "baseline", "latest", pod(undefined, {}, Object.fromEntries(["runtime/default", "localhost/mine", ""].map((profile, at) => [`${dialect.names.annotations.appArmorContainerPrefix}c${at}`, profile]))), ""],
  ["sysctls", "baseline", 26, pod(undefined, { securityContext: { sysctls: [{ name: "net.ipv4.ip_local_reserved_ports" }, { name: "kernel.shm_rmid_forced" }] } }), "forbidden sysctls (net.ipv4.ip_local_reserved_ports)"],
  ["sysctls allowed by newer versions", "baseline", 27, pod(undefined, { securityContext: { sysctls: [{ name: "net.ipv4.ip_local_reserved_ports" }] } }), ""],
  ["Windows host processes", "baseline", "latest", pod({ windowsOptions: { hostProcess: true } }), 'hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)'],
  ["runAsUser 0", "restricted", "latest", pod(fine, { securityContext: { runAsUser: 0 } }), "runAsUser=0 (pod must not set runAsUser=0)"],
  ["runAsNonRoot false", "restricted", "latest", pod({ ...fine, runAsNonRoot: false }), 'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)'],
]; // prettier-ignore
for (const [name, level, version, { metadata, spec }, expected] of evaluations) {
  test(name, () =>
    assert.equal(detailsText(findings({ level, version }, metadata, spec, dialect)), expected),
  );
}

/**
 * Returns the outcome of a request in a namespace with these labels: `allowed` or the refusal, and the
 * warnings.
 */
async function evaluate(
  labels: Record<string, string>,
  attributes: Partial<AdmissionAttributes>,
  pods: object[] = [],
): Promise<[outcome: string, warnings: string[]]> {
  const warnings: string[] = [];
  const plugin = podSecurity({
    dialect,
    namespace: async () => ({ metadata: { labels: labelled(labels) } }) as unknown as Namespace,
    podsIn: async () => pods as Pod[],
  });
  try {
    const warn = (text: string): void => void warnings.push(text.replace(/ \(.*$/, ""));
    const errors = await plugin.validate!(
      attributesOf({ name: "n", operation: "CREATE", warn, ...attributes }),
    );
    return [errors.map(({ type, field }) => `${type} ${field}`).join() || "allowed", warnings];
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return [`${error.code} ${/violates \w+ "(.*?)"/.exec(error.message)?.[1]}`, warnings];
  }
}
const plain = pod(undefined) as unknown as Record<string, unknown>;
const namespaceOf = (labels: Record<string, string>): Record<string, unknown> => ({
  metadata: { labels: labelled(labels) },
});
const namespaces = { resource: { group: "", version: "v1", resource: "namespaces" } };
const deployments = {
  resource: { group: "apps", version: "v1", resource: "deployments" },
  object: { spec: { template: plain } },
};
const image = (name: string): Record<string, unknown> => ({
  metadata: {},
  spec: { containers: [{ name: "c", image: name }] },
});

const attempts: [name: string, labels: Record<string, string>, attributes: Partial<AdmissionAttributes>, expected: [outcome: string, warnings: string[]]][] = [
  ["a pod in a namespace without labels", {}, { object: plain }, ["allowed", []]],
  ["a pod that violates the standard", { enforce: "restricted" }, { object: plain }, ["403 restricted:latest", []]],
  ["a pod with a warning", { warn: "restricted", "warn-version": "v1.27" }, { object: plain }, ["allowed", ['would violate PodSecurity "restricted:v1.27": allowPrivilegeEscalation != false']]],
  ["an update without relevant changes", { enforce: "restricted" }, { operation: "UPDATE", object: plain, oldObject: plain }, ["allowed", []]],
  ["a changed image", { enforce: "restricted" }, { operation: "UPDATE", object: image("a"), oldObject: image("b") }, ["403 restricted:latest", []]],
  ["a status update", { enforce: "restricted" }, { operation: "UPDATE", subresource: "status", object: image("a"), oldObject: image("b") }, ["allowed", []]],
  ["a workload is admitted with a warning", { enforce: "restricted" }, deployments, ["allowed", ['would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false']]],
  ["a namespace with invalid labels", {}, { ...namespaces, object: namespaceOf({ enforce: "x" }) }, [`FieldValueInvalid metadata.labels[${prefix}enforce]`, []]],
  ["unchanged invalid labels", {}, { ...namespaces, operation: "UPDATE", object: namespaceOf({ enforce: "x" }), oldObject: namespaceOf({ enforce: "x" }) }, ["allowed", []]],
  ["a stricter namespace", {}, { ...namespaces, operation: "UPDATE", object: namespaceOf({ enforce: "restricted" }), oldObject: namespaceOf({}) }, ["allowed", ['existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest"', "a", "b"]]],
  ["a less strict namespace", {}, { ...namespaces, operation: "UPDATE", object: namespaceOf({ enforce: "baseline" }), oldObject: namespaceOf({ enforce: "restricted" }) }, ["allowed", []]],
]; // prettier-ignore
const present = [
  { metadata: { name: "b" }, spec: { ...plain["spec"]!, hostPID: true } },
  { metadata: { name: "a2" }, spec: plain["spec"] },
  { metadata: { name: "a" }, spec: plain["spec"] },
];
for (const [name, labels, attributes, expected] of attempts) {
  test(name, async () => {
    const [outcome, warnings] = await evaluate(labels, attributes, present);
    assert.deepEqual([outcome, warnings.map((text) => text.replace(/^(\w+): .*$/, "$1"))], expected);
  });
}

const exempting: [name: string, namespace: string, labels: Record<string, string>, before: Record<string, string> | undefined, warnings: string[]][] = [
  ["a new exempt namespace with a standard", "free", { enforce: "baseline", "warn-version": "v1.20" }, undefined, ['namespace "free" is exempt from Pod Security, and the policy (enforce=baseline:latest, warn=baseline:v1.20) will be ignored']],
  ["an exempt namespace with a stricter standard", "free", { audit: "restricted", enforce: "restricted" }, {}, ['namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest, audit=restricted:latest) will be ignored']],
  ["an exempt namespace without a standard", "free", { enforce: "privileged" }, undefined, []],
  ["pods of an exempt runtime class are not warned about", "n", { enforce: "restricted" }, {}, ['existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest"', "a (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile"]],
]; // prettier-ignore
for (const [name, namespace, labels, before, expected] of exempting)
  test(`${name} (exemptions)`, async () => {
    const warnings: string[] = [];
    const plugin = podSecurity({
      dialect,
      namespace: async () => undefined,
      podsIn: async () =>
        present.map((one) =>
          one.metadata.name === "b"
            ? { ...one, spec: { ...(one.spec as object), runtimeClassName: "own" } }
            : one,
        ) as unknown as Pod[],
      exemptions: { usernames: [], namespaces: ["free"], runtimeClasses: ["own"] },
    });
    const errors = await plugin.validate!(
      attributesOf({
        ...namespaces,
        name: namespace,
        operation: before ? "UPDATE" : "CREATE",
        object: namespaceOf(labels),
        ...(before && { oldObject: namespaceOf(before) }),
        warn: (text) => void warnings.push(text),
      }),
    );
    assert.deepEqual([errors, warnings], [[], expected]);
  });
