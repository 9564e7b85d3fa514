// Formats refused values as kube-apiserver does: Go's `%#v`.
import type {
  AllocationResult,
  DeviceClaimSpec,
  LabelSelector,
  NodeSelector,
  ParentReference,
  RoleRef,
  ScopeSelector,
} from "#api";
import { LiteralValue } from "#base";

const quoted = (text: string): string => JSON.stringify(text);

const mapText = (map: Readonly<Record<string, string>> | null | undefined): string =>
  map
    ? `map[string]string{${Object.keys(map)
        .toSorted()
        .map((key) => `${quoted(key)}:${quoted(map[key]!)}`)
        .join(", ")}}`
    : "map[string]string(nil)";

const listText = (type: string, items: readonly string[] | null | undefined): string =>
  items ? `[]${type}{${items.join(", ")}}` : `[]${type}(nil)`;

/** Formats labels or another map of strings. */
export const goMap = (map: Readonly<Record<string, string>> | null | undefined): LiteralValue =>
  new LiteralValue(mapText(map));

/** Formats a slice of a named string type, such as `core.ResourceQuotaScope`. */
export const goTexts = (type: string, texts: readonly string[] | null | undefined): LiteralValue =>
  new LiteralValue(listText(type, texts?.map(quoted)));

/** Formats a number, or a string such as a percentage. */
export const goIntOrString = (value: number | string): LiteralValue =>
  typeof value === "number"
    ? new LiteralValue(`intstr.IntOrString{Type:0, IntVal:${value}, StrVal:""}`)
    : new LiteralValue(`intstr.IntOrString{Type:1, IntVal:0, StrVal:${quoted(value)}}`);

const requirement = "v1.LabelSelectorRequirement";

export const goSelector = ({ matchLabels, matchExpressions }: LabelSelector): LiteralValue => {
  const expressions = matchExpressions?.map(
    ({ key, operator, values }) =>
      `${requirement}{Key:${quoted(key)}, Operator:${quoted(operator)}, Values:${listText("string", values?.map(quoted))}}`,
  );
  return new LiteralValue(
    `v1.LabelSelector{MatchLabels:${mapText(matchLabels)}, MatchExpressions:${listText(requirement, expressions)}}`,
  );
};

export const goRoleRef = ({ apiGroup, kind, name }: RoleRef): LiteralValue =>
  new LiteralValue(`rbac.RoleRef{APIGroup:${quoted(apiGroup)}, Kind:${quoted(kind)}, Name:${quoted(name)}}`);

export function goScopeSelector({ matchExpressions }: ScopeSelector): LiteralValue {
  const requirement = "core.ScopedResourceSelectorRequirement";
  const expressions = matchExpressions?.map(
    ({ scopeName, operator, values }) =>
      `${requirement}{ScopeName:${quoted(scopeName)}, Operator:${quoted(operator)}, Values:${listText("string", values?.map(quoted))}}`,
  );
  return new LiteralValue(`core.ScopeSelector{MatchExpressions:${listText(requirement, expressions)}}`);
}

type NodeRequirements = NonNullable<NodeSelector["nodeSelectorTerms"]>[number]["matchFields"];

export function goNodeSelector({ nodeSelectorTerms }: NodeSelector): LiteralValue {
  const requirements = (items: NodeRequirements): string =>
    listText(
      "core.NodeSelectorRequirement",
      items?.map(
        ({ key, operator, values }) =>
          `core.NodeSelectorRequirement{Key:${quoted(key)}, Operator:${quoted(operator)}, Values:${listText("string", values?.map(quoted))}}`,
      ),
    );
  const terms = nodeSelectorTerms?.map(
    ({ matchExpressions, matchFields }) =>
      `core.NodeSelectorTerm{MatchExpressions:${requirements(matchExpressions)}, MatchFields:${requirements(matchFields)}}`,
  );
  return new LiteralValue(`core.NodeSelector{NodeSelectorTerms:${listText("core.NodeSelectorTerm", terms)}}`);
}

export function goParent(parent: ParentReference): LiteralValue {
  const { group = "", resource = "", namespace = "", name = "", uid = "" } = parent;
  const fields = { Group: group, Resource: resource, Namespace: namespace, Name: name, UID: uid };
  const texts = Object.entries(fields).map(([key, value]) => `${key}:${quoted(value)}`);
  return new LiteralValue(`networking.ParentReference{${texts.join(", ")}}`);
}

const nothing = (type: string): string => `(*${type})(nil)`;

/** An empty claim source of a pod. */
export const goEmptySource = new LiteralValue(
  `core.ClaimSource{ResourceClaimName:${nothing("string")}, ResourceClaimTemplateName:${nothing("string")}}`,
);

export function goClaimSpec(spec: DeviceClaimSpec): LiteralValue {
  const { resourceClassName, parametersRef, allocationMode = "" } = spec;
  const type = "resource.ResourceClaimParametersReference";
  const { apiGroup = "", kind = "", name = "" } = parametersRef ?? {};
  const parameters = parametersRef
    ? `&${type}{APIGroup:${quoted(apiGroup)}, Kind:${quoted(kind)}, Name:${quoted(name)}}`
    : nothing(type);
  return new LiteralValue(
    `resource.ResourceClaimSpec{ResourceClassName:${quoted(resourceClassName)}, ParametersRef:${parameters}, AllocationMode:${quoted(allocationMode)}}`,
  );
}

export function goAllocation(allocation: AllocationResult): LiteralValue {
  const { resourceHandles, availableOnNodes, shareable = false } = allocation;
  const type = "resource.ResourceHandle";
  const handles = resourceHandles?.map(
    ({ driverName = "", data = "" }) => `${type}{DriverName:${quoted(driverName)}, Data:${quoted(data)}}`,
  );
  const nodes = availableOnNodes ? `&${goNodeSelector(availableOnNodes).text}` : nothing("core.NodeSelector");
  return new LiteralValue(
    `resource.AllocationResult{ResourceHandles:${listText(type, handles)}, AvailableOnNodes:${nodes}, Shareable:${shareable}}`,
  );
}
