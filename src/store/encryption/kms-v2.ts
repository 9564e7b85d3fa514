// Key service, version 2: one data key per start and key id. Stored: an object of four fields (see
// kms-messages). A new key id is noticed by asking for the status now and then; values under the old one are
// stale from then on.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { noPrefix } from "../encrypted.ts";
import { type DataKey, DataKeyCache, dataKey, dataKeyBytes } from "./data-key.ts";
import { type KmsOptions, type KmsProvider, kmsChannel, rememberedHealth } from "./kms.ts";
import { type EncryptedObject, type KmsAnnotation, encryptedObject, v2Calls } from "./kms-messages.ts";

const protocols = ["v2", "v2beta1"];
const askEveryMilliseconds = 60_000;
const askAgainMilliseconds = 10_000;
/** A data key whose key id was not confirmed for this long does not write any more. */
const confirmedMilliseconds = 3 * 60_000;
const longestId = 1024;
const longestDataKey = 1024;
const longestAnnotations = 32 * 1024;
const keptKeys = 2048;
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
}

export function kmsV2(options: KmsV2Options): KmsProvider {
  const { name, clock, onError } = options;
  const { channel, call } = kmsChannel(options);
  const keys = new DataKeyCache<DataKey>(keptKeys);
  let current: CurrentKey | undefined;
  let closed = false;
  let cancel = (): void => undefined;

  const status = async (): Promise<string> => {
    const { version = "", healthz = "", keyId = "" } = await call(v2Calls.status, {});
    if (!protocols.includes(version))
      throw new Error(`the key service "${name}" speaks version ${JSON.stringify(version)}, not v2`);
    if (healthz !== "ok")
      throw new Error(`the key service "${name}" is not well: ${JSON.stringify(healthz.slice(0, 200))}`);
    checkKeyId(keyId);
    return keyId;
  };
  const checkKeyId = (keyId: string): void => {
    if (keyId === "" || Buffer.byteLength(keyId) > longestId)
      throw new Error(`the key service "${name}" gave a key id of ${Buffer.byteLength(keyId)} bytes`);
  };
  const renew = async (): Promise<void> => {
    const keyId = await status();
    const confirmedUntil = clock.now() + confirmedMilliseconds;
    if (current?.keyId === keyId) {
      current.confirmedUntil = confirmedUntil;
      return;
    }
    const secret = randomBytes(dataKeyBytes);
    const answer = await call(v2Calls.encrypt, { plaintext: secret, uid: randomUUID() });
    const { ciphertext: encrypted = Buffer.alloc(0), keyId: used = "", annotations = [] } = answer;
    checkKeyId(used);
    if (encrypted.length === 0 || encrypted.length > longestDataKey)
      throw new Error(`the key service "${name}" gave a data key of ${encrypted.length} bytes`);
    checkAnnotations(annotations, name);
    const key = dataKey(secret);
    keys.set(idOf({ keyId: used, encryptedDataKey: encrypted, annotations }), key);
    current = { keyId: used, encrypted, annotations, key, confirmedUntil };
  };
  let renewing: Promise<void> | undefined;
  const renewOnce = (): Promise<void> => (renewing ??= renew().finally(() => (renewing = undefined)));
  const follow = async (): Promise<void> => {
    let pause = askEveryMilliseconds;
    try {
      await renewOnce();
    } catch (error) {
      pause = askAgainMilliseconds;
      if (!closed) onError("the key service cannot be used", { name, error: (error as Error).message });
    }
    if (!closed) cancel = clock.after(pause, () => void follow());
  };
  void follow();

  const writing = async (): Promise<CurrentKey> => {
    if (!current || clock.now() >= current.confirmedUntil) await renewOnce();
    return current!;
  };
  return {
    version: "v2",
    name,
    id: `kms:v2:${name}:`,
    seal: async (value, at, prefix = noPrefix) => {
      const { keyId, encrypted, annotations, key } = await writing();
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
      const { encryptedData, keyId, encryptedDataKey, annotations = [] } = stored;
      if (!encryptedData || !keyId || !encryptedDataKey) throw new Error("it is not complete");
      const id = idOf(stored);
      const known = keys.get(id);
      if (known) return known.open(encryptedData, at);
      const request = { ciphertext: encryptedDataKey, uid: randomUUID(), keyId, annotations };
      return call(v2Calls.decrypt, request).then(({ plaintext = Buffer.alloc(0) }) => {
        if (plaintext.length !== dataKeyBytes) throw new Error(`its data key has ${plaintext.length} bytes`);
        const key = dataKey(plaintext);
        keys.set(id, key);
        return key.open(encryptedData, at);
      });
    },
    isStale: (sealed) => current !== undefined && encryptedObject.decode(sealed).keyId !== current.keyId,
    health: rememberedHealth(async () => {
      await renewOnce();
    }, clock),
    close: () => {
      closed = true;
      cancel();
      channel.close();
    },
  };
}

function checkAnnotations(annotations: readonly KmsAnnotation[], name: string): void {
  let bytes = 0;
  for (const { key = "", value } of annotations) {
    if (!domainName.test(key))
      throw new Error(
        `the key service "${name}" gave an annotation ${JSON.stringify(key.slice(0, 100))}; names are domains`,
      );
    bytes += key.length + (value?.length ?? 0);
  }
  if (bytes > longestAnnotations)
    throw new Error(`the key service "${name}" gave ${bytes} bytes of annotations`);
}

/** Whatever goes into decryption names the key. */
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
