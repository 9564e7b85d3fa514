// The file of --encryption-provider-config: the keys with which resources are encrypted.
import { type TypeOf, duration, int32, list, optional, pointer, required, string } from "#schema";
import { accessConfig, formerEncryptionConfig } from "../packages.ts";

function declared(
  name: "EncryptionConfiguration" | "EncryptionConfig",
  { message, kind }: ReturnType<typeof accessConfig>,
) {
  const Key = message("Key", "An encryption key.", {
    name: required(1, string, "Name of the key, which is stored with each value it encrypts."),
    secret: required(2, string, "Secret of the key, encoded as base64."),
  });
  const AESConfiguration = message("AESConfiguration", "Keys of an AES provider.", {
    keys: required(1, list(Key), "Keys; the first one encrypts, all of them decrypt."),
  });
  const SecretboxConfiguration = message("SecretboxConfiguration", "Keys of the secretbox provider.", {
    keys: required(1, list(Key), "Keys; the first one encrypts, all of them decrypt."),
  });
  const IdentityConfiguration = message("IdentityConfiguration", "A provider that does not encrypt.", {});
  const KMSConfiguration = message(
    "KMSConfiguration",
    "Configuration of a KMS plugin for envelope encryption.",
    {
      apiVersion: optional(1, string, "API version of the plugin: v1 (default) or v2."),
      name: required(2, string, "Name of the plugin, which is stored with each value it encrypts."),
      cachesize: pointer(
        3,
        int32,
        "Maximum number of decrypted data keys to cache, for v1 only; defaults to 1000.",
      ),
      endpoint: required(4, string, "Endpoint of the plugin's socket, such as unix:///run/kms.sock."),
      timeout: optional(5, duration, "Timeout of calls to the plugin; defaults to 3s."),
    },
  );
  const ProviderConfiguration = message(
    "ProviderConfiguration",
    "An encryption provider; exactly one member is set.",
    {
      aesgcm: optional(1, AESConfiguration, "Encryption with AES-GCM."),
      aescbc: optional(2, AESConfiguration, "Encryption with AES-CBC."),
      secretbox: optional(3, SecretboxConfiguration, "Encryption with XSalsa20 and Poly1305."),
      identity: optional(4, IdentityConfiguration, "No encryption."),
      kms: optional(5, KMSConfiguration, "Envelope encryption with a KMS plugin."),
    },
  );
  const ResourceConfiguration = message(
    "ResourceConfiguration",
    "Encryption providers for a set of resources.",
    {
      resources: required(1, list(string), "Resources such as secrets, deployments.apps, *.apps, *. or *.*."),
      providers: required(
        2,
        list(ProviderConfiguration),
        "Providers; the first one encrypts, all of them decrypt.",
      ),
    },
  );
  return kind(name, "Configuration of the encryption of objects at rest.", {
    resources: required(
      1,
      list(ResourceConfiguration),
      "Rules; the first one that matches a resource applies.",
    ),
  });
}

const kinds = [
  declared("EncryptionConfiguration", accessConfig("v1")),
  declared("EncryptionConfig", formerEncryptionConfig),
];
/** Returns the kind under each name that files may use. */
export const encryptionConfigs = (): typeof kinds => kinds;
export type EncryptionConfig = TypeOf<(typeof kinds)[number]>;
export type EncryptionRule = NonNullable<EncryptionConfig["resources"]>[number];
export type EncryptionProviderConfig = NonNullable<EncryptionRule["providers"]>[number];
export type KmsConfig = NonNullable<EncryptionProviderConfig["kms"]>;
