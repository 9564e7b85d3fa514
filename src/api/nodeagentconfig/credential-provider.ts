// Credential provider plugins for image pulls: their configuration, requests and responses.
import { type TypeOf, duration, list, map, optional, pointer, required, string } from "#schema";
import { credentialProvider, nodeagentConfig } from "../packages.ts";

export const ExecEnvVar = nodeagentConfig.message(
  "ExecEnvVar",
  "An environment variable for a credential provider plugin.",
  {
    name: required(1, string, "Name of the variable."),
    value: required(2, string, "Value of the variable."),
  },
);
export type ExecEnvVar = TypeOf<typeof ExecEnvVar>;

export const CredentialProvider = nodeagentConfig.message(
  "CredentialProvider",
  "Configuration of a credential provider plugin.",
  {
    name: required(1, string, "Name of the plugin's executable in the directory of credential providers."),
    matchImages: optional(
      2,
      list(string),
      "Image patterns; the plugin is invoked if one of them matches the image.",
    ),
    defaultCacheDuration: pointer(
      3,
      duration,
      "How long credentials are cached if the response does not specify it.",
    ),
    apiVersion: required(4, string, "API version of the request; the response must have the same version."),
    args: optional(5, list(string), "Arguments passed to the plugin."),
    env: optional(
      6,
      list(ExecEnvVar),
      "Environment variables of the plugin, in addition to those of the host.",
    ),
  },
);
export type CredentialProvider = TypeOf<typeof CredentialProvider>;

export const CredentialProviderConfig = nodeagentConfig.kind(
  "CredentialProviderConfig",
  "Configuration of credential provider plugins; on overlapping registries, earlier plugins " +
    "take precedence.",
  {
    providers: required(1, list(CredentialProvider), "Credential provider plugins, in order of precedence."),
  },
);
export type CredentialProviderConfig = TypeOf<typeof CredentialProviderConfig>;

export const CredentialProviderRequest = credentialProvider.kind(
  "CredentialProviderRequest",
  "Request sent to a credential provider plugin.",
  {
    image: required(1, string, "Image to be pulled."),
  },
);
export type CredentialProviderRequest = TypeOf<typeof CredentialProviderRequest>;

export const AuthConfig = credentialProvider.message("AuthConfig", "Credentials for a registry.", {
  username: required(1, string, "User name; may be empty."),
  password: required(2, string, "Password; may be empty."),
});
export type AuthConfig = TypeOf<typeof AuthConfig>;

export const CredentialProviderResponse = credentialProvider.kind(
  "CredentialProviderResponse",
  "Response of a credential provider plugin.",
  {
    cacheKeyType: required(1, string, "Scope of the cache entry: Image, Registry or Global.", {
      enum: ["Image", "Registry", "Global"],
    }),
    cacheDuration: pointer(2, duration, "How long the credentials are cached; 0 disables caching."),
    auth: optional(3, map(AuthConfig), "Credentials by image pattern."),
  },
);
export type CredentialProviderResponse = TypeOf<typeof CredentialProviderResponse>;
