// Assigns a service account to every pod, and mounts its token at the well-known path.
import type { Container, Pod, ServiceAccount, Volume } from "#api";
import { podReferences } from "#authz";
import { forbidden } from "#base";
import type { Dialect } from "#dialect";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

export interface ServiceAccountOptions {
  readonly dialect: Dialect;
  readonly find: (namespace: string, name: string) => Promise<ServiceAccount | undefined>;
  /** Waits briefly: the default account is created shortly after its namespace. */
  readonly pause: () => Promise<void>;
  readonly generateName: (prefix: string) => string;
}

const defaultAccount = "default";
const attemptsForDefault = 10;
/** The duration that node agents request, by which the server recognizes these tokens. */
const tokenSeconds = 3607;

export function serviceAccountPlugin(options: ServiceAccountOptions): AdmissionPlugin {
  const { configMirror } = options.dialect.names.annotations;
  const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[configMirror] !== undefined;
  return {
    name: "ServiceAccount",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods"],
    mutate: async (attributes) => {
      if (attributes.operation !== "CREATE" || !isPod(attributes) || attributes.subresource) return;
      const pod = typed<Pod>(attributes.object);
      if (isMirror(pod)) return refuseMirror(attributes, pod);
      const { spec } = pod;
      spec.serviceAccountName ||= defaultAccount;
      spec.serviceAccount = spec.serviceAccountName;
      const account = await accountOf(attributes, spec.serviceAccountName);
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
        mountToken(pod, options);
      if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length)
        spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name }));
      limitSecrets(attributes, pod, account, options.dialect);
    },
    validate: async (attributes) => {
      if (!isPod(attributes)) return [];
      const pod = typed<Pod>(attributes.object);
      const isEphemeral =
        attributes.operation === "UPDATE" && attributes.subresource === "ephemeralcontainers";
      if (!isEphemeral && (attributes.operation !== "CREATE" || attributes.subresource)) return [];
      if (isMirror(pod)) {
        if (!isEphemeral) refuseMirror(attributes, pod);
        return [];
      }
      if (!pod.spec.serviceAccountName)
        throw refused(
          attributes,
          `no service account specified for pod ${attributes.namespace}/${attributes.name}`,
        );
      limitSecrets(
        attributes,
        pod,
        await accountOf(attributes, pod.spec.serviceAccountName),
        options.dialect,
      );
      return [];
    },
  };

  async function accountOf(attributes: AdmissionAttributes, name: string): Promise<ServiceAccount> {
    for (let tries = name === defaultAccount ? attemptsForDefault : 1; tries > 0; tries--) {
      const account = await options.find(attributes.namespace, name);
      if (account) return account;
      if (tries > 1) await options.pause();
    }
    throw refused(
      attributes,
      `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`,
    );
  }
}

const isPod = ({ resource, object }: AdmissionAttributes): boolean =>
  resource.group === "" && resource.resource === "pods" && object !== undefined;
const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);

/** Mirror pods have no service account and no secrets. */
function refuseMirror(attributes: AdmissionAttributes, pod: Pod): void {
  if (pod.spec.serviceAccountName)
    throw refused(attributes, "a mirror pod may not reference service accounts");
  if (podReferences(pod).secrets.size > 0)
    throw refused(attributes, "a mirror pod may not reference secrets");
  const tokens = pod.spec.volumes?.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken),
  );
  if (tokens) throw refused(attributes, "a mirror pod may not use ServiceAccountToken volume projections");
}

function mountToken({ spec }: Pod, { dialect, generateName }: ServiceAccountOptions): void {
  const prefix = dialect.names.objects.tokenVolumePrefix;
  const mountPath = dialect.paths.serviceAccountMount;
  const present = spec.volumes?.find(({ name }) => name.startsWith(prefix))?.name;
  const name = present ?? generateName(prefix);
  let needed = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (container.volumeMounts?.some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
    needed = true;
  }
  if (needed && present === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, dialect)];
}

const tokenVolume = (name: string, { names }: Dialect): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
      { configMap: { name: names.objects.rootCaConfigMap, items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});

/** A reference to a secret, and where it occurs. */
interface SecretUse {
  readonly secret: string;
  readonly by: string;
}

function environmentUses(containers: readonly Container[] | null | undefined, kind: string): SecretUse[] {
  return (containers ?? []).flatMap(({ name, env, envFrom }) => {
    const use = (reference: { name?: string | undefined } | null | undefined, by: string): SecretUse[] =>
      reference ? [{ secret: reference.name ?? "", by: `${kind} ${name} with ${by} referencing` }] : [];
    return [
      ...(env ?? []).flatMap((each) => use(each.valueFrom?.secretKeyRef, `envVar ${each.name}`)),
      ...(envFrom ?? []).flatMap(({ secretRef }) => use(secretRef, "envFrom")),
    ];
  });
}

/** Returns the secrets referenced by volumes and environments. */
const secretUses = ({ spec }: Pod): SecretUse[] => [
  ...(spec.volumes ?? []).flatMap(({ secret }) =>
    secret ? [{ secret: secret.secretName ?? "", by: "volume with" }] : [],
  ),
  ...environmentUses(spec.initContainers, "init container"),
  ...environmentUses(spec.containers, "container"),
];
const ephemeralUses = ({ spec }: Pod): SecretUse[] =>
  environmentUses(spec.ephemeralContainers, "ephemeral container");

/** Enforces the annotation by which an account restricts its pods to the secrets it lists. */
function limitSecrets(
  attributes: AdmissionAttributes,
  pod: Pod,
  account: ServiceAccount,
  { names }: Dialect,
): void {
  const enforced = account.metadata.annotations?.[names.annotations.enforceMountableSecrets];
  if (!enforced || !["1", "t", "T", "true", "TRUE", "True"].includes(enforced)) return;
  const known = new Set((account.secrets ?? []).map(({ name }) => name ?? ""));
  const unlisted = (what: string, kind: string): Error =>
    refused(
      attributes,
      `${what} is not allowed because service account ${account.metadata.name} does not reference that ${kind}`,
    );
  for (const { secret, by } of attributes.subresource ? ephemeralUses(pod) : secretUses(pod))
    if (!known.has(secret)) throw unlisted(`${by} secret.secretName="${secret}"`, "secret");
  if (attributes.subresource) return;
  const pull = new Set((account.imagePullSecrets ?? []).map(({ name }) => name ?? ""));
  for (const [position, { name = "" }] of (pod.spec.imagePullSecrets ?? []).entries())
    if (!pull.has(name)) throw unlisted(`imagePullSecrets[${position}].name="${name}"`, "imagePullSecret");
}
