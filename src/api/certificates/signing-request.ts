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
  "Specification of a certificate signing request.",
  {
    request: required(1, bytes, "PKCS#10 certificate request, PEM-encoded.", atomicList),
    signerName: required(7, string, "Name of the requested signer."),
    expirationSeconds: pointer(
      8,
      int32,
      "Requested validity of the certificate in seconds; the signer may choose another one.",
    ),
    usages: optional(
      5,
      list(named("KeyUsage", string)),
      "Key usages requested in the certificate.",
      atomicList,
    ),
    username: optional(2, string, "Name of the user that created the request; set by the server."),
    uid: optional(3, string, "UID of the user that created the request; set by the server."),
    groups: optional(
      4,
      list(string),
      "Groups of the user that created the request; set by the server.",
      atomicList,
    ),
    extra: optional(
      6,
      map(ExtraValue),
      "Extra attributes of the user that created the request; set by the server.",
    ),
  },
);
export type CertificateSigningRequestSpec = TypeOf<typeof CertificateSigningRequestSpec>;

export const CertificateSigningRequestCondition = message(
  "CertificateSigningRequestCondition",
  "A condition of a certificate signing request, of type Approved, Denied or Failed.",
  {
    type: required(1, named("RequestConditionType", string), "Type of the condition."),
    status: required(6, ConditionStatus, "Status of the condition: True, False or Unknown."),
    reason: optional(2, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(3, string, "Human-readable details of the last transition."),
    lastUpdateTime: embedded(4, time, "Time at which the condition was last updated."),
    lastTransitionTime: embedded(5, time, "Time at which the status of the condition last changed."),
  },
);
export type CertificateSigningRequestCondition = TypeOf<typeof CertificateSigningRequestCondition>;

export const CertificateSigningRequestStatus = message(
  "CertificateSigningRequestStatus",
  "Current status of a certificate signing request.",
  {
    conditions: optional(
      1,
      list(CertificateSigningRequestCondition),
      "Conditions of the request: Approved, Denied or Failed.",
      mapList("type"),
    ),
    certificate: optional(2, bytes, "Issued certificate chain, PEM-encoded; set by the signer.", atomicList),
  },
);
export type CertificateSigningRequestStatus = TypeOf<typeof CertificateSigningRequestStatus>;

export const CertificateSigningRequest = kind(
  "CertificateSigningRequest",
  "Requests a certificate from a signer, asynchronously and subject to approval.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(
      2,
      CertificateSigningRequestSpec,
      "Specification of the requested certificate; immutable apart from the status.",
      {
        published: "required",
      },
    ),
    status: embedded(
      3,
      CertificateSigningRequestStatus,
      "Status of the request: its approval and the issued certificate.",
    ),
  },
);
export type CertificateSigningRequest = TypeOf<typeof CertificateSigningRequest>;
