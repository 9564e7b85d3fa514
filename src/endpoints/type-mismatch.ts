// Errors for a body of another kind or version than its path, as clients of kube-apiserver know them.
import * as api from "#api";
import { type ApiError, badRequest, own } from "#base";
import { type Dialect, apiVersionOf } from "#dialect";
import type { KindName } from "#schema";

export interface Type {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Source locations of the schemes in which kinds are registered, by the group of the path: in a library, or
 * in the server's own.
 */
const libraries: Readonly<Record<string, (dialect: Dialect) => string>> = {
  apiextensions: () => "apiextensions-apiserver/pkg/apiserver/apiserver.go:56",
  apiregistration: ({ wire }) => `${wire.aggregatorPackage}/pkg/apiserver/scheme/scheme.go:28`,
  meta: () => "apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27",
};

const schemeOf = (group: string, dialect: Dialect): string => {
  const library = own(libraries, group);
  return library ? `${dialect.wire.groupSuffix}/${library(dialect)}` : "pkg/api/legacyscheme/scheme.go:30";
};

/** Kinds of versions that are no longer served, but still known. */
const formerVersions: Readonly<Record<string, readonly string[]>> = {
  "extensions/v1beta1": ["DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet"],
  "apps/v1beta1": ["ControllerRevision", "Deployment", "StatefulSet"],
  "apps/v1beta2": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
  "autoscaling/v2beta1": ["HorizontalPodAutoscaler"],
  "autoscaling/v2beta2": ["HorizontalPodAutoscaler"],
  "batch/v1beta1": ["CronJob"],
  "policy/v1beta1": ["Eviction", "PodDisruptionBudget"],
};
/** Groups in which every kind has a known v1beta1 version. */
const formerBetas = new Set(
  "admissionregistration apiextensions apiregistration authentication authorization certificates coordination discovery events networking node rbac scheduling storage".split(
    " ",
  ),
);

const knownKinds = new WeakMap<Dialect, Set<string>>();

function kindsOf(dialect: Dialect): Set<string> {
  let known = knownKinds.get(dialect);
  if (!known) {
    const names = (Object.values(api) as readonly unknown[]).map(
      (value) => (value as { readonly kind?: KindName } | undefined)?.kind,
    );
    known = new Set(
      names
        .filter((name) => typeof name === "object")
        .map((name) => `${apiVersionOf(dialect, name)} ${name.kind}`),
    );
    knownKinds.set(dialect, known);
  }
  return known;
}

const firstLabel = (apiVersion: string): string =>
  apiVersion.includes("/") ? /^[^./]*/.exec(apiVersion)![0] : "core";
const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf("/") + 1);

function isKnown({ apiVersion, kind }: Type, dialect: Dialect): boolean {
  const known = kindsOf(dialect);
  const one = kind.replace(/List$/, "");
  return known.has(`${apiVersion} ${kind}`) || known.has(`${apiVersion} ${one}`) || wasKnown(apiVersion, one);
}

const wasKnown = (apiVersion: string, kind: string): boolean =>
  own(formerVersions, apiVersion)?.includes(kind) ??
  (apiVersion.endsWith("/v1beta1") && formerBetas.has(firstLabel(apiVersion)));

export function typeMismatch(sent: Type, expected: Type, dialect: Dialect): ApiError {
  if (sent.kind === expected.kind && isKnown(sent, dialect))
    return badRequest(
      `the API version in the data (${sent.apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  const unregistered = `no kind "${sent.kind}" is registered for version "${sent.apiVersion}" in scheme`;
  if (expected.apiVersion === "*") return badRequest(`${unregistered} "${schemeOf("meta", dialect)}"`);
  const [from, into] = [versionOf(sent.apiVersion), firstLabel(expected.apiVersion)];
  const why =
    !own(libraries, into) && isKnown(sent, dialect)
      ? `converting (${from}.${sent.kind}) to (${into}.${expected.kind}): unknown conversion`
      : `${unregistered} "${schemeOf(into, dialect)}"`;
  return badRequest(`${sent.kind} in version "${from}" cannot be handled as a ${expected.kind}: ${why}`);
}
