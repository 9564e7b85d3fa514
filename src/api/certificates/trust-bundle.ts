// Cluster trust bundles.
import { type TypeOf, embedded, optional, required, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { certificatesV1alpha1 } from "../packages.ts";

const { message, kind } = certificatesV1alpha1;

export const ClusterTrustBundleSpec = message("ClusterTrustBundleSpec", "A signer and its trust anchors.", {
  signerName: optional(
    1,
    string,
    "Whose certificates the anchors verify; the name of the bundle begins with it.",
  ),
  trustBundle: required(2, string, "The anchors: certificates of authorities, in PEM."),
});
export type ClusterTrustBundleSpec = TypeOf<typeof ClusterTrustBundleSpec>;

export const ClusterTrustBundle = kind("ClusterTrustBundle", "Trust anchors that everyone may read.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ClusterTrustBundleSpec, "The signer and the anchors.", { published: "required" }),
});
export type ClusterTrustBundle = TypeOf<typeof ClusterTrustBundle>;
