// What the configuration of each plug-in says.
import type { EventLimit, LimitedResource, PodSecurityExemptions, SecurityPolicy } from "#admission";
import type { Toleration } from "#api";
import { type Dialect, groupName } from "#dialect";
import {
  type Fields,
  boolOf,
  checkKind,
  fieldsOf,
  itemsOf,
  numberOf,
  textOf,
  textsOf,
  wrong,
} from "./config-reader.ts";

const kinds = (dialect: Dialect, group: string, kind: string, ...versions: string[]): string[] =>
  versions.map((version) => `${groupName(dialect, { group, branded: true })}/${version} ${kind}`);

const limitTypes = ["Server", "Namespace", "User", "SourceAndObject"] as const;
const usualCacheSize = 4096;

export const eventLimits =
  (dialect: Dialect) =>
  (config: Fields | undefined): readonly EventLimit[] => {
    if (!config) throw wrong("", "the plug-in needs a configuration");
    checkKind(config, kinds(dialect, "eventratelimit.admission", "Configuration", "v1alpha1"));
    const limits = itemsOf(config["limits"], "limits").map((item, at): EventLimit => {
      const path = `limits[${at}]`;
      const { type, qps, burst, cacheSize } = fieldsOf(item, path);
      const found = limitTypes.find((each) => each === type);
      if (!found) throw wrong(`${path}.type`, `must be one of ${limitTypes.join(", ")}`);
      const positive = (value: unknown, name: string): number => {
        const number = numberOf(value, `${path}.${name}`);
        if (number <= 0) throw wrong(`${path}.${name}`, "must be above 0");
        return number;
      };
      const size = numberOf(cacheSize, `${path}.cacheSize`, usualCacheSize);
      if (size < 0) throw wrong(`${path}.cacheSize`, "must not be below 0");
      return {
        type: found,
        perSecond: positive(qps, "qps"),
        burst: positive(burst, "burst"),
        mostKeys: size || usualCacheSize,
      };
    });
    if (limits.length === 0) throw wrong("limits", "must have at least one limit");
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
  const fields = fieldsOf(config?.["imagePolicy"], "imagePolicy");
  const clientConfigFile = textOf(fields["kubeConfigFile"], "imagePolicy.kubeConfigFile");
  if (clientConfigFile === "") throw wrong("imagePolicy.kubeConfigFile", "must be given");
  const time = (name: string, usual: number, most: number, unit: number): number => {
    const value = numberOf(fields[name], `imagePolicy.${name}`);
    if (value === -1) return 0;
    if (value < 0 || value > most) throw wrong(`imagePolicy.${name}`, `must be between 1 and ${most}`);
    return (value || usual) * unit;
  };
  return {
    clientConfigFile,
    allowMilliseconds: time("allowTTL", 300, 1800, 1000),
    denyMilliseconds: time("denyTTL", 30, 1800, 1000),
    backoffMilliseconds: time("retryBackoff", 500, 300_000, 1),
    defaultAllow: boolOf(fields["defaultAllow"], "imagePolicy.defaultAllow"),
  };
}

/** Node selectors by namespace; the cluster's own is used where a namespace says nothing. */
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
  const usual = all.get(clusterDefault) ?? "";
  all.delete(clusterDefault);
  return { clusterDefault: usual, byNamespace: all };
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
        if (!["", "Equal", "Exists"].includes(textOf(fields["operator"], `${path}.operator`)))
          throw wrong(`${path}.operator`, "must be Equal or Exists");
        if (
          !["", "NoSchedule", "PreferNoSchedule", "NoExecute"].includes(
            textOf(fields["effect"], `${path}.effect`),
          )
        )
          throw wrong(`${path}.effect`, "must be NoSchedule, PreferNoSchedule or NoExecute");
        textOf(fields["key"], `${path}.key`);
        textOf(fields["value"], `${path}.value`);
        return fields;
      });
    return { default: list("default"), allowed: list("whitelist") };
  };

export interface PodSecuritySettings {
  readonly defaults: SecurityPolicy;
  readonly exemptions: PodSecurityExemptions;
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const securityLevels = ["privileged", "baseline", "restricted"] as const;

export const securityDefaults =
  (dialect: Dialect) =>
  (config: Fields | undefined): PodSecuritySettings | undefined => {
    if (!config) return undefined;
    const group = "pod-security.admission.config";
    checkKind(config, kinds(dialect, group, "PodSecurityConfiguration", "v1", "v1beta1", "v1alpha1"));
    const given = fieldsOf(config["defaults"], "defaults");
    const standard = (mode: string): SecurityPolicy["enforce"] => {
      const level = textOf(given[mode], `defaults.${mode}`) || "privileged";
      const found = securityLevels.find((each) => each === level);
      if (!found) throw wrong(`defaults.${mode}`, `must be one of ${securityLevels.join(", ")}`);
      const version = textOf(given[`${mode}-version`], `defaults.${mode}-version`) || "latest";
      const minor = /^v1\.(0|[1-9]\d*)$/.exec(version)?.[1];
      if (version !== "latest" && minor === undefined)
        throw wrong(`defaults.${mode}-version`, 'must be "latest" or "v1.x"');
      return { level: found, version: minor === undefined ? "latest" : Number(minor) };
    };
    const exempt = fieldsOf(config["exemptions"], "exemptions");
    const names = (name: string, fits: (text: string) => boolean, what: string): readonly string[] => {
      const texts = textsOf(exempt[name], name);
      texts.forEach((text, at) => {
        if (texts.indexOf(text) < at) throw wrong(`${name}[${at}]`, `${JSON.stringify(text)} is there twice`);
        if (!fits(text)) throw wrong(`${name}[${at}]`, `${JSON.stringify(text)} is not ${what}`);
      });
      return texts;
    };
    return {
      defaults: { enforce: standard("enforce"), audit: standard("audit"), warn: standard("warn") },
      exemptions: {
        usernames: names("usernames", (text) => text !== "", "a user name"),
        namespaces: names("namespaces", (text) => label.test(text), "the name of a namespace"),
        runtimeClasses: names(
          "runtimeClasses",
          (text) => subdomain.test(text),
          "the name of a runtime class",
        ),
      },
    };
  };

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
      if (resource === "") throw wrong(`${path}.resource`, "must be given");
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

/** The credentials that admission webhooks are asked with; empty where none are given. */
export const webhookCredentials =
  (dialect: Dialect) =>
  (config: Fields | undefined): string => {
    if (!config) return "";
    checkKind(config, [
      ...kinds(dialect, "apiserver.config", "WebhookAdmissionConfiguration", "v1", "v1alpha1"),
      ...kinds(dialect, "apiserver.config", "WebhookAdmission", "v1alpha1"),
    ]);
    const file = textOf(config["kubeConfigFile"], "kubeConfigFile");
    if (file !== "" && !file.startsWith("/")) throw wrong("kubeConfigFile", "must be an absolute path");
    return file;
  };
