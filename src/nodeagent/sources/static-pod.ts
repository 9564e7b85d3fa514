// Parses a manifest into pods and assigns their names and uids.
import { createHash } from "node:crypto";
import { type Container, Pod as PodKind, type Pod, type Toleration } from "#api";
import { fieldErrorText } from "#base";
import type { Dialect } from "#dialect";
import {
  applyDefaults,
  dns1123SubdomainProblems,
  fromJsonValue,
  parseYamlDocuments,
  validate,
} from "#schema";
import { parseImageName } from "../images/image-name.ts";
import { containersOf, everyContainerOf, initContainersOf } from "../pod.ts";
import { staticProblems } from "./static-checks.ts";

export interface ManifestOptions {
  readonly dialect: Dialect;
  readonly nodeName: string;
  /** Origin such as a file path: the same manifest in two places yields two pods. */
  readonly origin: string;
  /** Whether it is a file: only its pods stay on a node that has problems. */
  readonly isFile: boolean;
  /** Called about parts of a manifest that are ignored. */
  readonly onIgnored?: ((message: string) => void) | undefined;
}

/** An invalid manifest; the message says where and why. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
}

/** Parses a manifest: a pod or, from a URL, a list of pods. As in the kubelet, further documents are ignored. */
export function readManifest(text: string, options: ManifestOptions): Pod[] {
  const { origin, isFile, onIgnored } = options;
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(text).map(({ value }) => value);
  } catch (error) {
    throw new ManifestError(`${origin}: ${(error as Error).message}`);
  }
  const [document, ...others] = documents;
  if (others.some((other) => other !== null && other !== undefined))
    onIgnored?.(`${origin}: only the first document is read`);
  const { apiVersion, kind, items } = (document ?? {}) as Partial<Record<string, unknown>>;
  const known = isFile ? ["Pod"] : ["Pod", "PodList"];
  if (!known.includes(String(kind)))
    throw new ManifestError(
      `${origin}: expected ${isFile ? "a Pod" : "a Pod or a PodList"}, found ${kind === undefined ? "no kind" : String(kind)}`,
    );
  if (apiVersion !== "v1")
    throw new ManifestError(
      `${origin}: expected apiVersion "v1", found ${apiVersion === undefined ? "none" : JSON.stringify(apiVersion)}`,
    );
  if (kind === "Pod") return [staticPod(document, options)];
  return (Array.isArray(items) ? (items as object[]) : []).map((item) =>
    staticPod({ apiVersion, kind: "Pod", ...item }, options),
  );
}

function staticPod(
  document: unknown,
  { dialect, nodeName, origin, isFile, onIgnored }: ManifestOptions,
): Pod {
  let pod: Pod;
  try {
    const decoded = fromJsonValue(PodKind, document);
    // Unknown fields do not keep a pod from running, as in the kubelet.
    for (const problem of decoded.strict) onIgnored?.(`${origin}: ${problem}`);
    pod = decoded.value;
  } catch (error) {
    throw new ManifestError(`${origin}: ${(error as Error).message}`);
  }
  const { annotations } = dialect.names;
  const uid =
    pod.metadata.uid ||
    createHash("md5")
      .update(JSON.stringify([nodeName, origin, document]))
      .digest("hex");
  pod.metadata = {
    ...pod.metadata,
    uid,
    name: `${pod.metadata.name ?? ""}-${nodeName.toLowerCase()}`,
    namespace: pod.metadata.namespace || "default",
    annotations: { ...pod.metadata.annotations, [annotations.configHash]: uid },
  };
  pod.spec = {
    ...pod.spec,
    nodeName,
    ...(isFile && { tolerations: withToleration(pod.spec?.tolerations ?? []) }),
  };
  pod.status = { phase: "Pending" };
  completeDefaults(pod);
  const problems = [
    ...new Set([...validate(PodKind, pod).map(fieldErrorText), ...ownProblems(pod), ...staticProblems(pod)]),
  ];
  if (problems.length > 0)
    throw new ManifestError(
      `${origin}: pod ${JSON.stringify(pod.metadata.name)} is invalid: ${problems.join(", ")}`,
    );
  return pod;
}

/** Adds the toleration of all taints that end pods, or puts it in the place of an equal one. */
function withToleration(given: readonly Toleration[]): Toleration[] {
  const everything: Toleration = { operator: "Exists", effect: "NoExecute" };
  const isEqual = ({ key = "", operator, value = "", effect }: Toleration): boolean =>
    key === "" && value === "" && operator === everything.operator && effect === everything.effect;
  const found = given.map((one) => (isEqual(one) ? everything : one));
  return found.includes(everything) ? found : [...found, everything];
}

/** Applies the defaults that depend on other fields; the others are declared in the schema. */
export function completeDefaults(pod: Pod): void {
  for (const container of everyContainerOf(pod)) defaultContainer(container);
  if (pod.spec.hostNetwork) {
    for (const { ports } of [...containersOf(pod), ...initContainersOf(pod)])
      for (const port of ports ?? []) port.hostPort ||= port.containerPort;
  }
  for (const volume of pod.spec.volumes ?? [])
    if (Object.keys(volume).every((field) => field === "name")) volume.emptyDir = {};
  pod.spec.enableServiceLinks ??= true;
  applyDefaults(PodKind, pod);
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= isMoving(container.image ?? "") ? "Always" : "IfNotPresent";
  container.resources ??= {};
  for (const [name, amount] of Object.entries(container.resources.limits ?? {})) {
    container.resources.requests = { ...container.resources.requests };
    container.resources.requests[name] ??= amount;
  }
}

/** Reports whether the image name has a mutable tag. */
function isMoving(image: string): boolean {
  try {
    const { tag, digest } = parseImageName(image);
    return digest === undefined && (tag === undefined || tag === "latest");
  } catch {
    return false;
  }
}

/** Validates what otherwise the API server would have validated. */
function ownProblems(pod: Pod): string[] {
  const problems = dns1123SubdomainProblems(pod.metadata.name ?? "").map(
    (problem) => `metadata.name: ${problem}`,
  );
  if (containersOf(pod).length === 0) problems.push("spec.containers: Required value");
  const names = everyContainerOf(pod).map(({ name }) => name);
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at) problems.push(`container name ${JSON.stringify(name)} is used twice`);
  for (const { name, image } of everyContainerOf(pod))
    if (!image) problems.push(`container ${JSON.stringify(name)} has no image`);
  const hasAccount = Boolean(pod.spec.serviceAccountName || pod.spec.serviceAccount);
  for (const { name, projected } of pod.spec.volumes ?? []) {
    if (!hasAccount && projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken))
      problems.push(
        `volume ${JSON.stringify(name)}: a token needs spec.serviceAccountName, for no server fills it in`,
      );
  }
  return problems;
}
