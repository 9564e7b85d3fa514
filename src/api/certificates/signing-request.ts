// Certificate signing requests.
import {
  type TypeOf,
  bytes,
  embedded,
  int32,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { mapList, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, ExtraValue } from "../named-types.ts";
import { certificates } from "../packages.ts";

const { message, kind, named } = certificates;

export const CertificateSigningRequestSpec = message(
  "CertificateSigningRequestSpec",
  "What certificate is asked for.",
  {
    request: required(1, bytes, "The request, in PEM.", atomicList),
    signerName: required(7, string, "Who is to sign it."),
    expirationSeconds: pointer(8, int32, "How long it should be good; the signer may change it."),
    usages: optional(5, list(named("KeyUsage", string)), "What it is to be used for.", atomicList),
    username: optional(2, string, "Who asked; set by the server."),
    uid: optional(3, string, "Identity of who asked; set by the server."),
    groups: optional(4, list(string), "Groups of who asked; set by the server.", atomicList),
    extra: optional(6, map(ExtraValue), "What else was known of who asked; set by the server."),
  },
);
export type CertificateSigningRequestSpec = TypeOf<typeof CertificateSigningRequestSpec>;

export const CertificateSigningRequestCondition = message(
  "CertificateSigningRequestCondition",
  "Approved, Denied or Failed.",
  {
    type: required(1, named("RequestConditionType", string), "What the condition is about."),
    status: required(6, ConditionStatus, "True, False or Unknown."),
    reason: optional(2, string, "One CamelCase word for the last change."),
    message: optional(3, string, "The last change, for people."),
    lastUpdateTime: embedded(4, time, "When the condition was last written."),
    lastTransitionTime: embedded(5, time, "When the status last changed."),
  },
);
export type CertificateSigningRequestCondition = TypeOf<typeof CertificateSigningRequestCondition>;

export const CertificateSigningRequestStatus = message(
  "CertificateSigningRequestStatus",
  "How far a request has come.",
  {
    conditions: optional(
      1,
      list(CertificateSigningRequestCondition),
      "Whether it was approved, denied, or failed.",
      mapList("type"),
    ),
    certificate: optional(2, bytes, "The certificate, in PEM.", atomicList),
  },
);
export type CertificateSigningRequestStatus = TypeOf<typeof CertificateSigningRequestStatus>;

export const CertificateSigningRequest = kind("CertificateSigningRequest", "Asks for a certificate.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, CertificateSigningRequestSpec, "What certificate is asked for.", {
    published: "required",
  }),
  status: embedded(3, CertificateSigningRequestStatus, "How far it has come."),
});
export type CertificateSigningRequest = TypeOf<typeof CertificateSigningRequest>;
