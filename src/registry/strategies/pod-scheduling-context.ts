// Scheduling of pods with resource claims: nodes that the scheduler proposes, and nodes that drivers cannot
// use.
import { PodSchedulingContext } from "#api";
import { type FieldError, duplicate } from "#base";
import { dns1123SubdomainProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { formatErrors } from "./rules/format.ts";
import { longerThan } from "./rules/numbers.ts";

const maxNodes = 128;

function nodeErrors(nodes: readonly string[] | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  const errors = (nodes ?? []).flatMap((name, position) => {
    const at = `${path}[${position}]`;
    if (seen.has(name)) return [duplicate(at, name)];
    seen.add(name);
    return formatErrors(name, at, dns1123SubdomainProblems);
  });
  return [...errors, ...longerThan(seen.size === 0 ? 0 : nodes!.length, maxNodes, path)];
}

const specErrors = ({ spec }: PodSchedulingContext): FieldError[] =>
  nodeErrors(spec.potentialNodes, "spec.potentialNodes");

function statusErrors({ status }: PodSchedulingContext): FieldError[] {
  const seen = new Set<string>();
  return (status.resourceClaims ?? []).flatMap(({ name = "", unsuitableNodes }, position) => {
    // kube-apiserver reports the list under another field name.
    const at = `status.claims[${position}]`;
    const errors = nodeErrors(unsuitableNodes, `${at}.unsuitableNodes`);
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    return errors;
  });
}

export const podSchedulingContext = strategy<PodSchedulingContext>({
  resource: "podschedulingcontexts",
  singular: "podschedulingcontext",
  scope: "Namespaced",
  hub: PodSchedulingContext,
  onlyIfServed: true,
  metaChecks: { asNew: 2 },
  returnsDeleted: true,
  status: "cleared",
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: specErrors,
  // kube-apiserver validates it as a new object and as a change, and reports every error twice.
  validateUpdate: (obj) => [...specErrors(obj), ...specErrors(obj)],
  subresources: { status: statusPart<PodSchedulingContext>(statusErrors) },
  columns: [
    nameColumn,
    {
      name: "SelectedNode",
      type: "string",
      doc: "Node for which drivers are to allocate resources.",
      cell: ({ spec }: PodSchedulingContext) => spec.selectedNode ?? "",
    },
    ageColumn,
  ],
});
