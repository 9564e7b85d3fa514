// Pods: containers that share a node, an address and volumes.
import { Pod, type PodSpec } from "#api";
import { type FieldError, forbiddenField } from "#base";
import { dns1123LabelProblems } from "#schema";
import { dnsSubdomain } from "../names.ts";
import { validateFinalizersQualified, validateMeta } from "../object-meta.ts";
import { type RequestContext, strategy } from "../strategy.ts";
import { podRowConditions, podTableColumns } from "./pod-columns.ts";
import { alignServiceAccount, podDefaults } from "./pod-defaults.ts";
import { alignAppArmor, appArmorMatchErrors, appArmorWarnings } from "./pod-apparmor.ts";
import { dropAppArmor, dropDisabled, withoutResize } from "./pod-gates.ts";
import { applyLabelKeys } from "./pod-label-keys.ts";
import { proposeResize, resizePolicyDefaults } from "./pod-resize.ts";
import { qualityOf } from "./pod-qos.ts";
import { ephemeralUpdateErrors, specUpdateErrors, statusUpdateErrors } from "./pod-update.ts";
import {
  annotationErrors,
  annotationUpdateErrors,
  seccompMatchErrors,
} from "./pod-validation/annotations.ts";
import { trimmedImageErrors } from "./pod-validation/containers.ts";
import { podSpecErrors } from "./pod-validation/pod-spec.ts";
import { podRules } from "./pod-validation/rules.ts";
import { podWarnings } from "./pod-warnings.ts";

const annotations = "metadata.annotations";

/** Validates a pod except its metadata. */
function podErrors({ metadata, spec }: Pod, ctx: RequestContext, old?: Pod): FieldError[] {
  const rules = podRules(ctx, metadata.name, old);
  const errors = [
    ...annotationErrors(metadata.annotations, spec, rules, annotations),
    ...podSpecErrors(spec, rules, "spec"),
  ];
  if (!spec.serviceAccountName) errors.push(...tokenErrors(spec));
  spec.containers?.forEach((container, position) =>
    errors.push(...trimmedImageErrors(container, `spec.containers[${position}]`)),
  );
  spec.initContainers?.forEach((container, position) =>
    errors.push(...trimmedImageErrors(container, `spec.initContainers[${position}]`)),
  );
  return errors;
}

const tokenErrors = ({ volumes }: PodSpec): FieldError[] =>
  (volumes ?? []).flatMap(({ projected }, position) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, index) =>
      serviceAccountToken
        ? [
            forbiddenField(
              `spec.volumes[${position}].projected.sources[${index}].serviceAccountToken`,
              "must not be specified when serviceAccountName is not set",
            ),
          ]
        : [],
    ),
  );

/** Validates the metadata again, as the pod strategy of the reference does. */
const metaErrors = ({ metadata }: Pod, { dialect }: RequestContext): FieldError[] => [
  ...validateMeta(metadata, true, dnsSubdomain),
  ...validateFinalizersQualified(metadata.finalizers, dialect),
];

const annotationChangeErrors = (pod: Pod, old: Pod, ctx: RequestContext): FieldError[] => [
  ...annotationUpdateErrors(pod.metadata, old.metadata, ctx.dialect, annotations),
  ...annotationErrors(pod.metadata.annotations, pod.spec, podRules(ctx, pod.metadata.name, old), annotations),
];

/** Aligns podIP and podIPs, of which a client may send either or both; podIP wins if they differ. */
function alignAddresses(pod: Pod): void {
  const { podIP, podIPs } = pod.status;
  if (podIP && podIP !== podIPs?.[0]?.ip) pod.status = { ...pod.status, podIPs: [{ ip: podIP }] };
  else if (!podIP && podIPs?.[0]?.ip) pod.status = { ...pod.status, podIP: podIPs[0].ip };
}

const fieldNames = [
  "metadata.name",
  "metadata.namespace",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "status.phase",
  "status.podIP",
  "status.podIPs",
  "status.nominatedNodeName",
];

