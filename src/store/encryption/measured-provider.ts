// A provider whose work is told of: how long a value took to be sealed or opened, and how that ended.
import { GrpcError } from "#http";
import type { EncryptionProvider } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";
import { rpcCode } from "./kms.ts";

export type Transformation = "from_storage" | "to_storage";

export interface TransformationObserver {
  /** Who is told of one kind of work of the provider with this id. */
  transformation(kind: Transformation, id: string): TransformationEnds;
}

export interface TransformationEnds {
  succeeded(seconds: number): void;
  /** `code` is that of the key service's answer; `Unknown` for failures that are not its own. */
  failed(code: string): void;
}

export function measuredProvider<P extends EncryptionProvider>(
  provider: P,
  observer: TransformationObserver,
): P {
  const measured = <A extends readonly unknown[]>(
    kind: Transformation,
    run: (...given: A) => Uint8Array | Promise<Uint8Array>,
  ) => {
    const ends = observer.transformation(kind, provider.id);
    const failed = (error: unknown): never => {
      ends.failed(codeOf(error));
      throw error;
    };
    return (...given: A): Uint8Array | Promise<Uint8Array> => {
      const began = performance.now();
      const succeeded = (bytes: Uint8Array): Uint8Array => {
        ends.succeeded((performance.now() - began) / 1000);
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
    seal: measured("to_storage", (value: Uint8Array, name: string, prefix?: Uint8Array) =>
      provider.seal(value, name, prefix),
    ),
    open: measured("from_storage", (sealed: Uint8Array, name: string) => provider.open(sealed, name)),
  };
}

/** Only an answer of the key service itself has a code: what was made of it on the way does not. */
const codeOf = (error: unknown): string =>
  error instanceof KeyServiceFailed && error.cause instanceof GrpcError ? rpcCode(error.cause) : "Unknown";
