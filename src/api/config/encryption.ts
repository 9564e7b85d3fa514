// The file of --encryption-provider-config: the keys with which resources are encrypted.
import { type TypeOf, duration, int32, list, optional, pointer, required, string } from "#schema";
import { accessConfig, formerEncryptionConfig } from "../packages.ts";

function declared(
  name: "EncryptionConfiguration" | "EncryptionConfig",
  { message, kind }: ReturnType<typeof accessConfig>,
) {
  const Key = message("Key", "A key.", {
    name: required(1, string, "Its name, which is written beside each value."),
    secret: required(2, string, "Its bytes in base64."),
  });
  const AESConfiguration = message("AESConfiguration", "Keys of AES.", {
    keys: required(1, list(Key), "The keys; the first one writes."),
  });
  const SecretboxConfiguration = message("SecretboxConfiguration", "Keys of secretbox.", {
    keys: required(1, list(Key), "The keys; the first one writes."),
  });
  const IdentityConfiguration = message("IdentityConfiguration", "Values stay as they are.", {});
  const KMSConfiguration = message("KMSConfiguration", "A key service.", {
    apiVersion: optional(1, string, "v1 or v2; v1 by default."),
    name: required(2, string, "Its name, which is written beside each value."),
    cachesize: pointer(3, int32, "Data keys of version 1 kept decrypted; 1000 by default."),
    endpoint: required(4, string, "Its socket, such as unix:///run/kms.sock."),
    timeout: optional(5, duration, "How long an answer is waited for; 3s by default."),
  });
  const ProviderConfiguration = message("ProviderConfiguration", "One way to encrypt.", {
    aesgcm: optional(1, AESConfiguration, "AES-GCM."),
    aescbc: optional(2, AESConfiguration, "AES-CBC."),
    secretbox: optional(3, SecretboxConfiguration, "XSalsa20 and Poly1305."),
    identity: optional(4, IdentityConfiguration, "No encryption."),
    kms: optional(5, KMSConfiguration, "Envelope encryption with a key service."),
  });
  const ResourceConfiguration = message("ResourceConfiguration", "How some resources are encrypted.", {
    resources: required(1, list(string), "Resources such as secrets, deployments.apps, *.apps, *. or *.*."),
    providers: required(2, list(ProviderConfiguration), "The first one writes, all read."),
  });
  return kind(name, "How values are encrypted in the store.", {
    resources: required(1, list(ResourceConfiguration), "The rules; the first that matches decides."),
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
