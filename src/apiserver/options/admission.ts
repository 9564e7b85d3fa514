// Options of admission plug-ins.

import { file, listOf, oneOf, option, section, strings } from "#options";

/** All known admission plug-ins, and whether they are on by default. */
export const admissionPlugins: Readonly<Record<string, "on" | "off">> = {
  AlwaysAdmit: "off",
  AlwaysDeny: "off",
  AlwaysPullImages: "off",
  CertificateApproval: "on",
  CertificateSigning: "on",
  CertificateSubjectRestriction: "on",
  ClusterTrustBundleAttest: "on",
  DefaultIngressClass: "on",
  DefaultStorageClass: "on",
  DefaultTolerationSeconds: "on",
  DenyServiceExternalIPs: "off",
  EventRateLimit: "off",
  ExtendedResourceToleration: "off",
  ImagePolicyWebhook: "off",
  LimitPodHardAntiAffinityTopology: "off",
  LimitRanger: "on",
  MutatingAdmissionWebhook: "on",
  NamespaceAutoProvision: "off",
  NamespaceExists: "off",
  NamespaceLifecycle: "on",
  NodeRestriction: "off",
  OwnerReferencesPermissionEnforcement: "off",
  PersistentVolumeClaimResize: "on",
  PersistentVolumeLabel: "off",
  PodNodeSelector: "off",
  PodSecurity: "on",
  PodTolerationRestriction: "off",
  Priority: "on",
  ResourceQuota: "on",
  RuntimeClass: "on",
  SecurityContextDeny: "off",
  ServiceAccount: "on",
  StorageObjectInUseProtection: "on",
  TaintNodesByCondition: "on",
  ValidatingAdmissionPolicy: "on",
  ValidatingAdmissionWebhook: "on",
};
/** Known plugins that are rejected, with the reason. */
const notBuilt: Readonly<Record<string, string>> = {
  PersistentVolumeLabel: "it asks a cloud provider, and none is built in",
};
const plugin = oneOf(...Object.keys(admissionPlugins));

export const admissionSection = () =>
  section("Admission", [
    option({
      flag: "admission-control-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "File with the configuration of admission plugins.",
    }),
    option({
      flag: "admission-control",
      type: strings,
      default: [],
      doc: "All admission plugins to run, in any order.",
      deprecated:
        "Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.",
    }),
    option({
      flag: "enable-admission-plugins",
      derive: ({ value, isSet }) =>
        isSet("admissionControl")
          ? { value: value("admissionControl") as string[], from: "--admission-control" }
          : undefined,
      unavailableFor: (names) => {
        const missing = names.filter((name) => Object.hasOwn(notBuilt, name));
        return missing.length > 0
          ? missing.map((name) => `${name}: ${notBuilt[name]}`).join("; ")
          : undefined;
      },
      type: listOf(plugin),
      default: [],
      doc: "Admission plugins to enable in addition to the default ones, in any order.",
    }),
    option({
      flag: "disable-admission-plugins",
      derive: ({ value, isSet }) =>
        isSet("admissionControl")
          ? {
              value: Object.keys(admissionPlugins).filter(
                (name) => !(value("admissionControl") as string[]).includes(name),
              ),
              from: "--admission-control",
            }
          : undefined,
      type: listOf(plugin),
      default: [],
      doc: `Admission plugins to disable, in any order. Enabled by default: ${Object.keys(admissionPlugins)
        .filter((name) => admissionPlugins[name] === "on")
        .join(", ")}.`,
    }),
  ]);
