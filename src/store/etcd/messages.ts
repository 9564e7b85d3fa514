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

const KeyValue = message("KeyValue", "A key as it was stored.", {
  key: required(1, rawBytes, "The key."),
  createRevision: required(2, int64, "The revision at which the key came to be."),
  modRevision: required(3, int64, "The revision of the last change."),
  version: required(4, int64, "How many times the key was written since it came to be."),
  value: required(5, rawBytes, "The value."),
  lease: required(6, int64, "The lease the key hangs on."),
});
export type KeyValue = TypeOf<typeof KeyValue>;

const Event = message("Event", "One change.", {
  type: required(1, int32, "Put or delete."),
  kv: optional(2, KeyValue, "The key after the change; of a deleted one only key and revision."),
  prevKv: optional(3, KeyValue, "The key before the change."),
});
export type WatchEvent = TypeOf<typeof Event>;

const ResponseHeader = message("ResponseHeader", "Where the store stood when it answered.", {
  revision: required(3, int64, "The revision of the store."),
});

export const RangeRequest = message("RangeRequest", "Reads a range of keys.", {
  key: optional(1, rawBytes, "The first key."),
  rangeEnd: optional(2, rawBytes, "The key behind the last one; a zero byte stands for the end of all keys."),
  limit: optional(3, int64, "At most so many keys."),
  revision: optional(4, int64, "The state at this revision instead of the newest."),
  serializable: optional(7, bool, "Whatever the asked member has, without asking the others."),
  keysOnly: optional(8, bool, "Without values."),
  countOnly: optional(9, bool, "Only how many there are."),
});
export const RangeResponse = message("RangeResponse", "A range of keys.", {
  header: optional(1, ResponseHeader, "Where the store stood."),
  kvs: optional(2, list(KeyValue), "The keys in order."),
  more: required(3, bool, "Whether the limit cut the answer short."),
  count: required(4, int64, "How many keys the whole range has."),
});

const PutRequest = message("PutRequest", "Writes a key.", {
  key: optional(1, rawBytes, "The key."),
  value: optional(2, rawBytes, "The value."),
  lease: optional(3, int64, "The lease the key hangs on."),
});
const PutResponse = message("PutResponse", "A key was written.", {});
const DeleteRangeRequest = message("DeleteRangeRequest", "Deletes keys.", {
  key: optional(1, rawBytes, "The key."),
});
const DeleteRangeResponse = message("DeleteRangeResponse", "Keys were deleted.", {
  deleted: required(2, int64, "How many there were."),
});

const RequestOp = message("RequestOp", "One step of a transaction.", {
  requestRange: pointer(1, RangeRequest, "Read."),
  requestPut: pointer(2, PutRequest, "Write."),
  requestDeleteRange: pointer(3, DeleteRangeRequest, "Delete."),
});
export type RequestOp = TypeOf<typeof RequestOp>;
const ResponseOp = message("ResponseOp", "What one step of a transaction found.", {
  responseRange: pointer(1, RangeResponse, "Of a read."),
  responsePut: pointer(2, PutResponse, "Of a write."),
  responseDeleteRange: pointer(3, DeleteRangeResponse, "Of a deletion."),
});
const Compare = message("Compare", "What must hold for a transaction to succeed.", {
  result: optional(1, int32, "How the two sides must compare."),
  target: optional(2, int32, "Which property of the key is compared."),
  key: optional(3, rawBytes, "The key."),
  version: pointer(4, int64, "With this version."),
  modRevision: pointer(6, int64, "With this revision of the last change; zero for a key that is not there."),
});
export const TxnRequest = message("TxnRequest", "Compares, then does one thing or the other.", {
  compare: optional(1, list(Compare), "All must hold."),
  success: optional(2, list(RequestOp), "Done if they hold."),
  failure: optional(3, list(RequestOp), "Done if one does not."),
});
export type TxnRequest = TypeOf<typeof TxnRequest>;
export const TxnResponse = message("TxnResponse", "How a transaction went.", {
  header: optional(1, ResponseHeader, "Where the store stands after it."),
  succeeded: required(2, bool, "Whether all comparisons held."),
  responses: optional(3, list(ResponseOp), "One for each step."),
});

export const CompactionRequest = message("CompactionRequest", "Forgets history.", {
  revision: optional(1, int64, "Everything before it is forgotten."),
});
export const CompactionResponse = message("CompactionResponse", "History is forgotten.", {});

const WatchCreateRequest = message("WatchCreateRequest", "Starts a watch.", {
  key: optional(1, rawBytes, "The first key."),
  rangeEnd: optional(2, rawBytes, "The key behind the last one."),
  startRevision: optional(3, int64, "The first revision of interest."),
  progressNotify: optional(4, bool, "Whether the server says now and then how far it is."),
  prevKv: optional(6, bool, "Whether changes show what was there before."),
  fragment: optional(8, bool, "Whether long answers may come in pieces."),
});
const WatchProgressRequest = message("WatchProgressRequest", "Asks how far the watches of a stream are.", {});
export const WatchRequest = message("WatchRequest", "What a watching client says.", {
  createRequest: pointer(1, WatchCreateRequest, "Start."),
  progressRequest: pointer(3, WatchProgressRequest, "How far?"),
});
export type WatchRequest = TypeOf<typeof WatchRequest>;
export const WatchResponse = message("WatchResponse", "What a watching client hears.", {
  header: optional(1, ResponseHeader, "Where the store stood."),
  watchId: required(2, int64, "Which watch; -1 when it speaks for all of the stream."),
  created: required(3, bool, "The watch has started."),
  canceled: required(4, bool, "The watch is over."),
  compactRevision: required(5, int64, "The oldest revision kept, when the wanted ones are gone."),
  cancelReason: required(6, string, "Why the watch is over."),
  fragment: required(7, bool, "More of the same answer follows."),
  events: optional(11, list(Event), "Changes in order."),
});
export type WatchResponse = TypeOf<typeof WatchResponse>;

export const LeaseGrantRequest = message("LeaseGrantRequest", "Asks for a lease.", {
  ttl: optional(1, int64, "Its length in seconds."),
});
export const LeaseGrantResponse = message("LeaseGrantResponse", "A lease.", {
  id: required(2, int64, "Its name."),
  ttl: required(3, int64, "Its length in seconds, as the server chose it."),
  error: required(4, string, "Why there is none."),
});

export const StatusRequest = message("StatusRequest", "Asks one member how it is.", {});
export const StatusResponse = message("StatusResponse", "How a member is.", {
  header: optional(1, ResponseHeader, "Where the store stood."),
  version: required(2, string, "The member's version."),
  dbSize: required(3, int64, "Bytes of its file."),
  dbSizeInUse: required(9, int64, "Bytes of its file that are in use."),
  errors: optional(8, list(string), "What is wrong with it."),
});
