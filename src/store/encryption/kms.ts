// What both versions of the key service share: how it is reached, and how its health is asked for.
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

/** Told about the data keys of version 1. */
export interface DataKeyObserver {
  /** A new key was made, or could not be. */
  generated(seconds: number, succeeded: boolean): void;
  /** A value was read whose key had to be asked for. */
  missed(): void;
  /** How full the cache of decrypted keys is, from 0 to 1. */
  filled(share: number): void;
  /** A value is to be sealed or opened. */
  arrived(kind: "from_storage" | "to_storage"): void;
}

/** Told about the calls and the keys of version 2. */
export interface KeyServiceObserver {
  called(provider: string, method: string, seconds: number, code: string): void;
  /** A value was sealed or opened with a key of this id. */
  keyUsed(kind: "from_storage" | "to_storage", provider: string, keyId: string): void;
  /** The service said that it uses the key of this id, or one that cannot be. */
  keyTold(provider: string, keyId: string, problem?: "empty" | "too_long"): void;
}

export interface KmsProvider extends EncryptionProvider {
  readonly version: "v1" | "v2";
  readonly name: string;
  /** Throws while the service cannot be used. */
  health(): Promise<void>;
  close(): void;
}

export type KmsCall = <Q, R>(method: GrpcMethod<Q, R>, request: Q) => Promise<R>;

/** Failures of calls are told as the key service's: they are not the store's. */
export function kmsChannel(
  { endpoint, timeoutMilliseconds, clock }: KmsOptions,
  called?: (method: string, seconds: number, code: string) => void,
): { readonly call: KmsCall; readonly channel: GrpcChannel } {
  const channel = grpcChannel({ endpoints: [endpoint], clock });
  return {
    channel,
    call: async (method, request) => {
      const began = performance.now();
      const ended = (code: string): void => called?.(method.path, (performance.now() - began) / 1000, code);
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

/** As Go's library for these calls says it. */
function rpcErrorText(error: Error, endpoint: string): string {
  if (!(error instanceof GrpcError)) return error.message;
  const code = rpcCode(error);
  const detail = code === "DeadlineExceeded" ? expiredText(error.cause, endpoint) : error.detail;
  return `rpc error: code = ${code} desc = ${detail}`;
}

/** Whoever waited for a service that is not there is told why. */
function expiredText(unreached: unknown, endpoint: string): string {
  if (!(unreached instanceof Error)) return "context deadline exceeded";
  const path = endpoint.replace(/^unix:\/\//, "").replace(/^\/@/, "@");
  const why = `dial unix ${path}: connect: ${errnoText(unreached) ?? unreached.message}`;
  return `latest balancer error: connection error: desc = ${JSON.stringify(`transport: Error while dialing: ${why}`)}`;
}

/** `DeadlineExceeded`. */
export function rpcCode({ code: shouted }: GrpcError): string {
  const words = shouted.toLowerCase().split("_");
  const code = words.map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join("");
  return code === "Cancelled" ? "Canceled" : code;
}

/** A failure, with what was being done. */
export async function failing<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new KeyServiceFailed(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

const goodMilliseconds = 20_000;
const badMilliseconds = 3_000;

/**
 * Asks at most every 20 s while all is well, every 3 s while it is not; many who ask share one question. Those who
 * come later are told the failure itself, without what was being done, as with the reference.
 */
export function rememberedHealth(ask: () => Promise<void>, clock: Clock): () => Promise<void> {
  let error: Error | undefined;
  let until = -Infinity;
  let asking: Promise<void> | undefined;
  const askNow = async (): Promise<void> => {
    let failed: Error | undefined;
    asking = ask()
      .then(
        () => {
          error = undefined;
          until = clock.now() + goodMilliseconds;
        },
        (failure: Error) => {
          failed = failure;
          error = failure.cause instanceof KeyServiceFailed ? failure.cause : failure;
          until = clock.now() + badMilliseconds;
        },
      )
      .finally(() => (asking = undefined));
    await asking;
    if (failed) throw failed;
  };
  return async () => {
    if (clock.now() >= until) await (asking ?? askNow());
    if (error) throw error;
  };
}
