// The versions in which the servers of a cluster store and decode each resource.
import { type TypeOf, embedded, int64, list, optional, pointer, required, string, time } from "#schema";
import { mapList, setList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { internalApiserver } from "../packages.ts";

const { message, kind, named } = internalApiserver;

export const ServerStorageVersion = message("ServerStorageVersion", "What one server stores and reads.", {
  apiServerID: optional(1, string, "Identity of the server."),
  encodingVersion: optional(2, string, "The version it stores."),
  decodableVersions: optional(3, list(string), "The versions it reads.", setList),
});
export type ServerStorageVersion = TypeOf<typeof ServerStorageVersion>;

export const StorageVersionCondition = message("StorageVersionCondition", "Whether servers agree.", {
  type: required(1, named("StorageVersionConditionType", string), "What the condition is about."),
  status: required(2, named("ConditionStatus", string), "True, False or Unknown."),
  observedGeneration: optional(3, int64, "The generation it was seen at."),
  lastTransitionTime: embedded(4, time, "When the status last changed."),
  reason: required(5, string, "One CamelCase word for the last change."),
  message: optional(6, string, "The last change, for people."),
});
export type StorageVersionCondition = TypeOf<typeof StorageVersionCondition>;

export const StorageVersionStatus = message("StorageVersionStatus", "What the servers report.", {
  storageVersions: optional(1, list(ServerStorageVersion), "By server.", mapList("apiServerID")),
  commonEncodingVersion: pointer(2, string, "The version that all of them store, if they agree."),
  conditions: optional(3, list(StorageVersionCondition), "Whether they agree.", mapList("type")),
});
export type StorageVersionStatus = TypeOf<typeof StorageVersionStatus>;

export const StorageVersionSpec = message("StorageVersionSpec", "Empty.", {});

export const StorageVersion = kind("StorageVersion", "Versions of one resource: `<group>.<resource>`.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, StorageVersionSpec, "Empty.", { published: "required" }),
  status: embedded(3, StorageVersionStatus, "What the servers report.", { published: "required" }),
});
export type StorageVersion = TypeOf<typeof StorageVersion>;
