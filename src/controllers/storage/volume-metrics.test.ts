import { test } from "node:test";
import { kinds } from "#client";
import { exposes, orUndefined, withTimedController } from "../cluster.fixture.ts";
import { attachDetachController, attachmentName } from "./attach-detach.ts";
import { volumeBinderController } from "./binder.ts";
import { ephemeralVolumeController } from "./ephemeral.ts";

const namespace = "default";
const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };

test("volumes and claims are counted by state, and operations by plugin", () =>
  withTimedController(
    (context) => volumeBinderController(context),
    async (cluster) => {
      const { client } = cluster;
      const volumes = client.of(kinds.persistentVolumes);
      const storage = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
      const csi = { driver: "d.example.com", volumeHandle: "h" };
      const classes = client.of(kinds.storageClasses);
      await classes.create({ metadata: { name: "fast" }, provisioner: "d.example.com" });
      const claim = (name: string, storageClassName?: string) => ({
        metadata: { name, namespace },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
          ...(storageClassName !== undefined && { storageClassName }),
        },
      });
      const claims = client.of(kinds.persistentVolumeClaims);
      await claims.create(claim("wanted", "fast"));
      await claims.create(claim("unbound", ""));
      await claims.create(claim("without-class"));
      await exposes(cluster, 'pv_collector_unbound_pvc_count{namespace="default"} 3');
      await classes.patch("fast", "merge", {
        metadata: { annotations: { [client.dialect.names.annotations.defaultStorageClass]: "true" } },
      });
      await exposes(cluster, "retroactive_storageclass_total 1", "retroactive_storageclass_errors_total 0");
      const { uid } = (await claims.get("wanted", { namespace })).metadata;
      const claimRef = { namespace, name: "wanted", uid };
      await volumes.create({
        metadata: { name: "v" },
        spec: { ...storage, csi, storageClassName: "fast", claimRef },
      });
      await volumes.create({
        metadata: { name: "free" },
        spec: { ...storage, hostPath: { path: "/x" }, storageClassName: "other" },
      });
      const plugin = client.dialect.names.volumes.pluginPrefix;
      await exposes(
        cluster,
        `pv_collector_total_pv_count{plugin_name="${plugin}csi:d.example.com",volume_mode="Filesystem"} 1`,
        `pv_collector_total_pv_count{plugin_name="${plugin}host-path",volume_mode="Filesystem"} 1`,
        'pv_collector_bound_pv_count{storage_class="fast"} 1',
        'pv_collector_unbound_pv_count{storage_class="other"} 1',
        'pv_collector_bound_pvc_count{namespace="default"} 1',
        'pv_collector_unbound_pvc_count{namespace="default"} 2',
        'volume_operation_total_seconds_count{operation_name="provision",plugin_name="d.example.com"} 1',
      );
      await volumes.patch("v", "merge", { spec: { persistentVolumeReclaimPolicy: "Delete" } });
      await claims.patch("wanted", "merge", { metadata: { finalizers: null } }, { namespace });
      await claims.delete("wanted", { namespace });
      await exposes(
        cluster,
        'volume_operation_total_errors{operation_name="delete",plugin_name="N/A"} 1',
        'pv_collector_unbound_pv_count{storage_class="fast"} 1',
      );
    },
  ));

test("volumes to attach, attached and detached by force are counted", () =>
  withTimedController(attachDetachController, async (cluster) => {
    const { client, until } = cluster;
    const { annotations, volumes: volumeNames } = client.dialect.names;
    const nodes = client.of(kinds.nodes);
    const pods = client.of(kinds.pods);
    const csi = { driver: "d.example.com", volumeHandle: "h" };
    await nodes.create({
      metadata: { name: "n", annotations: { [annotations.controllerManagedAttach]: "true" } },
    });
    const storage = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "" };
    const claims = client.of(kinds.persistentVolumeClaims);
    const { metadata } = await claims.create({
      metadata: { name: "c", namespace },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "",
        volumeName: "v",
        resources: { requests: { storage: "1Gi" } },
      },
    });
    const claimRef = { namespace, name: "c", uid: metadata.uid };
    await client.of(kinds.persistentVolumes).create({
      metadata: { name: "v" },
      spec: { ...storage, csi, claimRef },
    });
    await pods.create({
      metadata: { name: "p", namespace },
      spec: {
        nodeName: "n",
        containers: podSpec.containers,
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
      },
    } as never);
    const attachments = client.of(kinds.volumeAttachments);
    const name = attachmentName(csi.volumeHandle, csi.driver, "n");
    await until(async () => await orUndefined(attachments.get(name)));
    await attachments.patch(name, "merge", { status: { attached: true } }, { subresource: "status" });
    const plugin = `${volumeNames.pluginPrefix}csi:d.example.com`;
    await exposes(
      cluster,
      `storage_count_attachable_volumes_in_use{node="n",volume_plugin="${plugin}"} 1`,
      `attachdetach_controller_total_volumes{plugin_name="${plugin}",state="desired_state_of_world"} 1`,
      `attachdetach_controller_total_volumes{plugin_name="${plugin}",state="actual_state_of_world"} 1`,
      "attachdetach_controller_forced_detaches 0",
    );
    const volumesInUse = [`${volumeNames.csiPrefix}${csi.driver}^${csi.volumeHandle}`];
    await nodes.patch("n", "merge", { status: { volumesInUse } }, { subresource: "status" });
    await pods.delete("p", { namespace, graceSeconds: 0 });
    await exposes(cluster, "attachdetach_controller_forced_detaches 1");
  }));

test("claims of ephemeral volumes are counted, and failures to create them", () =>
  withTimedController(ephemeralVolumeController, async (cluster) => {
    const { client } = cluster;
    const template = (size: string) => ({
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } },
    });
    await client.of(kinds.pods).create({
      metadata: { name: "p", namespace },
      spec: {
        containers: podSpec.containers,
        volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: template("1Gi") } }],
      },
    } as never);
    await exposes(
      cluster,
      "ephemeral_volume_controller_create_total 1",
      "ephemeral_volume_controller_create_failures_total 0",
    );
  }));
