// The file contents of volumes: keys of config maps and secrets, fields of the pod, tokens.
import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, VolumeProjection } from "#api";
import { podField, resourceField } from "../plan/downward.ts";
import { containersOf, initContainersOf, namespaceOf } from "../pod.ts";
import type { ReferencedObjects } from "../interfaces.ts";
import type { FileContent, Payload } from "./atomic-writer.ts";

export interface PayloadSources {
  readonly objects: ReferencedObjects;
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** Requests a token of the pod's service account. */
  readonly token: (pod: Pod, audience: string, expirationSeconds: number) => Promise<string>;
}

interface Keys {
  readonly items?: readonly KeyToPath[] | null | undefined;
  readonly optional?: boolean | null | undefined;
}

const defaultMode = 0o644;
const tokenSeconds = 3600;

export async function configMapPayload(
  sources: PayloadSources,
  namespace: string,
  name: string,
  keys: Keys,
  mode: number,
): Promise<Payload> {
  const map = await sources.objects.configMap(namespace, name);
  if (!map && !keys.optional) throw new Error(`configmap ${JSON.stringify(name)} not found`);
  return chosen(
    map ? configMapFiles(map) : new Map(),
    keys,
    mode,
    (key) => `configmap references non-existent config key: ${key}`,
  );
}

export async function secretPayload(
  sources: PayloadSources,
  namespace: string,
  name: string,
  keys: Keys,
  mode: number,
): Promise<Payload> {
  const secret = await sources.objects.secret(namespace, name);
  if (!secret && !keys.optional) throw new Error(`secret ${JSON.stringify(name)} not found`);
  return chosen(
    secret ? secretFiles(secret) : new Map(),
    keys,
    mode,
    (key) => `references non-existent secret key: ${key}`,
  );
}

function configMapFiles({ data, binaryData }: ConfigMap): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(data ?? {})) files.set(key, Buffer.from(text));
  for (const [key, bytes] of Object.entries(binaryData ?? {})) files.set(key, bytesOf(bytes));
  return files;
}

const secretFiles = ({ data }: Secret): Map<string, Uint8Array> =>
  new Map(Object.entries(data ?? {}).map(([key, bytes]) => [key, bytesOf(bytes)]));

/** Objects received as JSON hold base64 text. */
const bytesOf = (value: Uint8Array | string): Uint8Array =>
  typeof value === "string" ? Buffer.from(value, "base64") : value;

function chosen(
  files: ReadonlyMap<string, Uint8Array>,
  { items, optional }: Keys,
  mode: number,
  missing: (key: string) => string,
): Payload {
  const payload = new Map<string, FileContent>();
  if (!items || items.length === 0) {
    for (const [key, bytes] of files) payload.set(key, { bytes, mode });
    return payload;
  }
  for (const { key, path, mode: own } of items) {
    const bytes = files.get(key);
    if (bytes) payload.set(normal(path), { bytes, mode: own ?? mode });
    else if (!optional) throw new Error(missing(key));
  }
  return payload;
}

const normal = (path: string): string => path.replaceAll(/\/+/g, "/").replace(/^\.\//, "");

export function downwardPayload(
  sources: PayloadSources,
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  mode: number,
): Payload {
  const payload = new Map<string, FileContent>();
  for (const { path, fieldRef, resourceFieldRef, mode: own } of items) {
    const text = fieldRef
      ? podField(pod, fieldRef.fieldPath, { hostIps: [], podIps: [] })
      : resourceFieldRef
        ? resourceField(pod, resourceFieldRef, undefined, sources.allocatable())
        : undefined;
    if (text !== undefined) payload.set(normal(path), { bytes: Buffer.from(text), mode: own ?? mode });
  }
  return payload;
}

/** Builds the files of a projected volume; later sources override earlier ones for the same path. */
export async function projectedPayload(
  sources: PayloadSources,
  pod: Pod,
  parts: readonly VolumeProjection[],
  mode: number | undefined,
): Promise<Payload> {
  const payload = new Map<string, FileContent>();
  const namespace = namespaceOf(pod);
  const all = mode ?? defaultMode;
  const user = soleUser(pod);
  const group = pod.spec.securityContext?.fsGroup;
  const put = (files: Payload): void => {
    for (const [path, content] of files) payload.set(path, content);
  };
  const errors = new Set<string>();
  for (const part of parts) {
    try {
      await add(part);
    } catch (error) {
      errors.add((error as Error).message);
    }
  }
  if (errors.size > 0) throw new Error(together([...errors]));
  return payload;

  async function add({
    configMap,
    secret,
    downwardAPI,
    serviceAccountToken,
  }: VolumeProjection): Promise<void> {
    if (configMap) put(await configMapPayload(sources, namespace, configMap.name ?? "", configMap, all));
    if (secret) put(await secretPayload(sources, namespace, secret.name ?? "", secret, all));
    if (downwardAPI) put(downwardPayload(sources, pod, downwardAPI.items ?? [], all));
    if (serviceAccountToken) {
      const { path, audience, expirationSeconds } = serviceAccountToken;
      const token = await sources.token(pod, audience ?? "", Number(expirationSeconds ?? tokenSeconds));
      // If the reader's user or group is known, access is restricted to it.
      const isPrivate = user !== undefined || (group !== undefined && group !== null);
      put(
        new Map([
          [
            normal(path),
            { bytes: Buffer.from(token), mode: isPrivate ? 0o600 : all, ...(user !== undefined && { user }) },
          ],
        ]),
      );
    }
  }
}

/** Joins all errors, in brackets if there are several. */
const together = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : `[${errors.join(", ")}]`;

/**
 * Returns the single user that all containers run as, if there is one. Ephemeral containers do not count, which may
 * be added to a running pod at any time.
 */
export function soleUser(pod: Pod): number | undefined {
  const ofPod = pod.spec.securityContext?.runAsUser;
  const users = new Set(
    [...initContainersOf(pod), ...containersOf(pod)].map(
      ({ securityContext }) => securityContext?.runAsUser ?? ofPod,
    ),
  );
  const [only] = users;
  return users.size === 1 && only !== undefined && only !== null ? Number(only) : undefined;
}