export const pod = strategy<Pod>({
  resource: "pods",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  scope: "Namespaced",
  hub: Pod,
  status: "cleared",
  returnsDeleted: true,
  defaults: (obj, { settings }) => {
    podDefaults(obj);
    if (settings.podResize) resizePolicyDefaults(obj.spec);
    alignAddresses(obj);
  },
  prepareForCreate: (obj, ctx) => {
    alignServiceAccount(obj.spec);
    dropDisabled(obj.spec, ctx.settings);
    applyLabelKeys(obj);
    dropAppArmor(obj.metadata, ctx);
    alignAppArmor(obj, ctx);
    obj.status = { phase: "Pending", qosClass: qualityOf(obj.spec) };
    if (obj.spec.schedulingGates?.length)
      obj.status.conditions = [
        {
          type: "PodScheduled",
          status: "False",
          lastProbeTime: null,
          lastTransitionTime: null,
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
        },
      ];
  },
  prepareForUpdate: (obj, old, ctx) => {
    const { settings } = ctx;
    alignServiceAccount(obj.spec);
    if (settings.podResize) proposeResize(obj, old);
    dropDisabled(obj.spec, settings, old.spec);
    dropAppArmor(obj.metadata, ctx, old.metadata);
    obj.status = withoutResize(obj.status, settings, old.spec);
  },
  validate: (obj, ctx) => {
    const errors = podErrors(obj, ctx);
    if (obj.spec.ephemeralContainers?.length)
      errors.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
    if (obj.spec.nodeName && obj.spec.schedulingGates?.length)
      errors.push(
        forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"),
      );
    return [
      ...errors,
      ...seccompMatchErrors(obj.metadata, obj.spec, ctx.dialect, "spec"),
      ...appArmorMatchErrors(obj.metadata, obj.spec, ctx.dialect, "spec"),
    ];
  },
  validateUpdate: (obj, old, ctx) => [
    ...metaErrors(obj, ctx),
    ...podErrors(obj, ctx, old),
    ...annotationChangeErrors(obj, old, ctx),
    ...specUpdateErrors(obj, old, ctx.settings),
  ],
  warnings: (obj, old, { dialect, state }) => {
    if (old) return [];
    const wrong = dns1123LabelProblems(obj.metadata.name ?? "");
    const named = wrong.length
      ? [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${wrong.join(" ")}]`,
        ]
      : [];
    return [...named, ...appArmorWarnings(state), ...podWarnings(obj.metadata, obj.spec, dialect)];
  },
  graceSeconds: ({ spec, status }, requested) => {
    if (!spec.nodeName || status.phase === "Failed" || status.phase === "Succeeded") return 0;
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
  fields: ({ spec, status }) => ({
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "",
    "status.phase": status.phase ?? "",
    "status.podIP": status.podIPs?.[0]?.ip ?? "",
    "status.nominatedNodeName": status.nominatedNodeName ?? "",
  }),
  // Old clients select the node by spec.host.
  indexedFields: ["spec.nodeName"],
  fieldAliases: {
    "": { ...Object.fromEntries(fieldNames.map((name) => [name, name])), "spec.host": "spec.nodeName" },
  },
  columns: podTableColumns,
  rowConditions: podRowConditions,
  subresources: {
    ephemeralcontainers: {
      untabled: true,
      // The client that adds ephemeral containers does not become their field manager.
      merge: (sent, old, { settings }) => {
        const { name, namespace, resourceVersion, uid } = sent.metadata;
        const kept: Pod = {
          ...old,
          metadata: { ...old.metadata, name, namespace, resourceVersion, uid },
          spec: { ...structuredClone(old.spec), ephemeralContainers: sent.spec.ephemeralContainers },
          status: withoutResize(old.status, settings, old.spec),
        };
        dropDisabled(kept.spec, settings, old.spec);
        return kept;
      },
      validate: (obj, old, ctx) => {
        if (old.metadata.annotations?.[ctx.dialect.names.annotations.configMirror] !== undefined)
          return [forbiddenField("[]", "static pods do not support ephemeral containers")];
        return [
          ...metaErrors(obj, ctx),
          ...podErrors(obj, ctx, old),
          ...annotationChangeErrors(obj, old, ctx),
          ...ephemeralUpdateErrors(obj, old),
        ];
      },
    },
    status: {
      merge: (sent, old) => {
        const {
          deletionTimestamp: _deletionTimestamp,
          ownerReferences: _ownerReferences,
          ...metadata
        } = sent.metadata;
        return {
          ...old,
          metadata: {
            ...metadata,
            ...(old.metadata.ownerReferences && { ownerReferences: old.metadata.ownerReferences }),
          },
          status: sent.status,
        };
      },
      validate: (obj, old, ctx) => [
        ...annotationChangeErrors(obj, old, ctx),
        ...statusUpdateErrors(obj, old),
      ],
      resets: ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
    },
  },
});
