// The versions in which the servers of a cluster store and decode each resource.
import { type TypeOf, embedded, int64, list, optional, pointer, required, string, time } from "#schema";
import { mapList, setList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { internalApiserver } from "../packages.ts";

const { message, kind, named } = internalApiserver;

export const ServerStorageVersion = message(
  "ServerStorageVersion",
  "Storage versions that an API server reports for a resource.",
  {
    apiServerID: optional(1, string, "ID of the reporting API server."),
    encodingVersion: optional(2, string, "Version in which the API server encodes objects for storage."),
    decodableVersions: optional(3, list(string), "Versions that the API server can decode.", setList),
  },
);
export type ServerStorageVersion = TypeOf<typeof ServerStorageVersion>;

export const StorageVersionCondition = message(
  "StorageVersionCondition",
  "A condition of a storage version.",
  {
    type: required(1, named("StorageVersionConditionType", string), "Type of the condition."),
    status: required(2, named("ConditionStatus", string), "Status of the condition: True, False or Unknown."),
    observedGeneration: optional(
      3,
      int64,
      "Generation of the object that the condition was determined from.",
    ),
    lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
    reason: required(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
    message: optional(6, string, "Human-readable details of the last transition."),
  },
);
export type StorageVersionCondition = TypeOf<typeof StorageVersionCondition>;

export const StorageVersionStatus = message(
  "StorageVersionStatus",
  "Storage versions reported by the API servers.",
  {
    storageVersions: optional(
      1,
      list(ServerStorageVersion),
      "Storage versions of each API server.",
      mapList("apiServerID"),
    ),
    commonEncodingVersion: pointer(
      2,
      string,
      "Encoding version that all API servers have in common; unset if they differ.",
    ),
    conditions: optional(
      3,
      list(StorageVersionCondition),
      "Latest observed conditions of the storage version.",
      mapList("type"),
    ),
  },
);
export type StorageVersionStatus = TypeOf<typeof StorageVersionStatus>;

export const StorageVersionSpec = message("StorageVersionSpec", "An empty specification.", {});

export const StorageVersion = kind(
  "StorageVersion",
  "Storage version of a resource; its name is `<group>.<resource>`.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, StorageVersionSpec, "An empty specification.", { published: "required" }),
    status: embedded(3, StorageVersionStatus, "Storage versions reported by the API servers.", {
      published: "required",
    }),
  },
);
export type StorageVersion = TypeOf<typeof StorageVersion>;
