// Registry credentials from a pod's image pull secrets.
import type { Secret } from "#api";
import type { Dialect } from "#dialect";
import { type DockerConfigForm, parseDockerConfig } from "../credentials/docker-config.ts";
import type { RegistryAuths } from "../credentials/keyring.ts";

/**
 * Returns one set of credentials per secret, by registry location. Throws if a secret is malformed, which fails the
 * pull.
 */
export const secretAuths = (secrets: readonly Secret[], dialect: Dialect): RegistryAuths[] =>
  secrets.flatMap((secret) => {
    const { dockerConfigJson, dockerConfig } = dialect.names.secretTypes;
    const textOf = (key: string): string =>
      Buffer.from(String(secret.data?.[key] ?? ""), "base64").toString();
    const parsed = (key: string, form: DockerConfigForm): RegistryAuths[] => {
      const text = textOf(key);
      return text === "" ? [] : [parseDockerConfig(text, form)];
    };
    if (secret.type === dockerConfigJson) return parsed(".dockerconfigjson", "config.json");
    return secret.type === dockerConfig ? parsed(".dockercfg", ".dockercfg") : [];
  });
