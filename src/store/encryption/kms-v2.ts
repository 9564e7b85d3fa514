// KMS provider, version 2: one data key per start and key id. Stored format: an object of four fields (see
// kms-messages). A new key id is detected by polling the status; values under the old one are stale from then
// on.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { noPrefix } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";
import { type DataKey, DataKeyCache, checkDataKey, dataKey, dataKeyBytes } from "./data-key.ts";
import {
  type KeyServiceObserver,
  type KmsOptions,
  type KmsProvider,
  withContext,
  kmsChannel,
  cachedHealth,
} from "./kms.ts";
import {
  type EncryptedObject,
  type KmsAnnotation,
  type KmsEncryptResponse,
  encryptedObject,
  v2Calls,
} from "./kms-messages.ts";

/** The first is that of release 1.27. */
const protocols = ["v2beta1", "v2"];
const pollMilliseconds = 60_000;
const retryMilliseconds = 10_000;
/** A data key whose key id was not confirmed for this long is not used for writes any more. */
const confirmedMilliseconds = 3 * 60_000;
const maxKeyIdBytes = 1024;
/** Maximum number of characters of a service's own status that are reported. */
const maxStatusCharacters = 1024;
const maxDataKeyBytes = 1024;
const maxAnnotationBytes = 32 * 1024;
const cachedKeys = 2048;
const domainName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

interface CurrentKey {
  readonly keyId: string;
  readonly encrypted: Uint8Array;
  readonly annotations: readonly KmsAnnotation[];
  readonly key: DataKey;
  confirmedUntil: number;
}

export interface KmsV2Options extends KmsOptions {
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
  readonly observer?: KeyServiceObserver | undefined;
}

