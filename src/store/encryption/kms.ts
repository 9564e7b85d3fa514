// What both versions of the key service share: how it is reached, and how its health is asked for.
import type { Clock } from "#base";
import { type GrpcChannel, type GrpcMethod, grpcChannel } from "#http";
import type { EncryptionProvider } from "../encrypted.ts";

export interface KmsOptions {
  readonly name: string;
  /** `unix:///path`; `unix:///@name` is an abstract socket. */
  readonly endpoint: string;
  readonly timeoutMilliseconds: number;
  readonly clock: Clock;
}

export interface KmsProvider extends EncryptionProvider {
  readonly version: "v1" | "v2";
  readonly name: string;
  /** Throws while the service cannot be used. */
  health(): Promise<void>;
  close(): void;
}

export type KmsCall = <Q, R>(method: GrpcMethod<Q, R>, request: Q) => Promise<R>;

export function kmsChannel({ endpoint, timeoutMilliseconds, clock }: KmsOptions): {
  readonly call: KmsCall;
  readonly channel: GrpcChannel;
} {
  const channel = grpcChannel({ endpoints: [endpoint], clock });
  return {
    channel,
    call: (method, request) =>
      channel.unary(method, request, { deadlineMilliseconds: timeoutMilliseconds, repeatable: true }),
  };
}

const goodMilliseconds = 20_000;
const badMilliseconds = 3_000;

/** Asks at most every 20 s while all is well, every 3 s while it is not; many who ask share one question. */
export function rememberedHealth(ask: () => Promise<void>, clock: Clock): () => Promise<void> {
  let error: Error | undefined;
  let until = -Infinity;
  let asking: Promise<void> | undefined;
  return async () => {
    if (clock.now() >= until)
      await (asking ??= ask()
        .then(
          () => {
            error = undefined;
            until = clock.now() + goodMilliseconds;
          },
          (failure: Error) => {
            error = failure;
            until = clock.now() + badMilliseconds;
          },
        )
        .finally(() => (asking = undefined)));
    if (error) throw error;
  };
}
