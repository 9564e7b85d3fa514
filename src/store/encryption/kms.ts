// Shared by both KMS versions: the connection to the service and its health check.
import { type Clock, errnoText } from "#base";
import { type GrpcChannel, GrpcError, type GrpcMethod, grpcChannel } from "#http";
import type { EncryptionProvider } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";

export interface KmsOptions {
  readonly name: string;
  /** `unix:///path`; `unix:///@name` is an abstract socket. */
  readonly endpoint: string;
  readonly timeoutMilliseconds: number;
  readonly clock: Clock;
}

/** Observes the data keys of version 1. */
export interface DataKeyObserver {
  /** A new key was generated, or the generation failed. */
  generated(seconds: number, succeeded: boolean): void;
  /** A value was read whose data key was not cached. */
  missed(): void;
  /** The cache's fill ratio, from 0 to 1. */
  filled(share: number): void;
  /** A value is about to be sealed or opened. */
  arrived(kind: "from_storage" | "to_storage"): void;
}

/** Observes the calls and the keys of version 2. */
export interface KeyServiceObserver {
  called(provider: string, method: string, seconds: number, code: string): void;
  /** A value was sealed or opened with the key of this id. */
  keyUsed(kind: "from_storage" | "to_storage", provider: string, keyId: string): void;
  /** The service reported this key id, which may be invalid. */
  keyReported(provider: string, keyId: string, problem?: "empty" | "too_long"): void;
}

export interface KmsProvider extends EncryptionProvider {
  readonly version: "v1" | "v2";
  readonly name: string;
  /** Throws while the service is unavailable. */
  health(): Promise<void>;
  close(): void;
}

export type KmsCall = <Q, R>(method: GrpcMethod<Q, R>, request: Q) => Promise<R>;

/**
 * Opens a channel to the service. Failed calls are reported as KeyServiceFailed, to distinguish them from
 * failures of the store.
 */
export function kmsChannel(
  { endpoint, timeoutMilliseconds, clock }: KmsOptions,
  called?: (method: string, seconds: number, code: string) => void,
): { readonly call: KmsCall; readonly channel: GrpcChannel } {
  const channel = grpcChannel({ endpoints: [endpoint], clock });
  return {
    channel,
    call: async (method, request) => {
      const startTime = performance.now();
      const ended = (code: string): void =>
        called?.(method.path, (performance.now() - startTime) / 1000, code);
      try {
        const options = { deadlineMilliseconds: timeoutMilliseconds, waitForReady: true };
        const answer = await channel.unary(method, request, options);
        ended("OK");
        return answer;
      } catch (error) {
        ended(error instanceof GrpcError ? rpcCode(error) : "Unknown");
        throw new KeyServiceFailed(rpcErrorText(error as Error, endpoint), { cause: error });
      }
    },
  };
}

/** Formats an error like gRPC for Go. */
function rpcErrorText(error: Error, endpoint: string): string {
  if (!(error instanceof GrpcError)) return error.message;
  const code = rpcCode(error);
  const detail = code === "DeadlineExceeded" ? expiredText(error.cause, endpoint) : error.detail;
  return `rpc error: code = ${code} desc = ${detail}`;
}

/** If the deadline expired while connecting, the text includes the connection error. */
function expiredText(unreached: unknown, endpoint: string): string {
  if (!(unreached instanceof Error)) return "context deadline exceeded";
  const path = endpoint.replace(/^unix:\/\//, "").replace(/^\/@/, "@");
  const why = `dial unix ${path}: connect: ${errnoText(unreached) ?? unreached.message}`;
  return `latest balancer error: connection error: desc = ${JSON.stringify(`transport: Error while dialing: ${why}`)}`;
}

/** Returns the name of the code as Go prints it, such as `DeadlineExceeded`. */
export function rpcCode({ code: upperCode }: GrpcError): string {
  const words = upperCode.toLowerCase().split("_");
  const code = words.map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join("");
  return code === "Cancelled" ? "Canceled" : code;
}

/** Prefixes a failure with a description of the operation. */
export async function withContext<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new KeyServiceFailed(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

const healthyMilliseconds = 20_000;
const unhealthyMilliseconds = 3_000;

/**
 * Caches health: at most one request every 20 s while healthy, every 3 s while not; concurrent callers share
 * one request. As in the reference, a cached failure is reported without the prefix that names the operation.
 */
export function cachedHealth(check: () => Promise<void>, clock: Clock): () => Promise<void> {
  let error: Error | undefined;
  let until = -Infinity;
  let pending: Promise<void> | undefined;
  const checkNow = async (): Promise<void> => {
    let failed: Error | undefined;
    pending = check()
      .then(
        () => {
          error = undefined;
          until = clock.monotonic() + healthyMilliseconds;
        },
        (failure: Error) => {
          failed = failure;
          error = failure.cause instanceof KeyServiceFailed ? failure.cause : failure;
          until = clock.monotonic() + unhealthyMilliseconds;
        },
      )
      .finally(() => (pending = undefined));
    await pending;
    if (failed) throw failed;
  };
  return async () => {
    if (clock.monotonic() >= until) await (pending ?? checkNow());
    if (error) throw error;
  };
}
