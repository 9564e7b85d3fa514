// Authorization of approvers and signers of certificate requests, and restrictions on client certificates.
import type { CertificateSigningRequest, ClusterTrustBundle } from "#api";
import { mastersGroup, type User, requestedOrganizations } from "#authn";
import type { Authorizer } from "#authz";
import { forbidden } from "#base";
import { type Dialect, groupName } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

const resources = ["certificatesigningrequests"];

/** Reports whether the user may act for a signer, either by its name or by its domain: `example.com/*`. */
async function mayActFor(
  authorizer: Authorizer,
  group: string,
  attributes: AdmissionAttributes,
  verb: string,
  signer: string,
): Promise<boolean> {
  for (const name of [signer, `${signer.split("/", 1)[0]}/*`]) {
    const target = { group, version: "*", resource: "signers", subresource: "", namespace: "", name };
    if (
      (await authorizer.decide({ user: attributes.user as User, verb, resource: target })).verdict === "allow"
    )
      return true;
  }
  return false;
}

export function certificatePlugins(dialect: Dialect, authorizer: Authorizer): readonly AdmissionPlugin[] {
  const group = groupName(dialect, { group: "certificates", branded: true });
  const refused = (attributes: AdmissionAttributes, why: string): Error =>
    forbidden(attributes.resource, attributes.name, why);
  const guard = (
    name: string,
    subresource: string,
    verb: string,
    concerned: (now: CertificateSigningRequest, old: CertificateSigningRequest) => boolean,
  ): AdmissionPlugin => ({
    name,
    handles: ["UPDATE"],
    resources,
    validate: async (attributes) => {
      if (attributes.subresource !== subresource || attributes.resource.group !== group) return [];
      const old = typed<CertificateSigningRequest>(attributes.oldObject);
      if (!concerned(typed<CertificateSigningRequest>(attributes.object), old)) return [];
      const { signerName } = old.spec;
      if (!(await mayActFor(authorizer, group, attributes, verb, signerName)))
        throw refused(attributes, `user not permitted to ${verb} requests with signerName "${signerName}"`);
      return [];
    },
  });
  return [
    guard("CertificateApproval", "approval", "approve", () => true),
    guard(
      "CertificateSigning",
      "status",
      "sign",
      (now, old) =>
        (now.status.certificate ?? "") !== (old.status.certificate ?? "") ||
        !isDeepStrictEqual(now.status.conditions ?? [], old.status.conditions ?? []),
    ),
    {
      name: "ClusterTrustBundleAttest",
      handles: ["CREATE", "UPDATE"],
      resources: ["clustertrustbundles"],
      validate: async (attributes) => {
        if (attributes.subresource || attributes.resource.group !== group) return [];
        // Only the new object: validation refuses a change of the signer.
        const { signerName = "" } = typed<ClusterTrustBundle>(attributes.object).spec;
        if (signerName !== "" && !(await mayActFor(authorizer, group, attributes, "attest", signerName)))
          throw refused(attributes, `user not permitted to attest for signerName "${signerName}"`);
        return [];
      },
    },
    {
      name: "CertificateSubjectRestriction",
      handles: ["CREATE"],
      resources,
      validate: async (attributes) => {
        if (attributes.subresource || attributes.resource.group !== group) return [];
        const { signerName, request } = typed<CertificateSigningRequest>(attributes.object).spec;
        if (signerName !== dialect.names.signers.apiClient) return [];
        if (requestedOrganizations(Buffer.from(request ?? "", "base64").toString()).includes(mastersGroup))
          throw refused(attributes, `use of ${signerName} signer with ${mastersGroup} group is not allowed`);
        return [];
      },
    },
  ];
}
