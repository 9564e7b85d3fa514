// Cluster trust bundles.
import { type TypeOf, embedded, optional, required, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { certificatesV1alpha1 } from "../packages.ts";

const { message, kind } = certificatesV1alpha1;

export const ClusterTrustBundleSpec = message(
  "ClusterTrustBundleSpec",
  "Specification of a cluster trust bundle.",
  {
    signerName: optional(
      1,
      string,
      "Name of the associated signer, if any; it must then prefix the name of the bundle.",
    ),
    trustBundle: required(2, string, "Trust anchors, as PEM-encoded X.509 certificates."),
  },
);
export type ClusterTrustBundleSpec = TypeOf<typeof ClusterTrustBundleSpec>;

export const ClusterTrustBundle = kind(
  "ClusterTrustBundle",
  "A set of X.509 trust anchors that is readable in the whole cluster.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, ClusterTrustBundleSpec, "Signer and trust anchors.", { published: "required" }),
  },
);
export type ClusterTrustBundle = TypeOf<typeof ClusterTrustBundle>;
