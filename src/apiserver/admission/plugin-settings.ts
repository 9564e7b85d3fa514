// Parses the configuration of each admission plug-in.
import type { EventLimit, LimitedResource, PodSecurityExemptions, SecurityPolicy } from "#admission";
import type { Toleration } from "#api";
import {
  type FieldError,
  LiteralValue,
  duplicate,
  durationMillis,
  durationOfMillis,
  fieldErrorText,
  fieldErrorsText,
  invalidValue,
  notSupported,
} from "#base";
import { type Dialect, groupName } from "#dialect";
import { tolerationErrors } from "#registry";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import {
  type Fields,
  InitializationError,
  boolOf,
  checkKind,
  checkKnown,
  fieldsOf,
  itemsOf,
  numberOf,
  textOf,
  textsOf,
  throwErrors,
  configError,
} from "./config-reader.ts";

const kinds = (dialect: Dialect, group: string, kind: string, ...versions: string[]): string[] =>
  versions.map((version) => `${groupName(dialect, { group, branded: true })}/${version} ${kind}`);

const limitTypes = ["Server", "Namespace", "User", "SourceAndObject"] as const;
const defaultCacheSize = 4096;

export const eventLimits =
  (dialect: Dialect) =>
  (config: Fields | undefined): readonly EventLimit[] => {
    if (config) checkKind(config, kinds(dialect, "eventratelimit.admission", "Configuration", "v1alpha1"));
    const errors: FieldError[] = [];
    const limits = itemsOf(config?.["limits"], "limits").map((item, at): EventLimit => {
      const path = `limits[${at}]`;
      const fields = fieldsOf(item, path);
      const type = textOf(fields["type"], `${path}.type`) as EventLimit["type"];
      if (!limitTypes.includes(type)) errors.push(notSupported(`${path}.type`, type, limitTypes));
      const positive = (name: string): number => {
        const number = numberOf(fields[name], `${path}.${name}`);
        if (number <= 0) errors.push(invalidValue(`${path}.${name}`, number, "must be positive"));
        return number;
      };
      const [burst, perSecond] = [positive("burst"), positive("qps")];
      const size = numberOf(fields["cacheSize"], `${path}.cacheSize`, defaultCacheSize);
      if (size < 0 && type !== "Server")
        errors.push(invalidValue(`${path}.cacheSize`, size, "must not be negative"));
      return { type, perSecond, burst, maxKeys: size > 0 ? size : defaultCacheSize };
    });
    if (limits.length === 0)
      errors.push(
        invalidValue("limits", new LiteralValue("[]eventratelimit.Limit(nil)"), "must not be empty"),
      );
    throwErrors(errors);
    return limits;
  };

export interface ImagePolicySettings {
  readonly clientConfigFile: string;
  readonly allowMilliseconds: number;
  readonly denyMilliseconds: number;
  readonly backoffMilliseconds: number;
  readonly defaultAllow: boolean;
}

export function imagePolicy(config: Fields | undefined): ImagePolicySettings {
  if (!config) throw configError("", "no config specified");
  const fields = fieldsOf(config["imagePolicy"], "imagePolicy");
  const time = (name: string, defaultValue: number, minimum: string, maximum: string): number => {
    const unit = minimum === "1s" ? 1000 : 1;
    const value = numberOf(fields[name], `imagePolicy.${name}`);
    if (value === -1) return 0;
    const milliseconds = (value || defaultValue) * unit;
    if (milliseconds < durationMillis(minimum) || milliseconds > durationMillis(maximum))
      throw configError(
        "",
        `valid value is between ${minimum} and ${maximum}, got ${durationOfMillis(milliseconds)}`,
      );
    return milliseconds;
  };
  const backoffMilliseconds = time("retryBackoff", 500, "1ns", "5m0s");
  const allowMilliseconds = time("allowTTL", 300, "1s", "30m0s");
  const denyMilliseconds = time("denyTTL", 30, "1s", "30m0s");
  const clientConfigFile = textOf(fields["kubeConfigFile"], "imagePolicy.kubeConfigFile");
  if (clientConfigFile === "")
    throw configError("", "invalid configuration: no configuration has been provided");
  return {
    clientConfigFile,
    allowMilliseconds,
    denyMilliseconds,
    backoffMilliseconds,
    defaultAllow: boolOf(fields["defaultAllow"], "imagePolicy.defaultAllow"),
  };
}

/** Node selectors by namespace; the cluster default applies to namespaces that are not listed. */
export interface NodeSelectorSettings {
  readonly clusterDefault: string;
  readonly byNamespace: ReadonlyMap<string, string>;
}

const clusterDefault = "clusterDefaultNodeSelector";

export function nodeSelectors(config: Fields | undefined): NodeSelectorSettings {
  const path = "podNodeSelectorPluginConfig";
  const entries = Object.entries(fieldsOf(config?.[path], path)).map(
    ([name, value]) => [name, textOf(value, `${path}.${name}`)] as const,
  );
  const all = new Map(entries);
  const defaultSelector = all.get(clusterDefault) ?? "";
  all.delete(clusterDefault);
  return { clusterDefault: defaultSelector, byNamespace: all };
}

export interface TolerationSettings {
  readonly default: readonly Toleration[];
  readonly allowed: readonly Toleration[];
}

