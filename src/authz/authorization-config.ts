// Parses, validates and compiles the file of --authorization-config. Errors are worded as in kube-apiserver's
// later releases.
import { statSync } from "node:fs";
import { type WebhookAuthorizerConfig, authorizationConfigs, strictConfigObject } from "#api";
import {
  type FieldError,
  duplicate,
  durationMillis,
  fieldErrorsText,
  invalidValue,
  notSupported,
  required,
} from "#base";
import type { Dialect } from "#dialect";
import { dns1123SubdomainProblems } from "#schema";
import { type MatchConditions, matchConditions } from "./match-conditions.ts";

export type FailurePolicy = "NoOpinion" | "Deny";

export interface WebhookSettings {
  readonly timeoutMilliseconds: number;
  /** 0 disables caching. */
  readonly authorizedMilliseconds: number;
  readonly unauthorizedMilliseconds: number;
  readonly version: "v1" | "v1beta1";
  readonly failurePolicy: FailurePolicy;
  readonly clientConfigFile: string;
  readonly matches: MatchConditions | undefined;
}

/** An authorizer in the file, in the order of evaluation. */
export interface ConfiguredAuthorizer {
  readonly type: string;
  readonly name: string;
  readonly webhook?: WebhookSettings;
}

export interface AuthorizationConfigContext {
  readonly dialect: Dialect;
  /** The supported modes. */
  readonly modes: readonly string[];
}

const webhookType = "Webhook";

