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

export const ServiceReference = message("ServiceReference", "Reference to a service.", {
  namespace: optional(1, string, "Namespace of the service."),
  name: optional(2, string, "Name of the service."),
  port: pointer(3, int32, "Port of the service; defaults to 443.", hiddenDefault(443)),
});
export type ServiceReference = TypeOf<typeof ServiceReference>;

export const APIServiceSpec = message("APIServiceSpec", "Specification of an API service.", {
  service: optional(
    1,
    ServiceReference,
    "Service of the extension API server; unset if the version is served locally.",
  ),
  group: optional(2, string, "Name of the API group."),
  version: optional(3, string, "Name of the API version."),
  insecureSkipTLSVerify: optional(
    4,
    bool,
    "Whether to skip verification of the extension server's TLS certificate.",
  ),
  caBundle: optional(
    5,
    bytes,
    "PEM-encoded CA bundle for verifying the extension server's certificate.",
    atomicList,
  ),
  groupPriorityMinimum: required(
    7,
    int32,
    "Minimum priority of the group; groups with higher priorities are preferred by clients.",
  ),
  versionPriority: required(
    8,
    int32,
    "Priority of the version within its group; higher priorities are listed first.",
  ),
});
export type APIServiceSpec = TypeOf<typeof APIServiceSpec>;

export const APIServiceCondition = message("APIServiceCondition", "A condition of an API service.", {
  type: required(1, named("APIServiceConditionType", string), "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastTransitionTime: embedded(3, time, "Time at which the status of the condition last changed."),
  reason: optional(4, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(5, string, "Human-readable details of the last transition."),
});
export type APIServiceCondition = TypeOf<typeof APIServiceCondition>;

export const APIServiceStatus = message("APIServiceStatus", "Current status of an API service.", {
  conditions: optional(1, list(APIServiceCondition), "Latest observed conditions, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type APIServiceStatus = TypeOf<typeof APIServiceStatus>;

export const APIService = kind(
  "APIService",
  "Registers a version of an API group and the server that serves it.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, APIServiceSpec, "Specification of the API service."),
    status: embedded(
      3,
      APIServiceStatus,
      "Current status of the API service, notably whether it is available.",
    ),
  },
);
export type APIService = TypeOf<typeof APIService>;
