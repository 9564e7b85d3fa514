import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionPlugins } from "../options/admission.ts";
import { enabledPlugins } from "./plugins.ts";

const plugins = [
  "AlwaysAdmit",
  "NamespaceLifecycle",
  "LimitRanger",
  "AlwaysPullImages",
  "escalation guard",
  "ResourceQuota",
].map((name) => ({ name, handles: [] }));
type Names = Parameters<typeof enabledPlugins>[1]["enableAdmissionPlugins"];
const cases: [name: string, enable: Names, disable: Names, expected: string[]][] = [
  ["the default plug-ins run without flags", [], [], ["NamespaceLifecycle", "LimitRanger", "escalation guard", "ResourceQuota"]],
  ["enabled plug-ins run at their fixed position", ["AlwaysPullImages", "AlwaysAdmit"], [], ["AlwaysAdmit", "NamespaceLifecycle", "LimitRanger", "AlwaysPullImages", "escalation guard", "ResourceQuota"]],
  ["the order of enabled plug-ins in the flag is irrelevant", ["AlwaysAdmit", "AlwaysPullImages"], [], ["AlwaysAdmit", "NamespaceLifecycle", "LimitRanger", "AlwaysPullImages", "escalation guard", "ResourceQuota"]],
  ["disabled plug-ins do not run", [], ["ResourceQuota", "LimitRanger"], ["NamespaceLifecycle", "escalation guard"]],
  ["the order of disabled plug-ins in the flag is irrelevant", [], ["LimitRanger", "ResourceQuota"], ["NamespaceLifecycle", "escalation guard"]],
  ["enabling a default plug-in changes nothing", ["LimitRanger"], [], ["NamespaceLifecycle", "LimitRanger", "escalation guard", "ResourceQuota"]],
]; // prettier-ignore
for (const [name, enableAdmissionPlugins, disableAdmissionPlugins, expected] of cases) {
  // prettier-ignore
  test(name, () => assert.deepEqual(enabledPlugins(plugins, { enableAdmissionPlugins, disableAdmissionPlugins }).map((plugin) => plugin.name), expected));
}

test("exactly the 20 listed plug-ins are enabled by default", () => {
  const all = Object.keys(admissionPlugins).map((name) => ({ name, handles: [] }));
  const byDefault = enabledPlugins(all, { enableAdmissionPlugins: [], disableAdmissionPlugins: [] });
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
