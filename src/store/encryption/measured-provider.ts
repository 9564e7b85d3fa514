// A provider that reports the duration and the result of each seal and open.
import { GrpcError } from "#http";
import type { EncryptionProvider } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";
import { rpcCode } from "./kms.ts";

export type Transformation = "from_storage" | "to_storage";

export interface TransformationObserver {
  /** Returns the observer for one kind of transformation of the provider with this id. */
  transformation(kind: Transformation, id: string): TransformationEnds;
}

export interface TransformationEnds {
  succeeded(seconds: number): void;
  /** `code` is that of the key service's response; `Unknown` for other failures. */
  failed(code: string): void;
}

export function measuredProvider<P extends EncryptionProvider>(
  provider: P,
  observer: TransformationObserver,
): P {
  const sealing = observer.transformation("to_storage", provider.id);
  const opening = observer.transformation("from_storage", provider.id);
  const measured = <A extends readonly unknown[]>(
    ends: TransformationEnds,
    run: (...given: A) => Uint8Array | Promise<Uint8Array>,
  ) => {
    const failed = (error: unknown): never => {
      ends.failed(codeOf(error));
      throw error;
    };
    return (...given: A): Uint8Array | Promise<Uint8Array> => {
      const startTime = performance.now();
      const succeeded = (bytes: Uint8Array): Uint8Array => {
        ends.succeeded((performance.now() - startTime) / 1000);
        return bytes;
      };
      let result;
      try {
        result = run(...given);
      } catch (error) {
        return failed(error);
      }
      return result instanceof Promise ? result.then(succeeded, failed) : succeeded(result);
    };
  };
  return {
    ...provider,
    seal: measured(sealing, (value: Uint8Array, name: string, prefix?: Uint8Array) =>
      provider.seal(value, name, prefix),
    ),
    ...(provider.sealAll && { sealAll: measuredTogether(provider.sealAll, sealing) }),
    open: measured(opening, (sealed: Uint8Array, name: string) => provider.open(sealed, name)),
  };
}

/** The values of a batch are sealed in a row: each is observed with an equal share of the time. */
function measuredTogether(
  sealAll: NonNullable<EncryptionProvider["sealAll"]>,
  ends: TransformationEnds,
): NonNullable<EncryptionProvider["sealAll"]> {
  return (values, prefix) => {
    const startTime = performance.now();
    try {
      const sealed = sealAll(values, prefix);
      const seconds = (performance.now() - startTime) / 1000 / values.length;
      for (let count = 0; count < values.length; count++) ends.succeeded(seconds);
      return sealed;
    } catch (error) {
      // The values of a failed batch are sealed again one by one.
      if (values.length === 1) ends.failed(codeOf(error));
      throw error;
    }
  };
}

/** Only a response of the key service itself has a code; errors raised while processing it do not. */
const codeOf = (error: unknown): string =>
  error instanceof KeyServiceFailed && error.cause instanceof GrpcError ? rpcCode(error.cause) : "Unknown";
