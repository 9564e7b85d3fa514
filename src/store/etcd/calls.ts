// The etcd RPCs used by the store, and the classification of their errors.
import { type GrpcMethod, GrpcError, messageTooLong } from "#http";
import { type Message, type TypeOf, protobufCodec } from "#schema";
import { StoreFull } from "../errors.ts";
import * as m from "./messages.ts";

const method = <Q extends Message, R extends Message>(
  name: string,
  request: Q,
  response: R,
): GrpcMethod<TypeOf<Q>, TypeOf<R>> => {
  const [encoder, decoder] = [
    protobufCodec(request, { style: "proto3" }),
    protobufCodec(response, { style: "proto3" }),
  ];
  return {
    path: `/etcdserverpb.${name}`,
    encode: (message) => encoder.encode(message),
    decode: (bytes) => decoder.decode(bytes),
  };
};

export const calls = {
  range: method("KV/Range", m.RangeRequest, m.RangeResponse),
  txn: method("KV/Txn", m.TxnRequest, m.TxnResponse),
  compact: method("KV/Compact", m.CompactionRequest, m.CompactionResponse),
  watch: method("Watch/Watch", m.WatchRequest, m.WatchResponse),
  leaseGrant: method("Lease/LeaseGrant", m.LeaseGrantRequest, m.LeaseGrantResponse),
  status: method("Maintenance/Status", m.StatusRequest, m.StatusResponse),
} as const;

export type EtcdRefusal = "compacted" | "future" | "lease gone" | "full" | "too long";

const refusals: readonly [words: string, refusal: EtcdRefusal][] = [
  ["required revision has been compacted", "compacted"],
  ["required revision is a future revision", "future"],
  ["requested lease not found", "lease gone"],
  ["database space exceeded", "full"],
  // Raised by our own gRPC client.
  [messageTooLong, "too long"],
];

/** Classifies an error from etcd by its message, since the status codes are too coarse. */
export function refusalOf(error: unknown): EtcdRefusal | undefined {
  return error instanceof GrpcError
    ? refusals.find(([words]) => error.detail.includes(words))?.[1]
    : undefined;
}

export interface EtcdUnreachable {
  /** Reports whether the request timed out; otherwise there is no connection. */
  readonly late: boolean;
  /** Whether the request is known to have had no effect. */
  readonly unprocessed: boolean;
}

/** Describes how a remote store was unreachable; returns undefined for errors of any other kind. */
export function unreachableStore(error: unknown): EtcdUnreachable | undefined {
  if (!(error instanceof GrpcError)) return undefined;
  if (error.code !== "UNAVAILABLE" && error.code !== "DEADLINE_EXCEEDED") return undefined;
  return { late: error.code === "DEADLINE_EXCEEDED", unprocessed: error.unprocessed };
}

/** Converts an etcd error to the store's error where one exists. */
export const storeError = (error: unknown, where: string): unknown =>
  refusalOf(error) === "full" ? new StoreFull(where, (error as GrpcError).detail) : error;