export function kmsV2(options: KmsV2Options): KmsProvider {
  const { name, clock, onError, observer } = options;
  const { channel, call } = kmsChannel(options, (method, seconds, code) =>
    observer?.called(name, method, seconds, code),
  );
  const keys = new DataKeyCache<DataKey>(cachedKeys);
  let current: CurrentKey | undefined;
  let closed = false;
  let cancel = (): void => undefined;

  /**
   * Refreshes the key from the service's status. Keys of an unhealthy service are used nevertheless: its
   * problems are only reported by the health check.
   */
  const checkStatus = async (): Promise<void> => {
    const {
      version = "",
      healthz = "",
      keyId = "",
    } = await withContext(
      `failed to perform status section of the healthz check for KMS Provider ${name}, error`,
      () => call(v2Calls.status, {}),
    );
    const problems: string[] = [];
    if (healthz !== "ok")
      problems.push(`got unexpected healthz status: ${healthz.slice(0, maxStatusCharacters)}`);
    if (!protocols.includes(version))
      problems.push(
        `expected KMSv2 API version ${protocols[0]}, got ${version.slice(0, maxStatusCharacters)}`,
      );
    const keyIdError = keyIdProblem(keyId);
    if (keyIdError === undefined) observer?.keyReported(name, keyId);
    else observer?.keyReported(name, keyId, keyId === "" ? "empty" : "too_long");
    if (keyIdError === undefined) problems.push(...(await rotate(keyId)));
    else problems.push(`got invalid KMSv2 KeyID ${JSON.stringify(keyId)}: ${keyIdError}`);
    if (problems.length === 0) return;
    const text = problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`;
    throw new KeyServiceFailed(`kmsv2 Provider ${name} is not healthy, error: ${text}`);
  };
  /** Generates a new data key if the service's key id has changed. Returns the problems that prevented it. */
  const rotate = async (keyId: string): Promise<readonly string[]> => {
    const confirmedUntil = clock.monotonic() + confirmedMilliseconds;
    if (current?.keyId === keyId) {
      current.confirmedUntil = confirmedUntil;
      return [];
    }
    const uid = randomUUID();
    const secret = randomBytes(dataKeyBytes);
    let used = "";
    let failure = "<nil>";
    try {
      const answer = await withContext("failed to encrypt DEK, error", () =>
        call(v2Calls.encrypt, { plaintext: secret, uid }),
      );
      const { ciphertext: encrypted = Buffer.alloc(0), annotations = [] } = answer;
      checkEncrypted(answer);
      used = answer.keyId ?? "";
      if (used === keyId) {
        const key = dataKey(secret);
        keys.set(idOf({ keyId: used, encryptedDataKey: encrypted, annotations }), key);
        current = { keyId: used, encrypted, annotations, key, confirmedUntil };
        return [];
      }
    } catch (error) {
      failure = (error as Error).message;
    }
    const state = current ? "<nil>" : "got unexpected nil transformer";
    const until = current ? secondText(current.confirmedUntil) : "0001-01-01T00:00:00Z";
    return [
      `failed to rotate DEK uid="${uid}", errState=${state}, errGen=${failure}, statusKeyID=${JSON.stringify(keyId)}, ` +
        `encryptKeyID=${JSON.stringify(used)}, stateKeyID=${JSON.stringify(current?.keyId ?? "")}, expirationTimestamp=${until}`,
    ];
  };
  const health = cachedHealth(checkStatus, clock);
  const poll = async (): Promise<void> => {
    let pause = pollMilliseconds;
    try {
      await health();
    } catch (error) {
      pause = retryMilliseconds;
      if (!closed) onError("the key service cannot be used", { name, error: (error as Error).message });
    }
    if (!closed) cancel = clock.after(pause, () => void poll());
  };
  const started = poll();

  /** Returns the current key. Calls before the first response of the service wait for it. */
  const currentKey = async (): Promise<CurrentKey> => {
    if (!current) await started;
    if (!current) throw new KeyServiceFailed("got unexpected nil transformer");
    return current;
  };
  const writeKey = async (): Promise<CurrentKey> => {
    const found = await currentKey();
    const overdue = clock.monotonic() - found.confirmedUntil;
    if (overdue > 0) {
      const now = clock.now();
      throw new KeyServiceFailed(
        `EDEK with keyID ${JSON.stringify(found.keyId)} expired at ${secondText(now - overdue)} ` +
          `(current time is ${secondText(now)})`,
      );
    }
    return found;
  };
  const opened = (stored: EncryptedObject, at: string): Buffer | Promise<Buffer> => {
    const { encryptedData, keyId, encryptedDataKey, annotations = [] } = stored;
    if (!encryptedData || !keyId || !encryptedDataKey) throw new Error("it is not complete");
    const id = idOf(stored);
    const known = keys.get(id);
    if (known) {
      observer?.keyUsed("from_storage", name, keyId);
      return known.open(encryptedData, at);
    }
    const request = { ciphertext: encryptedDataKey, uid: randomUUID(), keyId, annotations };
    return withContext("failed to decrypt DEK, error", () => call(v2Calls.decrypt, request)).then(
      ({ plaintext = Buffer.alloc(0) }) => {
        checkDataKey(plaintext);
        const key = dataKey(plaintext);
        keys.set(id, key);
        observer?.keyUsed("from_storage", name, keyId);
        return key.open(encryptedData, at);
      },
    );
  };
  return {
    version: "v2",
    name,
    id: `kms:v2:${name}:`,
    seal: async (value, at, prefix = noPrefix) => {
      const { keyId, encrypted, annotations, key } = await writeKey();
      observer?.keyUsed("to_storage", name, keyId);
      const sealed = encryptedObject.encode({
        encryptedData: key.seal(value, at),
        keyId,
        encryptedDataKey: encrypted,
        ...(annotations.length > 0 && { annotations: [...annotations] }),
      });
      return Buffer.concat([prefix, sealed]);
    },
    open: (sealed, at) => {
      const stored = encryptedObject.decode(sealed);
      return current ? opened(stored, at) : currentKey().then(() => opened(stored, at));
    },
    isStale: (sealed) => current !== undefined && encryptedObject.decode(sealed).keyId !== current.keyId,
    health,
    close: () => {
      closed = true;
      cancel();
      channel.close();
    },
  };
}

const secondText = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/\.\d+/, "");

function keyIdProblem(keyId: string): string | undefined {
  const bytes = Buffer.byteLength(keyId);
  if (bytes === 0) return "keyID is empty";
  return bytes > maxKeyIdBytes
    ? `keyID is ${bytes} bytes, which exceeds the max size of ${maxKeyIdBytes}`
    : undefined;
}

/** Throws if the service's encryption of a data key is invalid. */
function checkEncrypted({ ciphertext, keyId = "", annotations = [] }: KmsEncryptResponse): void {
  const bytes = ciphertext?.length ?? 0;
  if (bytes === 0) throw new Error("failed to validate encrypted DEK: encrypted DEK is empty");
  if (bytes > maxDataKeyBytes)
    throw new Error(
      `failed to validate encrypted DEK: encrypted DEK is ${bytes} bytes, which exceeds the max size of ${maxDataKeyBytes}`,
    );
  const keyIdError = keyIdProblem(keyId);
  if (keyIdError !== undefined) throw new Error(`failed to validate key id: ${keyIdError}`);
  const problems = annotationProblems(annotations);
  if (problems.length === 0) return;
  const text = problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`;
  throw new Error(`failed to validate annotations: ${text}`);
}

function annotationProblems(annotations: readonly KmsAnnotation[]): string[] {
  const problems: string[] = [];
  let bytes = 0;
  for (const { key = "", value } of annotations) {
    if (!domainName.test(key))
      problems.push(
        `annotations: Invalid value: ${JSON.stringify(key.slice(0, maxStatusCharacters))}: should be a domain with at least two segments separated by dots`,
      );
    bytes += key.length + (value?.length ?? 0);
  }
  if (bytes > maxAnnotationBytes)
    problems.push(
      `total size of annotations is ${bytes}, which exceeds the max size of ${maxAnnotationBytes}`,
    );
  return problems;
}

/** Returns a cache id that covers everything the decryption depends on. */
function idOf({
  keyId,
  encryptedDataKey,
  annotations,
}: Pick<EncryptedObject, "keyId" | "encryptedDataKey" | "annotations">): string {
  const hash = createHash("sha256");
  const part = (bytes: string | Uint8Array): void => void hash.update(`${bytes.length}:`).update(bytes);
  part(keyId ?? "");
  part(encryptedDataKey ?? "");
  for (const { key, value } of annotations ?? []) {
    part(key ?? "");
    part(value ?? "");
  }
  return hash.digest("base64");
}
