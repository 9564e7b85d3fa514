// Cluster CIDRs: immutable address blocks for nodes.
import { ClusterCIDR, type ClusterCIDRSpec, type NodeSelectorTerm } from "#api";
import { type FieldError, invalidValue, required } from "#base";
import { dnsLabel } from "../names.ts";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { joined, orNone } from "./cells/text.ts";
import { nodeSelectorErrors } from "./pod-validation/affinity.ts";
import { parseCidr } from "./rules/address.ts";
import { goNodeSelector } from "./rules/go-syntax.ts";
import { same, unchanged } from "./rules/unchanged.ts";

const minHostBits = 4;

function blockErrors(text: string, family: 4 | 6, hostBits: number): FieldError[] {
  // Errors name the family, not the field.
  const field = `spec.IPv${family}`;
  const block = parseCidr(text);
  if (!block) return [invalidValue(field, text, `must be a valid CIDR: ${text}`)];
  const errors =
    block.family === family ? [] : [invalidValue(field, text, `must be a valid IPv${family} CIDR`)];
  const most = (family === 4 ? 32 : 128) - block.bits;
  const wrong = (detail: string) => invalidValue("spec.perNodeHostBits", hostBits, detail);
  if (hostBits < minHostBits) errors.push(wrong(`must be greater than or equal to ${minHostBits}`));
  if (hostBits > most) errors.push(wrong(`must be less than or equal to ${most}`));
  return errors;
}

function errorsOf({ nodeSelector, perNodeHostBits, ipv4, ipv6 }: ClusterCIDRSpec): FieldError[] {
  const errors = nodeSelector ? nodeSelectorErrors(nodeSelector, "spec.nodeSelector") : [];
  if (ipv4 === "" && ipv6 === "")
    return [...errors, required("spec", "one or both of `ipv4` and `ipv6` must be specified")];
  if (ipv4 !== "") errors.push(...blockErrors(ipv4, 4, perNodeHostBits));
  if (ipv6 !== "") errors.push(...blockErrors(ipv6, 6, perNodeHostBits));
  return errors;
}

/** Formats the terms as Go prints them: `MatchExpressions: [{key In [a b]}]`. */
function termsText(terms: readonly NodeSelectorTerm[]): string {
  const listed = (name: string, items: NodeSelectorTerm["matchFields"] = []): string[] =>
    items.length === 0
      ? []
      : [
          `${name}: [${items.map(({ key, operator, values = [] }) => `{${key} ${operator} [${values.join(" ")}]}`).join(" ")}]`,
        ];
  return joined(
    terms.flatMap(({ matchExpressions, matchFields }) => [
      ...listed("MatchExpressions", matchExpressions),
      ...listed("MatchFields", matchFields),
    ]),
  );
}

export const clusterCidr = strategy<ClusterCIDR>({
  resource: "clustercidrs",
  singular: "clustercidr",
  shortNames: ["cc"],
  scope: "Cluster",
  hub: ClusterCIDR,
  onlyIfServed: true,
  metaChecks: { asNew: 1 },
  validateName: dnsLabel,
  validate: ({ spec }) => errorsOf(spec),
  validateUpdate: ({ spec }, { spec: old }) => [
    ...errorsOf(spec),
    ...(same(spec.nodeSelector, old.nodeSelector)
      ? []
      : [
          invalidValue(
            "spec.nodeSelector",
            spec.nodeSelector ? goNodeSelector(spec.nodeSelector) : null,
            "field is immutable",
          ),
        ]),
    ...(["perNodeHostBits", "ipv4", "ipv6"] as const).flatMap((field) =>
      unchanged(spec[field], old[field], `spec.${field}`),
    ),
  ],
  columns: [
    nameColumn,
    {
      name: "PerNodeHostBits",
      type: "string",
      doc: "Number of host bits of each node's CIDR.",
      cell: ({ spec }: ClusterCIDR) => String(spec.perNodeHostBits),
    },
    {
      name: "IPv4",
      type: "string",
      doc: "IPv4 CIDR.",
      cell: ({ spec }: ClusterCIDR) => orNone(spec.ipv4),
    },
    {
      name: "IPv6",
      type: "string",
      doc: "IPv6 CIDR.",
      cell: ({ spec }: ClusterCIDR) => orNone(spec.ipv6),
    },
    ageColumn,
    {
      name: "NodeSelector",
      type: "string",
      priority: 1,
      doc: "Selector of the nodes the CIDR applies to.",
      cell: ({ spec }: ClusterCIDR) =>
        spec.nodeSelector ? termsText(spec.nodeSelector.nodeSelectorTerms ?? []) : "<none>",
    },
  ],
});
