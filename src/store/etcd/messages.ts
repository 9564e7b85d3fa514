// The subset of etcd's v3 protocol used here, declared with #schema. Names follow the protocol's JSON form.
import {
  type TypeOf,
  apiPackage,
  bool,
  int32,
  int64,
  list,
  optional,
  pointer,
  rawBytes,
  required,
  string,
} from "#schema";

const { message } = apiPackage({ package: "etcdserverpb" });

export const comparison = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
export const comparisonTarget = { version: 0, created: 1, modified: 2, value: 3, lease: 4 } as const;
export const eventType = { put: 0, delete: 1 } as const;

const KeyValue = message("KeyValue", "A stored key with its value.", {
  key: required(1, rawBytes, "The key."),
  createRevision: required(2, int64, "The revision at which the key was created."),
  modRevision: required(3, int64, "The revision of the last change."),
  version: required(4, int64, "The number of writes of the key since its creation."),
  value: required(5, rawBytes, "The value."),
  lease: required(6, int64, "The lease attached to the key."),
});
export type KeyValue = TypeOf<typeof KeyValue>;

const Event = message("Event", "One change.", {
  type: required(1, int32, "Put or delete."),
  kv: optional(2, KeyValue, "The key after the change; of a deleted key only key and revision are set."),
  prevKv: optional(3, KeyValue, "The key before the change."),
});
export type WatchEvent = TypeOf<typeof Event>;

const ResponseHeader = message("ResponseHeader", "The state of the store when it responded.", {
  revision: required(3, int64, "The revision of the store."),
});

export const RangeRequest = message("RangeRequest", "Reads a range of keys.", {
  key: optional(1, rawBytes, "The first key."),
  rangeEnd: optional(2, rawBytes, "The key after the last one; a zero byte means the end of all keys."),
  limit: optional(3, int64, "Maximum number of keys."),
  revision: optional(4, int64, "The revision to read at instead of the newest."),
  serializable: optional(7, bool, "Whether the member responds from its own state, without a quorum."),
  keysOnly: optional(8, bool, "Whether values are omitted."),
  countOnly: optional(9, bool, "Whether only the number of keys is returned."),
});
export const RangeResponse = message("RangeResponse", "A range of keys.", {
  header: optional(1, ResponseHeader, "The state of the store."),
  kvs: optional(2, list(KeyValue), "The keys in order."),
  more: required(3, bool, "Whether the limit truncated the response."),
  count: required(4, int64, "The number of keys in the whole range."),
});

const PutRequest = message("PutRequest", "Writes a key.", {
  key: optional(1, rawBytes, "The key."),
  value: optional(2, rawBytes, "The value."),
  lease: optional(3, int64, "The lease attached to the key."),
});
const PutResponse = message("PutResponse", "A key was written.", {});
const DeleteRangeRequest = message("DeleteRangeRequest", "Deletes keys.", {
  key: optional(1, rawBytes, "The key."),
});
const DeleteRangeResponse = message("DeleteRangeResponse", "Keys were deleted.", {
  deleted: required(2, int64, "The number of deleted keys."),
});

const RequestOp = message("RequestOp", "One step of a transaction.", {
  requestRange: pointer(1, RangeRequest, "Read."),
  requestPut: pointer(2, PutRequest, "Write."),
  requestDeleteRange: pointer(3, DeleteRangeRequest, "Delete."),
});
export type RequestOp = TypeOf<typeof RequestOp>;
const ResponseOp = message("ResponseOp", "The result of one step of a transaction.", {
  responseRange: pointer(1, RangeResponse, "Of a read."),
  responsePut: pointer(2, PutResponse, "Of a write."),
  responseDeleteRange: pointer(3, DeleteRangeResponse, "Of a deletion."),
});
const Compare = message("Compare", "A condition for a transaction to succeed.", {
  result: optional(1, int32, "The required result of the comparison."),
  target: optional(2, int32, "The property of the key to compare."),
  key: optional(3, rawBytes, "The key."),
  version: pointer(4, int64, "With this version."),
  modRevision: pointer(6, int64, "With this revision of the last change; zero for an absent key."),
});
export const TxnRequest = message("TxnRequest", "Compares, then runs one of two lists of operations.", {
  compare: optional(1, list(Compare), "Conditions that must all hold."),
  success: optional(2, list(RequestOp), "Operations if they hold."),
  failure: optional(3, list(RequestOp), "Operations if one does not hold."),
});
export type TxnRequest = TypeOf<typeof TxnRequest>;
export const TxnResponse = message("TxnResponse", "The result of a transaction.", {
  header: optional(1, ResponseHeader, "The state of the store after it."),
  succeeded: required(2, bool, "Whether all comparisons held."),
  responses: optional(3, list(ResponseOp), "One response per operation."),
});

export const CompactionRequest = message("CompactionRequest", "Compacts history.", {
  revision: optional(1, int64, "History before this revision is dropped."),
});
export const CompactionResponse = message("CompactionResponse", "History was compacted.", {});

const WatchCreateRequest = message("WatchCreateRequest", "Starts a watch.", {
  key: optional(1, rawBytes, "The first key."),
  rangeEnd: optional(2, rawBytes, "The key behind the last one."),
  startRevision: optional(3, int64, "The first revision to watch."),
  progressNotify: optional(4, bool, "Whether the server sends periodic progress notifications."),
  prevKv: optional(6, bool, "Whether changes include the previous key-value pair."),
  fragment: optional(8, bool, "Whether long responses may be fragmented."),
});
const WatchProgressRequest = message(
  "WatchProgressRequest",
  "Requests the progress of the watches of a stream.",
  {},
);
export const WatchRequest = message("WatchRequest", "A request on a watch stream.", {
  createRequest: pointer(1, WatchCreateRequest, "Creates a watch."),
  progressRequest: pointer(3, WatchProgressRequest, "Requests progress."),
});
export type WatchRequest = TypeOf<typeof WatchRequest>;
export const WatchResponse = message("WatchResponse", "A response on a watch stream.", {
  header: optional(1, ResponseHeader, "The state of the store."),
  watchId: required(2, int64, "The id of the watch; -1 for all watches of the stream."),
  created: required(3, bool, "Whether the watch has been created."),
  canceled: required(4, bool, "Whether the watch has been canceled."),
  compactRevision: required(5, int64, "The oldest revision kept, if the requested one has been compacted."),
  cancelReason: required(6, string, "The reason for the cancelation."),
  fragment: required(7, bool, "Whether more fragments of this response follow."),
  events: optional(11, list(Event), "Changes in order."),
});
export type WatchResponse = TypeOf<typeof WatchResponse>;

export const LeaseGrantRequest = message("LeaseGrantRequest", "Requests a lease.", {
  ttl: optional(1, int64, "The TTL in seconds."),
});
export const LeaseGrantResponse = message("LeaseGrantResponse", "A lease.", {
  id: required(2, int64, "The lease id."),
  ttl: required(3, int64, "The TTL in seconds chosen by the server."),
  error: required(4, string, "The reason why no lease was granted."),
});

export const StatusRequest = message("StatusRequest", "Requests the status of one member.", {});
export const StatusResponse = message("StatusResponse", "The status of a member.", {
  header: optional(1, ResponseHeader, "The state of the store."),
  version: required(2, string, "The member's version."),
  dbSize: required(3, int64, "The size of its database file in bytes."),
  dbSizeInUse: required(9, int64, "The bytes of the file that are in use."),
  errors: optional(8, list(string), "Errors of the member."),
});
