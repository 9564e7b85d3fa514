// Labels and annotations that identify the agent's sandboxes and containers, and that hold what a restarted
// agent needs to terminate them.
import type { Container, LifecycleHandler, Pod } from "#api";
import type { Dialect } from "#dialect";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import { containerHash } from "./hash.ts";

export const runtimeLabelNames = ({ data: { runtimeLabelPrefix: prefix } }: Dialect) => ({
  podName: `${prefix}pod.name`,
  podNamespace: `${prefix}pod.namespace`,
  podUid: `${prefix}pod.uid`,
  /** The agent that created it, unless that is the agent with the default root directory. */
  owner: `${prefix}pod.owner`,
  containerName: `${prefix}container.name`,
  hash: `${prefix}container.hash`,
  hashWithoutResources: `${prefix}container.hashWithoutResources`,
  restartCount: `${prefix}container.restartCount`,
  terminationMessagePath: `${prefix}container.terminationMessagePath`,
  terminationMessagePolicy: `${prefix}container.terminationMessagePolicy`,
  preStopHandler: `${prefix}container.preStopHandler`,
  ports: `${prefix}container.ports`,
  deletionGrace: `${prefix}pod.deletionGracePeriod`,
  terminationGrace: `${prefix}pod.terminationGracePeriod`,
});

export const podLabels = (pod: Pod, dialect: Dialect, owner?: string): Record<string, string> => {
  const names = runtimeLabelNames(dialect);
  return {
    ...(owner !== undefined && { [names.owner]: owner }),
    [names.podName]: nameOf(pod),
    [names.podNamespace]: namespaceOf(pod),
    [names.podUid]: uidOf(pod),
  };
};

export const sandboxLabels = (pod: Pod, dialect: Dialect, owner?: string): Record<string, string> => ({
  ...pod.metadata.labels,
  ...podLabels(pod, dialect, owner),
});

export const containerLabels = (
  pod: Pod,
  container: Container,
  dialect: Dialect,
  owner?: string,
): Record<string, string> => ({
  [runtimeLabelNames(dialect).containerName]: container.name,
  ...podLabels(pod, dialect, owner),
});

/** Escapes HTML characters in JSON like Go's encoder, for identical annotations. */
const escaped = (json: string): string =>
  json.replace(/[<>&]/g, (sign) => `\\u00${sign.codePointAt(0)!.toString(16)}`);

export function containerAnnotations(
  pod: Pod,
  container: Container,
  restartCount: number,
  dialect: Dialect,
): Record<string, string> {
  const names = runtimeLabelNames(dialect);
  const { deletionGracePeriodSeconds: deletion } = pod.metadata;
  const { terminationGracePeriodSeconds: termination } = pod.spec;
  const preStop = container.lifecycle?.preStop;
  const ports = (container.ports ?? []).map(({ name, hostPort, containerPort, protocol, hostIP }) => ({
    ...(name && { name }),
    ...(hostPort && { hostPort }),
    containerPort,
    ...(protocol && { protocol }),
    ...(hostIP && { hostIP }),
  }));
  return {
    [names.hash]: containerHash(container),
    [names.restartCount]: String(restartCount),
    [names.terminationMessagePath]: container.terminationMessagePath ?? "",
    [names.terminationMessagePolicy]: container.terminationMessagePolicy ?? "",
    ...(deletion !== undefined && { [names.deletionGrace]: String(deletion) }),
    ...(termination !== undefined && { [names.terminationGrace]: String(termination) }),
    ...(preStop && { [names.preStopHandler]: escaped(JSON.stringify(preStop)) }),
    ...(ports.length > 0 && { [names.ports]: JSON.stringify(ports) }),
  };
}

/** The contents of a container's annotations, for terminating a container whose pod object is lost. */
export interface RuntimeLabels {
  readonly hash: string;
  /** Set if resources may change while the container runs. */
  readonly hashWithoutResources?: string;
  readonly restartCount: number;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: string;
  readonly graceSeconds?: number;
  readonly preStop?: LifecycleHandler;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export function readRuntimeLabels(
  annotations: Readonly<Record<string, string>>,
  dialect: Dialect,
): RuntimeLabels {
  const names = runtimeLabelNames(dialect);
  const grace = annotations[names.deletionGrace] ?? annotations[names.terminationGrace];
  const preStop = parsed(annotations[names.preStopHandler]) as LifecycleHandler | undefined;
  const ports = parsed(annotations[names.ports]) as RuntimeLabels["ports"];
  const reduced = annotations[names.hashWithoutResources];
  return {
    hash: annotations[names.hash] ?? "",
    ...(reduced !== undefined && { hashWithoutResources: reduced }),
    restartCount: Number(annotations[names.restartCount] ?? 0) || 0,
    terminationMessagePath: annotations[names.terminationMessagePath] ?? "",
    terminationMessagePolicy: annotations[names.terminationMessagePolicy] ?? "",
    ...(grace !== undefined && { graceSeconds: Number(grace) || 0 }),
    ...(preStop && { preStop }),
    ...(ports && { ports }),
  };
}

function parsed(text: string | undefined): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