/** Parses and validates the file. Throws an error naming the file and every invalid field. */
export function parseAuthorizationConfig(
  text: string,
  file: string,
  { dialect, modes }: AuthorizationConfigContext,
): readonly ConfiguredAuthorizer[] {
  const { authorizers: given } = strictConfigObject(text, file, authorizationConfigs(), dialect);
  const authorizers = given ?? [];
  const errors: FieldError[] = [];
  const types = new Set<string>();
  const names = new Set<string>();
  if (authorizers.length === 0)
    errors.push(required("authorizers", "at least one authorization mode must be defined"));
  const configured = authorizers.flatMap(({ type, name, webhook }, at): ConfiguredAuthorizer[] => {
    const path = `authorizers[${at}]`;
    if (type === "") errors.push(required(`${path}.type`));
    else if (!modes.includes(type)) errors.push(notSupported(`${path}.type`, type, modes.toSorted()));
    else if (types.has(type) && type !== webhookType) errors.push(duplicate(`${path}.type`, type));
    else {
      types.add(type);
      errors.push(...nameErrors(name, names, `${path}.name`));
      names.add(name);
      if (type !== webhookType) {
        if (webhook)
          errors.push(invalidValue(`${path}.webhook`, "non-null", "may only be specified when type=Webhook"));
        return [{ type, name }];
      }
      if (webhook) return [{ type, name, webhook: webhookOf(webhook, path, { dialect, errors }) }];
      errors.push(required(`${path}.webhook`, "required when type=Webhook"));
    }
    return [];
  });
  if (errors.length > 0) throw new Error(`${file}: ${fieldErrorsText(errors)}`);
  const misnamed = configured.filter(({ type, name }) => type !== webhookType && name !== type.toLowerCase());
  if (misnamed.length > 0) {
    const texts = misnamed.map(
      ({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`,
    );
    throw new Error(`${file}: ${texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`}`);
  }
  return configured;
}

function nameErrors(name: string, seen: ReadonlySet<string>, path: string): FieldError[] {
  if (name === "") return [required(path)];
  if (seen.has(name)) return [duplicate(path, name)];
  const problems = dns1123SubdomainProblems(name);
  return problems.length === 0
    ? []
    : [invalidValue(path, name, `authorizer name is invalid: ${problems.join(", ")}`)];
}

interface ReadingContext {
  readonly dialect: Dialect;
  /** Collects validation errors. */
  readonly errors: FieldError[];
}

const defaultAuthorizedMilliseconds = 300_000;
const defaultUnauthorizedMilliseconds = 30_000;
const maxTimeoutMilliseconds = 30_000;

function webhookOf(webhook: WebhookAuthorizerConfig, path: string, context: ReadingContext): WebhookSettings {
  const { errors } = context;
  const timeout = millisecondsOf(webhook.timeout, 0);
  if (timeout === 0) errors.push(required(`${path}.timeout`));
  else if (timeout < 0 || timeout > maxTimeoutMilliseconds)
    errors.push(invalidValue(`${path}.timeout`, webhook.timeout, "must be > 0s and <= 30s"));
  const kept = (field: "authorizedTTL" | "unauthorizedTTL", fallback: number): number => {
    const milliseconds = millisecondsOf(webhook[field], fallback);
    if (milliseconds < 0) errors.push(invalidValue(`${path}.${field}`, webhook[field], "must be > 0s"));
    return milliseconds;
  };
  const authorizedMilliseconds = kept("authorizedTTL", defaultAuthorizedMilliseconds);
  const unauthorizedMilliseconds = kept("unauthorizedTTL", defaultUnauthorizedMilliseconds);
  const version = chosen(webhook.subjectAccessReviewVersion, ["v1", "v1beta1"], {
    path: `${path}.subjectAccessReviewVersion`,
    errors,
  });
  const conditions = (webhook.matchConditions ?? []).map(({ expression }) => expression);
  const seenAs = webhook.matchConditionSubjectAccessReviewVersion ?? "";
  const seenPath = `${path}.matchConditionSubjectAccessReviewVersion`;
  if (seenAs !== "") chosen(seenAs, ["v1"], { path: seenPath, errors });
  else if (conditions.length > 0)
    errors.push(required(seenPath, "required if match conditions are specified"));
  const failurePolicy = chosen(webhook.failurePolicy, ["NoOpinion", "Deny"], {
    path: `${path}.failurePolicy`,
    errors,
  });
  const clientConfigFile = connectionFile(webhook, `${path}.connectionInfo`, errors);
  return {
    timeoutMilliseconds: timeout,
    authorizedMilliseconds: webhook.cacheAuthorizedRequests === false ? 0 : authorizedMilliseconds,
    unauthorizedMilliseconds: webhook.cacheUnauthorizedRequests === false ? 0 : unauthorizedMilliseconds,
    version,
    failurePolicy,
    clientConfigFile,
    matches: matchConditions(conditions, `${path}.matchConditions`, context),
  };
}

/** Parses a duration; absent or zero means the default. */
const millisecondsOf = (text: string | undefined, fallback: number): number =>
  durationMillis(text ?? "0s") || fallback;

function chosen<const T extends string>(
  value: string,
  known: readonly T[],
  { path, errors }: { readonly path: string; readonly errors: FieldError[] },
): T {
  if (value === "") errors.push(required(path));
  else if (!known.includes(value as T)) errors.push(notSupported(path, value, known));
  return value as T;
}

const fileType = "KubeConfigFile";

function connectionFile(
  { connectionInfo: { type, kubeConfigFile: file } }: WebhookAuthorizerConfig,
  path: string,
  errors: FieldError[],
): string {
  const at = `${path}.kubeConfigFile`;
  if (type === "InClusterConfig")
    errors.push(invalidValue(`${path}.type`, type, "is for clients inside the cluster; use KubeConfigFile"));
  else if (chosen(type, [fileType], { path: `${path}.type`, errors }) !== fileType) return "";
  else if (!file) errors.push(required(at));
  else if (!file.startsWith("/")) errors.push(invalidValue(at, file, "must be an absolute path"));
  else {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found)
      errors.push(invalidValue(at, file, `error loading file: stat ${file}: no such file or directory`));
    else if (!found.isFile()) errors.push(invalidValue(at, file, "must be a regular file"));
  }
  return file ?? "";
}
