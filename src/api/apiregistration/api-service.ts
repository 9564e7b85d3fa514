// API services: API versions that other servers provide.
import {
  type TypeOf,
  bool,
  bytes,
  embedded,
  int32,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, mapList, patchMerge, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus } from "../named-types.ts";
import { apiregistration } from "../packages.ts";

const { message, kind, named } = apiregistration;

export const ServiceReference = message("ServiceReference", "The service of the other server.", {
  namespace: optional(1, string, "Namespace of the service."),
  name: optional(2, string, "Name of the service."),
  port: pointer(3, int32, "Port of the service.", hiddenDefault(443)),
});
export type ServiceReference = TypeOf<typeof ServiceReference>;

export const APIServiceSpec = message("APIServiceSpec", "Which version, and who serves it.", {
  service: optional(1, ServiceReference, "The service that serves it; unset when this server does."),
  group: optional(2, string, "Name of the group."),
  version: optional(3, string, "Name of the version."),
  insecureSkipTLSVerify: optional(4, bool, "Trusts the other server without checking its certificate."),
  caBundle: optional(5, bytes, "Certificates that its own is checked against, in PEM.", atomicList),
  groupPriorityMinimum: required(7, int32, "Rank of the group among groups; higher goes first."),
  versionPriority: required(8, int32, "Rank of the version within the group; higher goes first."),
});
export type APIServiceSpec = TypeOf<typeof APIServiceSpec>;

export const APIServiceCondition = message("APIServiceCondition", "One aspect of an API service's state.", {
  type: required(1, named("APIServiceConditionType", string), "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "When the status last changed."),
  reason: optional(4, string, "One CamelCase word for the last change."),
  message: optional(5, string, "The last change, for people."),
});
export type APIServiceCondition = TypeOf<typeof APIServiceCondition>;

export const APIServiceStatus = message("APIServiceStatus", "Whether the version can be reached.", {
  conditions: optional(1, list(APIServiceCondition), "The latest observations, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type APIServiceStatus = TypeOf<typeof APIServiceStatus>;

export const APIService = kind("APIService", "One version of one group, and who serves it.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, APIServiceSpec, "Which version, and who serves it."),
  status: embedded(3, APIServiceStatus, "Whether it can be reached."),
});
export type APIService = TypeOf<typeof APIService>;
