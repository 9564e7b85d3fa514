// The authorization modes: those of --authorization-mode, or of the configuration file that replaces it.
import { readFileSync } from "node:fs";
import { type ConfiguredAuthorizer, parseAuthorizationConfig } from "#authz";
import type { Dialect } from "#dialect";
import { authorizationModes } from "../options/authorization.ts";
import type { ApiserverSettings } from "../options/settings.ts";

type ModeSettings = Pick<
  ApiserverSettings,
  "authorizationMode" | "authorizationConfig" | "authorizationPolicyFile"
>;

/** Parses the text of --authorization-config. Throws an error that names the file and what is invalid. */
export function readAuthorizers(
  text: string,
  { authorizationConfig: file, authorizationPolicyFile: policyFile }: ModeSettings,
  dialect: Dialect,
): readonly ConfiguredAuthorizer[] {
  const authorizers = parseAuthorizationConfig(text, file, { dialect, modes: authorizationModes });
  const abac = authorizers.some(({ type }) => type === "ABAC");
  if (abac !== (policyFile !== ""))
    throw new Error(
      abac
        ? `${file}: the authorizer ABAC needs --authorization-policy-file`
        : `${file}: --authorization-policy-file is of use only with the authorizer ABAC`,
    );
  return authorizers;
}

export function modesOf(settings: ModeSettings, dialect: Dialect): readonly string[] {
  const { authorizationConfig: file } = settings;
  return file === ""
    ? settings.authorizationMode
    : readAuthorizers(readFileSync(file, "utf8"), settings, dialect).map(({ type }) => type);
}
