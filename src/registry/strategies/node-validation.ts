// Validation of nodes.
import type { ConfigMapNodeConfigSource, Node, NodeAddress, NodeConfigSource, Taint } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, required } from "#base";
import { type Dialect, labelName } from "#dialect";
import { configKeyProblems, dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { dnsSubdomain } from "../names.ts";
import { validateFinalizersQualified, validateMeta } from "../object-meta.ts";
import { taintErrors } from "./pod-validation/tolerations.ts";
import { parseCidr } from "./rules/address.ts";
import { formatErrors } from "./rules/format.ts";
import { repeats } from "./rules/repeats.ts";
import { amountErrors } from "./rules/resource-name.ts";

const ranges = "spec.podCIDRs";

/** Validates a node; on an update this includes its metadata. */
export function nodeErrors(node: Node, dialect: Dialect, changed = false): FieldError[] {
  const { metadata, spec } = node;
  return [
    ...(changed
      ? [
          ...validateMeta(metadata, false, dnsSubdomain),
          ...validateFinalizersQualified(metadata.finalizers, dialect),
        ]
      : []),
    ...annotationErrors(node, dialect),
    ...taintErrors(spec.taints, "metadata.taints"),
    ...amountsErrors(node, dialect),
    ...rangeErrors(spec.podCIDRs ?? []),
  ];
}

function annotationErrors({ metadata: { annotations = {} } }: Node, dialect: Dialect): FieldError[] {
  const path = "metadata.annotations";
  const taints = labelName(dialect, "scheduler.alpha", "taints");
  const avoid = labelName(dialect, "scheduler.alpha", "preferAvoidPods");
  const read = (key: string, field: string, look: (value: unknown) => FieldError[]): FieldError[] => {
    if (!annotations[key]) return [];
    try {
      return look(JSON.parse(annotations[key]));
    } catch (error) {
      return [invalidValue(field, key, (error as Error).message)];
    }
  };
  return [
    ...read(taints, path, (value) => taintErrors((value ?? []) as Taint[], `${path}.${taints}`)),
    ...read(avoid, `${path}.AvoidPods`, (value) => {
      const entries =
        (
          value as {
            preferAvoidPods?: { podSignature?: { podController?: { controller?: boolean } } }[];
          } | null
        )?.preferAvoidPods ?? [];
      return entries.flatMap(({ podSignature }, position) => {
        const at = `${path}.${avoid}[${position}].PodSignature`;
        if (!podSignature?.podController) return [required(at)];
        return podSignature.podController.controller
          ? []
          : [invalidValue(`${at}.PodController.Controller`, false, "must point to a controller")];
      });
    }),
  ];
}

const amountsErrors = ({ status }: Node, dialect: Dialect): FieldError[] =>
  (["capacity", "allocatable"] as const).flatMap((key) =>
    Object.entries(status[key] ?? {}).flatMap(([name, text]) =>
      amountErrors(name, text, `status.${key}.${name}`, dialect),
    ),
  );

function rangeErrors(blocks: readonly string[]): FieldError[] {
  const parsed = blocks.map(parseCidr);
  const errors = parsed.flatMap((block, position) =>
    block ? [] : [invalidValue(`${ranges}[${position}]`, blocks, "must be valid CIDR")],
  );
  if (blocks.length < 2) return errors;
  const at = parsed.indexOf(undefined);
  if (at >= 0)
    errors.push({
      type: "InternalError",
      field: ranges,
      detail: `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${at}]: <nil> (invalid CIDR address: ${blocks[at]})`,
    });
  const families = new Set(parsed.map((block) => block?.family));
  if (families.size < 2 || blocks.length > 2 || errors.length > 0)
    errors.push(invalidValue(ranges, blocks, "may specify no more than one CIDR for each IP family"));
  const repeated = repeats<string>();
  blocks.forEach((block, position) => {
    if (repeated(block)) errors.push(duplicate(`${ranges}[${position}]`, block));
  });
  return errors;
}

export function nodeUpdateErrors(node: Node, old: Node, dialect: Dialect): FieldError[] {
  const { spec, status } = node;
  const errors = [...annotationErrors(node, dialect), ...amountsErrors(node, dialect)];
  const repeated = repeats<NodeAddress>(({ type, address }) => JSON.stringify([type, address]));
  status.addresses?.forEach((address, position) => {
    if (repeated(address)) errors.push(duplicate(`status.addresses[${position}]`, address));
  });
  errors.push(...rangeChangeErrors(spec.podCIDRs ?? [], old.spec.podCIDRs ?? []));
  if (old.spec.providerID && old.spec.providerID !== spec.providerID)
    errors.push(
      forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'),
    );
  if (spec.configSource)
    errors.push(...configSourceErrors(spec.configSource, "spec", dialect, "spec.configSource"));
  for (const key of ["assigned", "active", "lastKnownGood"] as const) {
    const source = status.config?.[key];
    if (source) errors.push(...configSourceErrors(source, "status", dialect, `status.config.${key}`));
  }
  errors.push(...taintErrors(spec.taints, "metadata.taints"));
  if ((spec.externalID ?? "") !== (old.spec.externalID ?? ""))
    errors.push(forbiddenField("spec.externalID", "may not be updated"));
  return errors;
}

/** Validates a change of CIDRs, which are assigned once. */
function rangeChangeErrors(now: readonly string[], old: readonly string[]): FieldError[] {
  if (old.length === 0) return [];
  const refused = forbiddenField(ranges, 'node updates may not change podCIDR except from "" to valid');
  return now.length === old.length
    ? old.flatMap((block, position) => (block === now[position] ? [] : [refused]))
    : [refused];
}

function configSourceErrors(
  { configMap }: NodeConfigSource,
  where: "spec" | "status",
  dialect: Dialect,
  path: string,
): FieldError[] {
  if (!configMap) return [invalidValue(path, {}, "exactly one reference subfield must be non-nil")];
  const at = `${path}.configMap`;
  const keys = ["uid", "resourceVersion"] as const;
  const identity =
    where === "spec"
      ? keys
          .filter((key) => configMap[key])
          .map((key) => forbiddenField(`${at}.${key}`, `${key} must not be set in spec`))
      : keys
          .filter((key) => !configMap[key])
          .map((key) => required(`${at}.${key}`, `${key} must be set in status`));
  const keyField = dialect.spelling.field("nodeagentConfigKey");
  const given = { ...configMap } as ConfigMapNodeConfigSource & Record<string, string | undefined>;
  const checked = (key: string, problems: (text: string) => readonly string[]): FieldError[] => {
    const text = given[key] ?? "";
    return text
      ? formatErrors(text, `${at}.${key}`, problems)
      : [required(`${at}.${key}`, `${key} must be set`)];
  };
  return [
    ...identity,
    ...checked("namespace", dns1123LabelProblems),
    ...checked("name", dns1123SubdomainProblems),
    ...checked(keyField, configKeyProblems),
  ];
}
