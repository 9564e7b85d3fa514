import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionPlugins } from "../options/admission.ts";
import { chosen } from "./plugins.ts";

const plugins = [
  "AlwaysAdmit",
  "NamespaceLifecycle",
  "LimitRanger",
  "AlwaysPullImages",
  "escalation guard",
  "ResourceQuota",
].map((name) => ({ name, handles: [] }));
type Names = Parameters<typeof chosen>[1]["enableAdmissionPlugins"];
const cases: [name: string, enable: Names, disable: Names, expected: string[]][] = [
  ["without a word the usual plug-ins run", [], [], ["NamespaceLifecycle", "LimitRanger", "escalation guard", "ResourceQuota"]],
  ["those asked for run in their own place", ["AlwaysPullImages", "AlwaysAdmit"], [], ["AlwaysAdmit", "NamespaceLifecycle", "LimitRanger", "AlwaysPullImages", "escalation guard", "ResourceQuota"]],
  ["in whichever order they were named", ["AlwaysAdmit", "AlwaysPullImages"], [], ["AlwaysAdmit", "NamespaceLifecycle", "LimitRanger", "AlwaysPullImages", "escalation guard", "ResourceQuota"]],
  ["those not wanted do not run", [], ["ResourceQuota", "LimitRanger"], ["NamespaceLifecycle", "escalation guard"]],
  ["whatever the order", [], ["LimitRanger", "ResourceQuota"], ["NamespaceLifecycle", "escalation guard"]],
  ["asking for what runs anyway changes nothing", ["LimitRanger"], [], ["NamespaceLifecycle", "LimitRanger", "escalation guard", "ResourceQuota"]],
]; // prettier-ignore
for (const [name, enableAdmissionPlugins, disableAdmissionPlugins, expected] of cases) {
  // prettier-ignore
  test(name, () => assert.deepEqual(chosen(plugins, { enableAdmissionPlugins, disableAdmissionPlugins }).map((plugin) => plugin.name), expected));
}

test("exactly the 20 listed plug-ins are enabled by default", () => {
  const all = Object.keys(admissionPlugins).map((name) => ({ name, handles: [] }));
  const byDefault = chosen(all, { enableAdmissionPlugins: [], disableAdmissionPlugins: [] });
  assert.equal(all.length, 36);
  assert.deepEqual(
    byDefault.map(({ name }) => name),
    [
      "CertificateApproval",
      "CertificateSigning",
      "CertificateSubjectRestriction",
      "ClusterTrustBundleAttest",
      "DefaultIngressClass",
      "DefaultStorageClass",
      "DefaultTolerationSeconds",
      "LimitRanger",
      "MutatingAdmissionWebhook",
      "NamespaceLifecycle",
      "PersistentVolumeClaimResize",
      "PodSecurity",
      "Priority",
      "ResourceQuota",
      "RuntimeClass",
      "ServiceAccount",
      "StorageObjectInUseProtection",
      "TaintNodesByCondition",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionWebhook",
    ],
  );
});
