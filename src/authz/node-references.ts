// The objects that pods and volumes refer to: a node may read what its pods need and nothing else.
import type { Container, PersistentVolume, Pod, Volume } from "#api";

/** Names of secrets, config maps, claims and the service account, all in the pod's namespace. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly account: string;
}

const present = (names: readonly (string | undefined)[]): Set<string> =>
  new Set(names.filter((name): name is string => Boolean(name)));

export function podReferences({ metadata, spec }: Pod): PodReferences {
  const containers: Container[] = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const env = containers.flatMap((each) => (each.env ?? []).flatMap(({ valueFrom }) => valueFrom ?? []));
  const whole = containers.flatMap((each) => each.envFrom ?? []);
  const volumes = spec.volumes ?? [];
  const projected = volumes.flatMap((volume) => volume.projected?.sources ?? []);
  return {
    secrets: present([
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...env.map((each) => each.secretKeyRef?.name),
      ...whole.map((each) => each.secretRef?.name),
      ...projected.map((each) => each.secret?.name),
      ...volumes.flatMap(volumeSecrets),
    ]),
    configMaps: present([
      ...env.map((each) => each.configMapKeyRef?.name),
      ...whole.map((each) => each.configMapRef?.name),
      ...projected.map((each) => each.configMap?.name),
      ...volumes.map((each) => each.configMap?.name),
    ]),
    claims: present(
      volumes.map(
        (each) =>
          each.persistentVolumeClaim?.claimName ??
          (each.ephemeral ? `${metadata.name}-${each.name}` : undefined),
      ),
    ),
    account: spec.serviceAccountName ?? "",
  };
}

const volumeSecrets = ({
  secret,
  azureFile,
  csi,
  cephfs,
  cinder,
  flexVolume,
  rbd,
  scaleIO,
  iscsi,
  storageos,
}: Volume): (string | undefined)[] => [
  secret?.secretName,
  azureFile?.secretName,
  csi?.nodePublishSecretRef?.name,
  ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name),
];

/**
 * Returns the secrets a node needs to mount a volume, as `namespace/name`, without those that only the
 * volume's controller needs.
 */
export function volumeSecretsOf({ spec }: PersistentVolume): ReadonlySet<string> {
  const claimed = spec.claimRef?.namespace ?? "";
  const { azureFile, csi, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = spec;
  const found = [
    ...(azureFile ? [{ namespace: azureFile.secretNamespace ?? undefined, name: azureFile.secretName }] : []),
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].flatMap(
      (source) => source?.secretRef ?? [],
    ),
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef].flatMap(
      (ref) => ref ?? [],
    ),
  ];
  return new Set(found.flatMap(({ namespace, name }) => (name ? [`${namespace || claimed}/${name}`] : [])));
}
