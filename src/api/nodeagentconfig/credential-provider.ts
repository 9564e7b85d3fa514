// Credential provider plugins for image pulls: their configuration, requests and responses.
import { type TypeOf, duration, list, map, optional, pointer, required, string } from "#schema";
import { credentialProvider, nodeagentConfig } from "../packages.ts";

export const ExecEnvVar = nodeagentConfig.message("ExecEnvVar", "An environment variable for a program.", {
  name: required(1, string, "Name of the variable."),
  value: required(2, string, "Its value."),
});
export type ExecEnvVar = TypeOf<typeof ExecEnvVar>;

export const CredentialProvider = nodeagentConfig.message(
  "CredentialProvider",
  "One program, and the images it is asked for.",
  {
    name: required(1, string, "Name of the program in the directory of credential providers."),
    matchImages: optional(2, list(string), "Patterns of images; the program is asked when one matches."),
    defaultCacheDuration: pointer(3, duration, "How long credentials are kept when the answer does not say."),
    apiVersion: required(4, string, "Version of the question; the answer has the same."),
    args: optional(5, list(string), "Arguments of the program."),
    env: optional(6, list(ExecEnvVar), "Variables added to the host's environment."),
  },
);
export type CredentialProvider = TypeOf<typeof CredentialProvider>;

export const CredentialProviderConfig = nodeagentConfig.kind(
  "CredentialProviderConfig",
  "The programs that provide image credentials; earlier ones win where keys overlap.",
  {
    providers: required(1, list(CredentialProvider), "The programs, in the order of their weight."),
  },
);
export type CredentialProviderConfig = TypeOf<typeof CredentialProviderConfig>;

export const CredentialProviderRequest = credentialProvider.kind(
  "CredentialProviderRequest",
  "What a program is asked.",
  {
    image: required(1, string, "The image that is to be pulled."),
  },
);
export type CredentialProviderRequest = TypeOf<typeof CredentialProviderRequest>;

export const AuthConfig = credentialProvider.message("AuthConfig", "A user and a password for a registry.", {
  username: required(1, string, "The user; may be empty."),
  password: required(2, string, "The password; may be empty."),
});
export type AuthConfig = TypeOf<typeof AuthConfig>;

export const CredentialProviderResponse = credentialProvider.kind(
  "CredentialProviderResponse",
  "What a program answers.",
  {
    cacheKeyType: required(
      1,
      string,
      "What the answer is kept for: the image, its registry, or all images.",
      { enum: ["Image", "Registry", "Global"] },
    ),
    cacheDuration: pointer(2, duration, "How long the answer is kept; zero is not at all."),
    auth: optional(3, map(AuthConfig), "Credentials by patterns of images."),
  },
);
export type CredentialProviderResponse = TypeOf<typeof CredentialProviderResponse>;
