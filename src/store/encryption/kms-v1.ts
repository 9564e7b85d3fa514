// KMS provider, version 1: one data key per value. Stored format: length of the encrypted data key (2 bytes),
// the encrypted data key, the value.
import { randomBytes } from "node:crypto";
import { noPrefix } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";
import { DataKeyCache, checkDataKey, dataKey, dataKeyBytes, openCbc } from "./data-key.ts";
import {
  type DataKeyObserver,
  type KmsOptions,
  type KmsProvider,
  withContext,
  kmsChannel,
  cachedHealth,
} from "./kms.ts";
import { v1Calls } from "./kms-messages.ts";

const protocol = "v1beta1";

export interface KmsV1Options extends KmsOptions {
  /** Number of decrypted data keys to cache; a negative value disables the cache. */
  readonly cacheSize: number;
  readonly observer?: DataKeyObserver | undefined;
}

export function kmsV1(options: KmsV1Options): KmsProvider {
  const { name, clock, observer } = options;
  const { channel, call } = kmsChannel(options);
  const keys = new DataKeyCache<Uint8Array>(options.cacheSize);
  const cacheKey = (id: string, secret: Uint8Array): void => {
    keys.set(id, secret);
    if (options.cacheSize > 0) observer?.filled(keys.size / options.cacheSize);
  };
  let checked: Promise<void> | undefined;
  const checkVersion = (): Promise<void> =>
    (checked ??= call(v1Calls.version, { version: protocol }).then(
      ({ version }) => {
        if (version === protocol) return;
        checked = undefined;
        throw new KeyServiceFailed(
          `KMS provider api version ${version ?? ""} is not supported, only ${protocol} is supported now`,
        );
      },
      (error: Error) => {
        checked = undefined;
        throw new KeyServiceFailed(`failed get version from remote KMS provider: ${error.message}`, {
          cause: error,
        });
      },
    ));
  const encrypt = async (plain: Uint8Array): Promise<Uint8Array> => {
    await checkVersion();
    const { cipher } = await call(v1Calls.encrypt, { version: protocol, plain });
    // kube-apiserver would store such a value, which can never be read again.
    if (!cipher || cipher.length === 0) throw new KeyServiceFailed(`KMS provider ${name} gave no ciphertext`);
    return cipher;
  };
  const decrypt = async (cipher: Uint8Array): Promise<Uint8Array> => {
    await checkVersion();
    return (await call(v1Calls.decrypt, { version: protocol, cipher })).plain ?? Buffer.alloc(0);
  };
  return {
    version: "v1",
    name,
    id: `kms:v1:${name}:`,
    seal: async (value, key, prefix = noPrefix) => {
      observer?.arrived("to_storage");
      const secret = newDataKey(observer);
      const cipher = await encrypt(secret);
      if (cipher.length > 0xffff)
        throw new KeyServiceFailed(
          `cryptobyte: pending child length ${cipher.length} exceeds 2-byte length prefix`,
        );
      cacheKey(Buffer.from(cipher).toString("base64"), secret);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(cipher.length);
      return Buffer.concat([prefix, length, cipher, dataKey(secret).seal(value, key)]);
    },
    open: (sealed, key) => {
      observer?.arrived("from_storage");
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0))
        throw new Error(
          "invalid data encountered by envelope transformer: failed to read uint16 length prefixed data",
        );
      const cipher = bytes.subarray(2, 2 + bytes.readUInt16BE(0));
      const body = bytes.subarray(2 + cipher.length);
      const id = cipher.toString("base64");
      const known = keys.get(id);
      if (known) return opened(known, body, key);
      if (options.cacheSize > 0) observer?.missed();
      return decrypt(cipher).then((secret) => {
        checkDataKey(secret);
        cacheKey(id, secret);
        return opened(secret, body, key);
      });
    },
    health: cachedHealth(async () => {
      const plain = Buffer.from("ping");
      const section = (of: string): string =>
        `failed to perform ${of} section of the healthz check for KMS Provider ${name}, error`;
      const cipher = await withContext(section("encrypt"), () => encrypt(plain));
      const back = await withContext(section("decrypt"), () => decrypt(cipher));
      // kube-apiserver does not check this. Values written with such a service can never be read again.
      if (!plain.equals(back))
        throw new KeyServiceFailed(`${section("decrypt")}: it did not give back what it encrypted`);
    }, clock),
    close: () => channel.close(),
  };
}

function newDataKey(observer: DataKeyObserver | undefined): Uint8Array {
  const startTime = performance.now();
  let secret: Uint8Array | undefined;
  try {
    return (secret = randomBytes(dataKeyBytes));
  } finally {
    observer?.generated((performance.now() - startTime) / 1000, secret !== undefined);
  }
}

function opened(secret: Uint8Array, body: Uint8Array, key: string): Buffer {
  try {
    return dataKey(secret).open(body, key);
  } catch (error) {
    try {
      return openCbc(secret, body);
    } catch {
      throw error;
    }
  }
}