export const tolerations =
  (dialect: Dialect) =>
  (config: Fields | undefined): TolerationSettings => {
    if (!config) return { default: [], allowed: [] };
    checkKind(config, kinds(dialect, "podtolerationrestriction.admission", "Configuration", "v1alpha1"));
    const list = (name: string): readonly Toleration[] =>
      itemsOf(config[name], name).map((item, at) => {
        const path = `${name}[${at}]`;
        const fields = fieldsOf(item, path);
        for (const text of ["key", "operator", "value", "effect"]) textOf(fields[text], `${path}.${text}`);
        return fields;
      });
    const [defaults, allowed] = [list("default"), list("whitelist")];
    const errors = [
      ...tolerationErrors(defaults, "podtolerationrestriction.default"),
      ...tolerationErrors(allowed, "podtolerationrestriction.whitelist"),
    ];
    if (errors.length > 0) throw configError("", `invalid config: [${errors.map(fieldErrorText).join(" ")}]`);
    return { default: defaults, allowed };
  };

export interface PodSecuritySettings {
  readonly defaults: SecurityPolicy;
  readonly exemptions: PodSecurityExemptions;
}

const securityLevels = ["privileged", "baseline", "restricted"] as const;
const modes = ["enforce", "audit", "warn"] as const;

export const securityDefaults =
  (dialect: Dialect) =>
  (config: Fields | undefined): PodSecuritySettings | undefined => {
    if (!config) return undefined;
    const group = "pod-security.admission.config";
    checkKind(config, kinds(dialect, group, "PodSecurityConfiguration", "v1", "v1beta1", "v1alpha1"));
    checkKnown(config, ["apiVersion", "kind", "defaults", "exemptions"]);
    const given = fieldsOf(config["defaults"], "defaults");
    checkKnown(
      given,
      modes.flatMap((mode) => [mode, `${mode}-version`]),
      "defaults.",
    );
    const errors: string[] = [];
    const standard = (mode: string): SecurityPolicy["enforce"] => {
      const level = textOf(given[mode], `defaults.${mode}`) || "privileged";
      const found = securityLevels.find((each) => each === level);
      if (!found) errors.push(`${mode}: must be one of ${securityLevels.join(", ")}`);
      const version = textOf(given[`${mode}-version`], `defaults.${mode}-version`) || "latest";
      const minor = /^v1\.(0|[1-9]\d*)$/.exec(version)?.[1];
      if (version !== "latest" && minor === undefined)
        errors.push(`${mode}-version: must be "latest" or "v1.x"`);
      return { level: found ?? "privileged", version: minor === undefined ? "latest" : Number(minor) };
    };
    const defaults = { enforce: standard("enforce"), audit: standard("audit"), warn: standard("warn") };
    const shown = errors.length > 1 ? `[${errors.join(", ")}]` : errors[0];
    if (shown !== undefined) throw new InitializationError(`PodSecurity configuration error: ${shown}`);
    return { defaults, exemptions: exemptionsOf(fieldsOf(config["exemptions"], "exemptions")) };
  };

function exemptionsOf(exempt: Fields): PodSecurityExemptions {
  checkKnown(exempt, ["namespaces", "runtimeClasses", "usernames"], "exemptions.");
  const errors: FieldError[] = [];
  const names = (name: string, problems: (text: string) => readonly string[]): readonly string[] => {
    const texts = textsOf(exempt[name], name);
    texts.forEach((text, at) => {
      const path = `exemptions.${name}[${at}]`;
      const found = problems(text);
      if (found.length > 0) errors.push(invalidValue(path, text, found.join(", ")));
      else if (texts.indexOf(text) < at) errors.push(duplicate(path, text));
    });
    return texts;
  };
  const namespaces = names("namespaces", dns1123LabelProblems);
  const runtimeClasses = names("runtimeClasses", dns1123SubdomainProblems);
  const usernames = names("usernames", (text) => (text === "" ? ["username must not be empty"] : []));
  if (errors.length > 0) throw new InitializationError(`PodSecurity invalid: ${fieldErrorsText(errors)}`);
  return { usernames, namespaces, runtimeClasses };
}

export const limitedResources =
  (dialect: Dialect) =>
  (config: Fields | undefined): readonly LimitedResource[] => {
    if (!config) return [];
    checkKind(config, [
      ...kinds(dialect, "apiserver.config", "ResourceQuotaConfiguration", "v1", "v1beta1", "v1alpha1"),
      ...kinds(dialect, "resourcequota.admission", "Configuration", "v1beta1", "v1alpha1"),
    ]);
    return itemsOf(config["limitedResources"], "limitedResources").map((item, at): LimitedResource => {
      const path = `limitedResources[${at}]`;
      const fields = fieldsOf(item, path);
      const resource = textOf(fields["resource"], `${path}.resource`);
      if (resource === "") throw configError(`${path}.resource`, "Required value");
      return {
        group: textOf(fields["apiGroup"], `${path}.apiGroup`),
        resource,
        matchContains: textsOf(fields["matchContains"], `${path}.matchContains`),
        matchScopes: itemsOf(fields["matchScopes"], `${path}.matchScopes`).map((scope, index) => {
          const where = `${path}.matchScopes[${index}]`;
          const given = fieldsOf(scope, where);
          return {
            scopeName: textOf(given["scopeName"], `${where}.scopeName`),
            operator: textOf(given["operator"], `${where}.operator`),
            values: [...textsOf(given["values"], `${where}.values`)],
          };
        }),
      };
    });
  };

/** Returns the path of the client config used to call admission webhooks; empty if none is configured. */
export const webhookCredentials =
  (dialect: Dialect) =>
  (config: Fields | undefined): string => {
    if (!config) return "";
    checkKind(config, [
      ...kinds(dialect, "apiserver.config", "WebhookAdmissionConfiguration", "v1", "v1alpha1"),
      ...kinds(dialect, "apiserver.config", "WebhookAdmission", "v1alpha1"),
    ]);
    const file = textOf(config["kubeConfigFile"], "kubeConfigFile");
    if (!file.startsWith("/"))
      throwErrors([invalidValue("kubeConfigFile", file, "must be an absolute file path")]);
    return file;
  };
