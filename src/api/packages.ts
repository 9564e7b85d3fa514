// The API packages of the declarations: group, version, and package in published schemas.
import { apiPackage } from "#schema";

export const meta = apiPackage({ package: "apimachinery.pkg.apis.meta.v1", version: "v1" });
/** The metadata group itself, whose kinds responses can be converted to. */
export const metaGroup = apiPackage({
  package: "apimachinery.pkg.apis.meta.v1",
  group: "meta",
  branded: true,
  version: "v1",
});
export const version = apiPackage({ package: "apimachinery.pkg.version" });

export const core = apiPackage({ package: "api.core.v1", version: "v1" });
export const apps = apiPackage({ package: "api.apps.v1", group: "apps", version: "v1" });
export const autoscalingV1 = apiPackage({
  package: "api.autoscaling.v1",
  group: "autoscaling",
  version: "v1",
});
export const autoscalingV2 = apiPackage({
  package: "api.autoscaling.v2",
  group: "autoscaling",
  version: "v2",
});
export const batch = apiPackage({ package: "api.batch.v1", group: "batch", version: "v1" });
export const policy = apiPackage({ package: "api.policy.v1", group: "policy", version: "v1" });

export const admission = apiPackage({
  package: "api.admission.v1",
  group: "admission",
  branded: true,
  version: "v1",
});
export const admissionregistration = apiPackage({
  package: "api.admissionregistration.v1",
  group: "admissionregistration",
  branded: true,
  version: "v1",
});
export const admissionregistrationV1beta1 = apiPackage({
  package: "api.admissionregistration.v1beta1",
  group: "admissionregistration",
  branded: true,
  version: "v1beta1",
});
export const admissionregistrationV1alpha1 = apiPackage({
  package: "api.admissionregistration.v1alpha1",
  group: "admissionregistration",
  branded: true,
  version: "v1alpha1",
});
export const apidiscovery = (v: string) =>
  apiPackage({ package: `api.apidiscovery.${v}`, group: "apidiscovery", branded: true, version: v });
export const apiextensions = apiPackage({
  package: "apiextensions-apiserver.pkg.apis.apiextensions.v1",
  group: "apiextensions",
  branded: true,
  version: "v1",
});
export const apiregistration = apiPackage({
  package: "orch-aggregator.pkg.apis.apiregistration.v1",
  group: "apiregistration",
  branded: true,
  version: "v1",
});
export const authentication = apiPackage({
  package: "api.authentication.v1",
  group: "authentication",
  branded: true,
  version: "v1",
});
export const authenticationV1alpha1 = apiPackage({
  package: "api.authentication.v1alpha1",
  group: "authentication",
  branded: true,
  version: "v1alpha1",
});
export const authenticationV1beta1 = apiPackage({
  package: "api.authentication.v1beta1",
  group: "authentication",
  branded: true,
  version: "v1beta1",
});
export const authorization = apiPackage({
  package: "api.authorization.v1",
  group: "authorization",
  branded: true,
  version: "v1",
});
export const certificates = apiPackage({
  package: "api.certificates.v1",
  group: "certificates",
  branded: true,
  version: "v1",
});
export const resourceV1alpha2 = apiPackage({
  package: "api.resource.v1alpha2",
  group: "resource",
  branded: true,
  version: "v1alpha2",
});
export const certificatesV1alpha1 = apiPackage({
  package: "api.certificates.v1alpha1",
  group: "certificates",
  branded: true,
  version: "v1alpha1",
});
export const coordination = apiPackage({
  package: "api.coordination.v1",
  group: "coordination",
  branded: true,
  version: "v1",
});
export const discovery = apiPackage({
  package: "api.discovery.v1",
  group: "discovery",
  branded: true,
  version: "v1",
});
export const events = apiPackage({ package: "api.events.v1", group: "events", branded: true, version: "v1" });
export const flowcontrol = (v: string) =>
  apiPackage({ package: `api.flowcontrol.${v}`, group: "flowcontrol.apiserver", branded: true, version: v });
export const internalApiserver = apiPackage({
  package: "api.apiserverinternal.v1alpha1",
  group: "internal.apiserver",
  branded: true,
  version: "v1alpha1",
});
export const networking = apiPackage({
  package: "api.networking.v1",
  group: "networking",
  branded: true,
  version: "v1",
});
export const networkingV1alpha1 = apiPackage({
  package: "api.networking.v1alpha1",
  group: "networking",
  branded: true,
  version: "v1alpha1",
});
export const node = apiPackage({ package: "api.node.v1", group: "node", branded: true, version: "v1" });
export const rbac = apiPackage({
  package: "api.rbac.v1",
  group: "rbac.authorization",
  branded: true,
  version: "v1",
});
export const scheduling = apiPackage({
  package: "api.scheduling.v1",
  group: "scheduling",
  branded: true,
  version: "v1",
});
export const storage = apiPackage({
  package: "api.storage.v1",
  group: "storage",
  branded: true,
  version: "v1",
});

/** Files and plugin messages of the node agent; they have no protobuf encoding. */
export const nodeagentConfig = apiPackage({
  package: "nodeagent.config.v1beta1",
  group: "nodeagent.config",
  branded: true,
  version: "v1beta1",
});
export const credentialProvider = apiPackage({
  package: "nodeagent.credentialprovider.v1beta1",
  group: "credentialprovider.nodeagent",
  branded: true,
  version: "v1beta1",
});

/** Files of the API server; they have no protobuf encoding. */
export const auditPolicy = apiPackage({
  package: "apiserver.audit.v1",
  group: "audit",
  branded: true,
  version: "v1",
});
export const accessConfig = (v: string) =>
  apiPackage({ package: `apiserver.config.${v}`, group: "apiserver.config", branded: true, version: v });
/** The name that the documentation once used for the encryption configuration by mistake. */
export const formerEncryptionConfig = apiPackage({
  package: "apiserver.config.v1",
  group: "",
  branded: false,
  version: "v1",
});
export const egressConfig = apiPackage({
  package: "apiserver.v1beta1",
  group: "apiserver",
  branded: true,
  version: "v1beta1",
});
